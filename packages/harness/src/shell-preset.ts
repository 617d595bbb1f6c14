import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor } from "@shedkit/tool";
import type { NodeTerminal } from "@shedkit/tools-shell/node";
import { given, type Settings } from "./given.js";
import { optionalPeer } from "./optional-peer.js";
import { realFolder } from "./real-folder.js";

/** Settings of the shell tools, as `@shedkit/tools-shell` describes them. What is absent is its default. */
export interface ShellPresetOptions {
  /** The folder where commands begin. Default: the current one. */
  cwd?: string | undefined;
  /** The variables that commands see, secrets aside. Default: `process.env`. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /** Names of variables that commands see although they look like secrets. Default: none. */
  keepVariables?: readonly string[] | undefined;
  /** Runs commands in bubblewrap, on Linux: nothing written outside some folders, no network. Default: no sandbox. */
  sandbox?:
    | {
        writable?: readonly string[] | undefined;
        hidden?: readonly string[] | undefined;
        network?: boolean | undefined;
      }
    | undefined;
  bash?:
    | Settings<{
        enabledBackground: boolean;
        maxTimeoutMs: number;
        backgroundOnTimeout: boolean;
        maxOutputChars: number;
      }>
    | undefined;
  task_output?: Settings<{ maxOutputChars: number }> | undefined;
}

/** The shell tools as constructors that import their package when they are asked for a tool. They share a terminal. */
export function shellTools(options: ShellPresetOptions, fs?: FileSystem): ToolConstructor[] {
  const name = "@shedkit/tools-shell";
  const tools = () => optionalPeer(name, () => import("@shedkit/tools-shell"));
  let made: Promise<NodeTerminal> | undefined;
  const terminal = (): Promise<NodeTerminal> => {
    made ??= optionalPeer(name, () => import("@shedkit/tools-shell/node")).then(async ({ NodeTerminal }) => {
      const { cwd = fs && (await realFolder(fs)), env, keepVariables, sandbox } = options;
      return new NodeTerminal({ cwd, env, keepVariables, sandbox });
    });
    return made;
  };
  const bash: ToolConstructor = {
    name: "bash",
    needsSession: false,
    construct: async () => (await tools()).bashTool(await terminal(), given(options.bash)),
  };
  if (options.bash?.enabledBackground === false) return [bash];
  return [
    bash,
    {
      name: "task_output",
      needsSession: false,
      construct: async () => (await tools()).taskOutputTool(await terminal(), given(options.task_output)),
    },
    {
      name: "task_kill",
      needsSession: false,
      construct: async () => (await tools()).taskKillTool(await terminal()),
    },
  ];
}
