import type { PermissionPolicy, PermissionRequest, TurnEvent } from "@shedkit/agent";
import type { ApprovalDecision } from "@shedkit/types";
import { changeLines } from "./change.js";
import type { Settings } from "./config.js";
import type { Prompt } from "./prompt.js";
import type { Renderer } from "./renderer.js";

type ApprovalRequested = Extract<TurnEvent, { type: "approvalRequested" }>;

/** Asks whether a call may run; undefined: the person stopped the turn instead. */
export type Approver = (request: ApprovalRequested) => Promise<ApprovalDecision | undefined>;

/** What changes nothing may run; what changes something, as the settings say. */
export function policyOf(permission: Settings["permission"], ask: "ask" | ((call: PermissionRequest) => string)) {
  const policy: PermissionPolicy = {
    async decide(call) {
      if (call.capabilities.readOnly || permission === "allow") return "allow";
      if (permission === "readOnly") return { deny: "nothing may be changed in this session" };
      return ask === "ask" ? ask : { deny: ask(call) };
    },
  };
  return policy;
}

/** Asks the person at the prompt, with the change shown: once, for the session, or no, with a reason. */
export function askPerson(prompt: Prompt, renderer: Renderer): Approver {
  return async ({ name, arguments: args = {} }) => {
    renderer.change(changeLines(name, args));
    const answer = await prompt.line("Allow this? [y]es, [a]lways in this session, or say why not: ");
    if (answer.type === "interrupt") return undefined;
    const text = answer.type === "line" ? answer.text : "";
    if (/^(y|yes)$/i.test(text)) return { type: "allow", scope: "once" };
    if (/^(a|always)$/i.test(text)) return { type: "allow", scope: "session" };
    return { type: "deny", ...(/^(n|no)?$/i.test(text) ? {} : { reason: `the user said: ${text}` }) };
  };
}
