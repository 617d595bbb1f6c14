import type { ToolCallManager, ToolCallRequest } from "@shedkit/shed";
import {
  type AccessRequest,
  callGates,
  gateRefusal,
  metadataOf,
  type ToolCapabilities,
  ToolError,
  type ToolKind,
  toToolError,
  userAnswers,
} from "@shedkit/tool";
import { AgenticError, type ApprovalDecision, type ToolArguments } from "@shedkit/types";
import { untilAborted } from "./abortable.js";
import type { SessionLog } from "./log/log.js";
import type { LoopEffects } from "./loop/effects.js";

/** A call about to run. */
export interface PermissionRequest {
  tool: string;
  kind: ToolKind;
  capabilities: ToolCapabilities;
  /** As the tool will get them. */
  arguments: ToolArguments;
  /** What the tool says it will access; empty where it does not say. */
  access: readonly AccessRequest[];
  /** It waits for a person's answer, unless it is denied. */
  asks: boolean;
}

/**
 * What a policy decides. `ask` needs a person's leave, unless it was given for the session; with a reason, which the person is
 * shown, it needs it each time.
 */
export type PermissionVerdict = "allow" | "ask" | { ask: string } | { deny: string };

/** Decides about every call. A policy that throws denies. */
export interface PermissionPolicy {
  decide(call: PermissionRequest): Promise<PermissionVerdict>;
}

/** Asks the policy, and people, before calls run. What was asked and answered is in the log. */
export class Permissions {
  readonly #log: SessionLog;
  readonly #effects: Pick<LoopEffects, "newId" | "sleep">;
  readonly #tools: ToolCallManager;
  readonly #policy: PermissionPolicy | undefined;
  // Made when they are first needed: most sessions ask nobody.
  #waiting: Map<string, (decision: ApprovalDecision) => void> | undefined;
  /** The approvals whose decisions are on their way to the log: of two answers one counts. */
  #deciding: Set<string> | undefined;

  constructor(
    log: SessionLog,
    effects: Pick<LoopEffects, "newId" | "sleep">,
    tools: ToolCallManager,
    policy: PermissionPolicy | undefined,
  ) {
    this.#log = log;
    this.#effects = effects;
    this.#tools = tools;
    this.#policy = policy;
  }

  /** The approvals that nobody has decided yet, of calls that still wait. */
  pending(): string[] {
    const { approvals, openCalls } = this.#log.state;
    return [...approvals.values()].flatMap(({ approvalId, toolCallId, decision }) =>
      decision === undefined && openCalls.has(toolCallId) ? [approvalId] : [],
    );
  }

  /** Stores a decision and lets the call that waits for it go on. */
  async decide(approvalId: string, decision: ApprovalDecision): Promise<void> {
    checkDecision(decision);
    await this.#log.flush();
    const approval = this.#log.state.approvals.get(approvalId);
    if (!approval) throw unknownApproval(approvalId, "There is no such approval");
    if (approval.decision || this.#deciding?.has(approvalId)) {
      throw unknownApproval(approvalId, "It has been decided already");
    }
    this.#deciding ??= new Set();
    this.#deciding.add(approvalId);
    try {
      await this.#log.append({ type: "approvalDecided", approvalId, decision });
    } finally {
      this.#deciding.delete(approvalId);
    }
    this.#waiting?.get(approvalId)?.(decision);
  }

  /**
   * Resolves when the call may run; undefined where nobody is asked. `outer` is the running call that makes it, where it
   * is not the model's own. Rejects with ToolError `permissionDenied`, or `cancelled` when `signal` aborts.
   */
  check(request: ToolCallRequest, signal: AbortSignal, outer?: ToolCallRequest): Promise<void> | undefined {
    const asked = this.#log.state.openCalls.get(request.id)?.approval !== undefined;
    const { resources } = this.#tools;
    const decides =
      this.#policy || asked || resources.get(callGates)?.size || this.#tools.get(request.name)?.metadata?.asks;
    return decides ? this.#check(request, signal, outer) : undefined;
  }

