import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { type PermissionPolicy, type PermissionRequest, permissionRules, type TurnEvent } from "@shedkit/agent";
import { realPathOf } from "@shedkit/fs/node";
import type { ApprovalDecision, ToolArguments } from "@shedkit/types";
import { changeLines } from "./change.js";
import { isKnownCommand } from "./commands.js";
import type { Prompt, PromptAnswer } from "./prompt.js";
import { askQuestions } from "./questions.js";
import type { Renderer } from "./renderer.js";
import type { Settings } from "./settings.js";

type ApprovalRequested = Extract<TurnEvent, { type: "approvalRequested" }>;

/** Asks whether a call may run; undefined: the person stopped the turn instead. */
export type Approver = (request: ApprovalRequested) => Promise<ApprovalDecision | undefined>;

export interface PolicyOptions {
  permission: Settings["permission"];
  /** Default: no rules. */
  permissions?: Settings["permissions"] | undefined;
  root: string;
  /** Where a person's own settings, skills and notes are: not changed without asking. Default: nowhere. */
  ownFolder?: string | undefined;
}

/** What only reads in the folder may run; what does more may run as the settings and their rules say. */
export function policyOf(options: PolicyOptions, ask: "ask" | ((call: PermissionRequest) => string)): PermissionPolicy {
  const { permission, permissions, root, ownFolder } = options;
  const rules = permissionRules({
    ...permissions,
    ...{ root, home: homedir(), realPath: realPathOf },
    mode: permission === "allow" ? "bypass" : "ask",
    protect: ["answerme.json", ".answerme/", ...(ownFolder === undefined ? [] : [ownFolder])],
  });
  return {
    async decide(call) {
      const isChange = !call.capabilities.readOnly && call.kind !== "memory";
      if (permission === "readOnly" && isChange) return { deny: "nothing may be changed in this session" };
      const verdict = await rules.decide(call);
      if (ask === "ask" || verdict === "allow" || (typeof verdict === "object" && "deny" in verdict)) return verdict;
      const reason = typeof verdict === "object" ? `${verdict.ask}; ` : "";
      return { deny: reason + ask(call) };
    },
  };
}

/**
 * Asks the person at the prompt, with the change shown: once, for the session, or no, with a reason. Of a call that asks
 * something itself, its questions.
 */
export function askPerson(prompt: Prompt, renderer: Renderer, root: string): Approver {
  return async (request) => {
    const { name, arguments: args = {} } = request;
    if (request.asks) return askQuestions(args, prompt, renderer);
    renderer.change(changeLines(name, args, await textBefore(args, root)));
    if (request.reason !== undefined) renderer.notice(request.reason);
    const always = request.reason === undefined ? grantOf(request) : undefined; // asked each time
    const choices = ["[y]es", ...(always ? [`[a]lways ${always.what} in this session`] : []), "[n]o", "or say why not"];
    const answer = await answered(prompt, renderer, `Allow this? ${choices.join(", ")}: `);
    if (answer.type === "interrupt") return undefined;
    const text = answer.type === "line" ? answer.text : "";
    if (/^(y|yes)$/i.test(text)) return { type: "allow", scope: "once" };
    if (/^(a|always)$/i.test(text)) {
      if (always === undefined) return { type: "allow", scope: "once" };
      return { type: "allow", scope: "session", ...(always.pattern !== undefined && { pattern: always.pattern }) };
    }
    return { type: "deny", ...(/^(n|no)?$/i.test(text) ? {} : { reason: `the user said: ${text}` }) };
  };
}

/** A command of the prompt is no reason. */
async function answered(prompt: Prompt, renderer: Renderer, question: string): Promise<PromptAnswer> {
  for (;;) {
    const answer = await prompt.line(question);
    if (answer.type !== "line" || !isKnownCommand(answer.text)) return answer;
    renderer.notice("Answer first; ctrl-C stops the turn, and then there are the commands.");
  }
}

interface Grant {
  /** For the person. */
  what: string;
  /** Absent: whatever the tool is called with. */
  pattern?: string;
}

/** What leave for the session would cover; undefined where it cannot be told what that is. */
function grantOf({ name, access }: ApprovalRequested): Grant | undefined {
  const targets = new Set(access.filter(({ action }) => action !== "read").map(({ target }) => target));
  const actions = new Set(access.map(({ action }) => action));
  if (!actions.has("execute") && !actions.has("network")) return { what: `every ${name}` };
  const [target = "", another] = targets;
  // An asterisk in a pattern stands for anything, and nobody has seen that.
  if (another !== undefined || target.startsWith("unknown: ") || target.includes("*")) return undefined;
  if (actions.has("network")) return { what: `for ${target}`, pattern: target };
  return { what: name === "bash" ? `"${target}"` : `every ${name}`, pattern: target };
}

/** The file as it is, where a call writes it anew. */
async function textBefore({ path: file, content }: ToolArguments, root: string): Promise<string | undefined> {
  if (typeof file !== "string" || typeof content !== "string") return undefined;
  return readFile(path.resolve(root, file), "utf8").catch(() => undefined);
}
