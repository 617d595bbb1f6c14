/** What stands before a model's name; where only keys decide, the first with one. */
export const CLOUD_NAMES = ["anthropic", "openai", "openai-responses"] as const;

/** What stands before the name of a model on this machine, where a name alone would not tell. */
export const LOCAL_NAME = "local";

/** What `--provider` takes. */
export const PROVIDER_NAMES = [...CLOUD_NAMES, LOCAL_NAME] as const;
