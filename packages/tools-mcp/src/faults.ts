import { ToolError, type ToolErrorKind, toToolError } from "@shedkit/tool";
import type { McpServerSettings } from "./config.js";
import { LOST, type Sdk } from "./link.js";
import { oneLine } from "./text.js";

/** Why a call did not come to a result, as an error that a model and a person can act on. */
export function callFault(sdk: Sdk, fault: unknown, tool: string, settings: McpServerSettings, end: string): ToolError {
  const { ProtocolError, SdkError, SdkErrorCode, UnauthorizedError } = sdk;
  if (fault instanceof ToolError) return fault;
  const server = `the MCP server "${settings.name}"`;
  const says = redact(oneLine(messageOf(fault)), settings);
  const error = (kind: ToolErrorKind, message: string): ToolError =>
    // The cause may hold the server's whole answer, headers and all.
    new ToolError(kind, tool, message, { retryable: kind === "network" || kind === "timeout" });
  if (fault instanceof UnauthorizedError || isStatus(sdk, fault, 401, 403))
    return error("unauthorized", `${capital(server)} does not let this program in. Its user has to sign in.`);
  if (isLost(sdk, fault)) {
    const advice = "Whether the call was carried out is not known; look before calling again.";
    return error(
      "network",
      `The connection to ${server} was lost while the call ran. ${advice}${end === "" ? "" : ` ${end}`}`,
    );
  }
  if (fault instanceof ProtocolError) {
    if (fault.code === INVALID_PARAMS) return error("invalidArguments", `${capital(server)} refused the call: ${says}`);
    return error("execution", `${capital(server)} failed: ${says}`);
  }
  if (isStatus(sdk, fault, 429)) return error("rateLimited", `${capital(server)} gets too many calls: ${says}`);
  if (fault instanceof SdkError && fault.code === SdkErrorCode.RequestTimeout)
    return error("timeout", `${capital(server)} did not answer in time.`);
  if (fault instanceof SdkError && fault.code === SdkErrorCode.InvalidResult)
    return error("execution", `${capital(server)} answered something that is no result: ${says}`);
  const other = toToolError(fault, tool);
  return error(other.kind, `${capital(server)} could not be called: ${says}`);
}

function isLost({ ProtocolError, SdkError, SdkErrorCode }: Sdk, fault: unknown): boolean {
  if (fault instanceof ProtocolError) return fault.code === LOST;
  return fault instanceof SdkError && fault.code === SdkErrorCode.ConnectionClosed;
}

const INVALID_PARAMS = -32602;

function isStatus(sdk: Sdk, fault: unknown, ...statuses: readonly number[]): boolean {
  return fault instanceof sdk.SdkHttpError && statuses.includes(fault.status);
}

/** An HTTP server that does not know our session any more: it has not run the call. */
export function isSessionLost(sdk: Sdk, fault: unknown): boolean {
  return isStatus(sdk, fault, 404) || (isStatus(sdk, fault, 400) && /session/i.test(messageOf(fault)));
}

export function needsSignIn(sdk: Sdk, fault: unknown): boolean {
  return fault instanceof sdk.UnauthorizedError || isStatus(sdk, fault, 401);
}

/** Why no way to a server could be had. */
export function connectFault(fault: unknown, settings: McpServerSettings, end: string): string {
  const said = redact(oneLine(messageOf(fault)), settings);
  return end === "" || said.includes(end) ? said : `${said}: ${end}`;
}

/** A text with the server's keys taken out, wherever they came to stand in it. */
export function redact(text: string, { reach }: McpServerSettings): string {
  const secrets = Object.values(reach.type === "http" ? reach.headers : reach.env);
  return secrets.reduce((clean: string, secret) => {
    if (secret === "") return clean;
    const value = secret.reveal();
    // `Authorization: Bearer KEY`: the key is what must not be told.
    const bare = /^\w+ (\S{6,})$/.exec(value)?.[1];
    const safe = value.length < 6 ? clean : secret.redact(clean);
    return bare === undefined ? safe : safe.replaceAll(bare, "[secret]");
  }, text);
}

function messageOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const cause = fault.cause instanceof Error && fault.cause.message !== "" ? ` (${fault.cause.message})` : "";
  return `${fault.message}${cause}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
