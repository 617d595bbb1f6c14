import { foldPath } from "./path-pattern.js";

/** What is run or believed later by somebody else, by the folder that it is in and its name. */
const PROTECTED: readonly (readonly [RegExp, string])[] = [
  [/\/(?:[^/]*\.git|git~\d+)\/(?:.*\/)?hooks(?:\/|$)/, "git runs what is in its hooks"],
  [/\/(?:\.git|git~\d+)(?:\/|$)/, "it is git's own"],
  [/\/(?:\.githooks|\.husky)(?:\/|$)/, "git runs what is in its hooks"],
  [/\/\.git(?:config|modules)$|\/\.config\/git(?:\/|$)/, "it tells git what to run"],
  [/\/\.ssh(?:\/|$)/, "it says who may log in, and how"],
  [
    /\/\.(?:bashrc|bash_(?:profile|login|logout|aliases)|profile|z(?:shrc|shenv|profile|login|logout)|[kct]shrc|mkshrc|login|logout|inputrc|xprofile|xinitrc|xsession|envrc|pam_environment)$/,
    "shells run it when they start",
  ],
  [
    /\/\.config\/(?:fish|autostart|systemd|environment\.d)(?:\/|$)|\/library\/launch(?:agents|daemons)(?:\/|$)/,
    "it is run when somebody logs in",
  ],
  [/^(?:\/private)?\/etc(?:\/|$)/, "it is the system's own configuration"],
  [/\/\.(?:vscode|idea|claude|codex|cursor)(?:\/|$)|\/\.mcp\.json$/, "editors and agents run what it says"],
];

/** Why a path must not be written to without asking; undefined where it may. Whatever its case. */
export function protection(path: string): string | undefined {
  const folded = foldPath(path);
  return PROTECTED.find(([pattern]) => pattern.test(folded))?.[1];
}
