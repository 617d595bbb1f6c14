import type { ModelProvider, ModelRequest } from "@shedkit/provider";
import type {
  AgenticError,
  ContentPart,
  FinishReason,
  JsonValue,
  ModelOutput,
  SessionId,
  ToolArguments,
  Usage,
} from "@shedkit/types";

/** What a session is doing, as it does it: turns, in them model calls and tool calls, each with its start and its end. */
export type SessionObservation = {
  readonly sessionId: SessionId;
  /** Empty for a call of the memory model, which belongs to no turn. */
  readonly turnId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
} & (
  | {
      type: "turnStarted";
      /** What the caller gave with the turn. */
      metadata?: { readonly [key: string]: JsonValue } | undefined;
    }
  | { type: "turnEnded"; usage: Usage; error?: AgenticError | undefined }
  | { type: "modelCallStarted"; stepId: string; provider: string; request: ModelRequest }
  | {
      type: "modelCallEnded";
      stepId: string;
      outputs: readonly ModelOutput[];
      usage: Usage;
      /** Absent where it failed. */
      finish?: FinishReason | undefined;
      error?: AgenticError | undefined;
    }
  | { type: "toolCallStarted"; toolCallId: string; name: string; arguments: ToolArguments; attempt: number }
  | {
      type: "toolCallEnded";
      toolCallId: string;
      name: string;
      outcome: "ok" | "error" | "cancelled" | "skipped";
      content: readonly ContentPart[];
      errorDetail?: string | undefined;
    }
);

/** Watches a session: for traces and metrics. Called at once and not waited for; what it throws is dropped. */
export interface SessionObserver {
  observe(observation: SessionObservation): void;
  /**
   * Runs work of a call whose start it was told: a model call by its `stepId`, a tool call by its `toolCallId`. What it
   * carries along in the background (a span that is active, say) is there for the work, whatever the work waits for. It
   * must call `work` once and return what that returns. Default: the work is just run.
   */
  within?<T>(call: { readonly turnId: string; readonly id: string }, work: () => T): T;
}

/** An observation without what all have in common. */
export type ObservationBody = SessionObservation extends infer T
  ? T extends SessionObservation
    ? Omit<T, "sessionId" | "turnId" | "at">
    : never
  : never;

/** Tells an observer. */
export function observing(
  observer: SessionObserver,
  sessionId: SessionId,
  turnId: string,
  now: () => number,
): (body: ObservationBody) => void {
  return (body) => {
    try {
      observer.observe({ ...body, sessionId, turnId, at: now() } as SessionObservation);
    } catch {
      // Watching must not change what is watched.
    }
  };
}

/** The same provider, with every piece of its streams made within the call of `id`. */
export function providerWithin(
  observer: SessionObserver | undefined,
  turnId: string,
  id: string,
  provider: ModelProvider,
): ModelProvider {
  if (!observer?.within) return provider;
  const within = <T>(work: () => T): T => observer.within?.({ turnId, id }, work) as T;
  return {
    id: provider.id,
    serves: (model) => provider.serves(model),
    stream: (request) => ({
      [Symbol.asyncIterator]() {
        const events = provider.stream(request)[Symbol.asyncIterator]();
        return {
          next: () => within(() => events.next()),
          return: async () => (await events.return?.()) ?? { done: true, value: undefined },
        };
      },
    }),
  };
}
