import type { AgenticError, FinishReason, ToolArguments, Usage } from "@shedkit/types";
import type { ModelProvider } from "../contract.js";

/** A piece of what a backend's server is told to say. */
export type BackendPart =
  | string
  | { thinking: string; signature?: string | undefined }
  | { call: string; arguments?: ToolArguments | undefined; raw?: string | undefined; id?: string | undefined }
  /** An error event in the stream. */
  | { fail: AgenticError };

/** What a backend's server is told to send. The scripted server of `@shedkit/testing` takes these as they are. */
export type BackendReply = {
  status?: number | undefined;
  headers?: { [name: string]: string } | undefined;
  /** Bytes a write. */
  split?: number | undefined;
  /** The connection breaks after so many bytes of the body; -1: before any header. */
  cutAfter?: number | undefined;
  /** The body ends, in good order, after so many bytes. */
  endAfter?: number | undefined;
  /** After the event that makes it so many bytes nothing more comes. */
  stallAfter?: number | undefined;
  pingEveryMs?: number | undefined;
} & (
  | { answer: { parts: readonly BackendPart[]; usage?: Partial<Usage> | undefined; finish?: FinishReason | undefined } }
  | { error: { code: string; message: string } }
);

/** How the provider under test is set up, beside its defaults. */
export interface BackendSettings {
  idleTimeoutMs?: number | undefined;
  /** Default: 0, so that every failure shows. */
  maxRetries?: number | undefined;
  /** The first pause between repetitions, in milliseconds. Default: 1. */
  initialDelayMs?: number | undefined;
}

/** A provider, and the server that it talks to. */
export interface OpenBackend {
  readonly provider: ModelProvider;
  /** A model that thinks and calls tools. */
  readonly model: string;
  /** The bodies of the requests so far. */
  requests(): readonly unknown[];
  /** Whether the client left request number `index` (from 0) before its end; resolves when the exchange is over. */
  left(index: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens a provider on a server that sends these replies, in order. The provider's key is {@link backendKey}. */
export type OpenProvider = (replies: readonly BackendReply[], settings?: BackendSettings) => Promise<OpenBackend>;

/** The key to give the provider under test: it may show up nowhere. */
export const backendKey = "sk-conformance-0123456789";

/** One thing a provider must do. `run` rejects with an Error that says what was wanted and what came. */
export interface ProviderCase {
  readonly name: string;
  run(open: OpenProvider): Promise<void>;
}
