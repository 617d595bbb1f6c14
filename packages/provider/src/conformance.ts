import { abortCases } from "./conformance/aborts.js";
import { answerCases } from "./conformance/answers.js";
import type { ProviderCase } from "./conformance/backend.js";
import { failureCases } from "./conformance/failures.js";
import { requestCases } from "./conformance/requests.js";

export {
  type BackendPart,
  type BackendReply,
  type BackendSettings,
  backendKey,
  type OpenBackend,
  type OpenProvider,
  type ProviderCase,
} from "./conformance/backend.js";

/** What every provider must do, over a server that says what it is told. Each case opens its own. */
export const providerCases: readonly ProviderCase[] = [...answerCases, ...requestCases, ...failureCases, ...abortCases];
