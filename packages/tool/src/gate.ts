import type { JsonValue, ToolArguments } from "@shedkit/types";
import type { AccessRequest, ToolCapabilities, ToolKind } from "./metadata.js";
import { type Resource, type Resources, resource } from "./resources.js";

/** A call about to run in a session. */
export interface GatedCall {
  readonly tool: string;
  readonly kind: ToolKind;
  readonly capabilities: ToolCapabilities;
  /** As the tool will get them. */
  readonly arguments: ToolArguments;
  readonly access: readonly AccessRequest[];
}

/** Refuses calls of a session before its permission policy is asked, and whatever that would say. */
export type CallGate = (call: GatedCall) => { deny: string } | undefined;

/** The gates of a session, put there by the tools that it is built with. Who runs calls asks them; a manager alone does not. */
export const callGates: Resource<Set<CallGate>> = resource("callGates");

/** Why a gate of a session refuses a call; undefined where none does. */
export function gateRefusal(resources: Resources, call: GatedCall): string | undefined {
  for (const gate of resources.get(callGates) ?? []) {
    const refusal = gate(call);
    if (refusal) return refusal.deny;
  }
  return undefined;
}

/**
 * What people answered to calls that ask (`ToolSpec.asks`), by the id of the call: there while the call runs. `null` where
 * somebody let it run and said nothing; absent where nobody was asked. Who runs tools without a session puts it here.
 */
export const userAnswers: Resource<Map<string, JsonValue>> = resource("userAnswers");
