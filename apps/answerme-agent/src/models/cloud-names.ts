/** What stands before a model's name, and what `--provider` takes; where only keys decide, the first with one. */
export const CLOUD_NAMES = ["anthropic", "openai", "openai-responses"] as const;
