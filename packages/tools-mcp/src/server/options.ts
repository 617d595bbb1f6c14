import type { Secret } from "@shedkit/provider";
import type { AccessRequest, SessionParts, ToolCapabilities, ToolKind } from "@shedkit/tool";
import type { SessionId, ToolArguments } from "@shedkit/types";

/** A call that a client wants made. */
export interface ServedCall {
  readonly tool: string;
  readonly kind: ToolKind;
  readonly capabilities: ToolCapabilities;
  /** As the tool will get them. */
  readonly arguments: ToolArguments;
  /** What the tool says it will access. */
  readonly access: readonly AccessRequest[];
  /** It waits for a person's answer, by what the tool says. */
  readonly asks: boolean;
}

/** How a shed is served. */
export interface ServeShedOptions {
  /** What the server calls itself. Default: `"shedkit"`. */
  name?: string | undefined;
  /** Default: `"0.1.0"`. */
  version?: string | undefined;
  /**
   * What a client sees: `"whole"` lists all tools; `"shed"` lists `shed` alone, and the tools that it found are listed
   * from then on. Default: `"whole"`.
   */
  offer?: "whole" | "shed" | undefined;
  /** What clients may tell their models of all this. Default: nothing. */
  instructions?: string | undefined;
  /**
   * Called before each call of a tool, also one that a running tool makes; what it throws is the answer, and the tool does
   * not run. Default: all may run but those that ask a person, who is not here: they are refused.
   */
  before?: ((call: ServedCall) => void | Promise<void>) | undefined;
  /**
   * What a client's tools are built with. Default: `partsAlone` of `@shedkit/tool`: what is
   * remembered lasts as long as the client.
   */
  parts?: ((session: SessionId) => SessionParts | Promise<SessionParts>) | undefined;
}

/** How a shed is served over HTTP. */
export interface ServeHttpOptions {
  /** Clients at once; the one that was silent longest makes room for another. Default: 100. */
  maxClients?: number | undefined;
  /**
   * The hosts, without port, by which clients may reach it: a page in a browser must not, by a name of its own. Default:
   * this machine's (`localhost`, `127.0.0.1`, `[::1]`).
   */
  hosts?: readonly string[] | undefined;
  /** What clients must send as `Authorization: Bearer ...`. Default: nothing. */
  token?: Secret | undefined;
}
