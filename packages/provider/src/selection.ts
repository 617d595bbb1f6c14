import type { ModelIdLike } from "@shedkit/types";
import type { ProviderRouter } from "./router.js";

/** The models of a session. */
export interface ModelSelection {
  primary: ModelIdLike;
  /** Tried in order when the primary one fails. */
  fallbacks: readonly ModelIdLike[];
  /** Summarises and remembers. Default: the primary one. */
  memory?: ModelIdLike | undefined;
}

/** A router to be, with the models it is made for. */
export interface ModelPreset {
  readonly models: Partial<ModelSelection>;
  /** Imports the backend. Throws AgenticError `provider` with the install line where it is absent. */
  load(signal?: AbortSignal): Promise<ProviderRouter>;
}