  async #check(request: ToolCallRequest, signal: AbortSignal, outer: ToolCallRequest | undefined): Promise<void> {
    const asked = this.#log.state.openCalls.get(request.id)?.approval;
    if (asked) {
      this.#apply(request, asked.decision ?? (await this.#wait(asked.approvalId, request, signal)));
      return;
    }
    const tool = this.#tools.get(request.name);
    if (!tool) return; // `shed` only looks up
    const { access, asks } = metadataOf(tool);
    const { kind, capabilities } = this.#tools.metadata(request.name) ?? metadataOf(tool);
    const args = this.#tools.validateArguments(request);
    const call: PermissionRequest = {
      tool: request.name,
      kind,
      capabilities,
      arguments: args,
      access: accessOf(request.name, () => access?.(args) ?? []),
      asks: asks?.(args) ?? false,
    };
    const refusal = gateRefusal(this.#tools.resources, call);
    if (refusal !== undefined) throw denied(request, refusal);
    const verdict = this.#policy ? await this.#ask(this.#policy, call, signal) : "allow";
    if (typeof verdict === "object" && "deny" in verdict) throw denied(request, verdict.deny);
    const reason = typeof verdict === "object" ? verdict.ask : undefined;
    if (!call.asks && (verdict === "allow" || (reason === undefined && this.#granted(call)))) return;
    const approvalId = this.#effects.newId();
    const decided = this.#wait(approvalId, request, signal); // before it is shown: the answer may come at once
    decided.catch(() => undefined);
    await this.#log.append({
      type: "approvalRequested",
      approvalId,
      toolCallId: outer?.id ?? request.id,
      call: {
        ...(outer && { id: request.id }),
        ...{ name: request.name, arguments: args, access: call.access },
        ...(call.asks && { asks: true }),
        ...(reason !== undefined && { reason }),
      },
    });
    this.#apply(request, await decided, outer);
  }

  async #ask(policy: PermissionPolicy, call: PermissionRequest, signal: AbortSignal) {
    try {
      return await untilAborted(policy.decide(call), signal, cancelled(call.tool));
    } catch (error) {
      if (AgenticError.is(error, "tool")) throw error;
      return { deny: `the permission policy failed: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  #wait(approvalId: string, request: ToolCallRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    this.#waiting ??= new Map();
    const waiting = this.#waiting;
    const decided = new Promise<ApprovalDecision>((resolve) => waiting.set(approvalId, resolve));
    const limit = this.#tools.get(request.name)?.metadata?.asksForMs;
    const over = limit === undefined ? undefined : this.#decideAfter(limit, approvalId, signal);
    return untilAborted(decided, signal, cancelled(request.name)).finally(() => {
      waiting.delete(approvalId);
      over?.abort();
    });
  }

  /** Lets the call run without an answer once its time is up. Aborting what it returns keeps it from that. */
  #decideAfter(ms: number, approvalId: string, signal: AbortSignal): AbortController {
    const over = new AbortController();
    this.#effects
      .sleep(ms, AbortSignal.any([signal, over.signal]))
      .then(() => this.decide(approvalId, { type: "allow", scope: "once" }))
      .catch(() => undefined); // somebody was quicker
    return over;
  }

  /** Lets the call run, with what was answered, or throws. */
  #apply(request: ToolCallRequest, decision: ApprovalDecision, outer: ToolCallRequest = request): void {
    if (decision.type === "deny") throw denied(request, decision.reason ?? "the user said no");
    const { answer = this.#tools.get(request.name)?.metadata?.asks && null } = decision;
    if (answer === undefined) return;
    this.#tools.resources.getOrDefault(userAnswers, () => new Map()).set(outer.id, answer);
  }

  /** Whether leave was given for the session, for the tool or for all that this call accesses. */
  #granted({ tool, access }: PermissionRequest): boolean {
    return this.#log.state.grants.some((grant) => {
      if (grant.tool !== tool) return false;
      const { pattern } = grant;
      if (pattern === undefined) return true;
      return access.length > 0 && access.every(({ target }) => matches(pattern, target));
    });
  }
}

/** A call whose tool cannot say what it accesses is not permitted: nobody could tell what leave is given to. */
function accessOf(tool: string, ask: () => readonly AccessRequest[]): readonly AccessRequest[] {
  try {
    const access: unknown = ask();
    if (Array.isArray(access)) return access;
    throw new TypeError("it gave no list");
  } catch (cause) {
    const message = `The call of "${tool}" is not permitted: what it accesses could not be told: ${toToolError(cause, tool).message}`;
    throw new ToolError("permissionDenied", tool, message, { cause });
  }
}

function denied(request: ToolCallRequest, reason: string): ToolError {
  return new ToolError("permissionDenied", request.name, `The call of "${request.name}" is not permitted: ${reason}`);
}

/** What is neither a yes nor a no must not let anything run. */
function checkDecision(decision: ApprovalDecision): void {
  const { type, scope } = (decision ?? {}) as { type?: unknown; scope?: unknown };
  if (type === "deny" || (type === "allow" && (scope === "once" || scope === "session"))) return;
  throw new AgenticError(
    "session",
    `${JSON.stringify(decision)} is no decision. Give { type: "allow", scope: "once" }, or scope "session", or { type: "deny" }.`,
    { reason: "unknown decision" },
  );
}

function unknownApproval(approvalId: string, what: string): AgenticError {
  return new AgenticError("session", `${what}: "${approvalId}". pendingApprovals() names those that wait.`, {
    reason: "unknown approval",
  });
}

/** `*` stands for anything. */
function matches(pattern: string, target: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]*")}$`, "u").test(target);
}

function cancelled(tool: string): () => ToolError {
  return () => new ToolError("cancelled", tool, "The call was cancelled before it ran.");
}
