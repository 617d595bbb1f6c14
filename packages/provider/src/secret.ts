import { AgenticError } from "@shedkit/types";

const SHOWN = "[secret]";
const SHORTEST = 5;
/** How people write the names of those that call themselves otherwise. */
const NAMES: { readonly [provider: string]: string } = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  openrouter: "OpenRouter",
};

/** A key. It does not print, serialise, inspect or clone; only {@link Secret.reveal} gives it. */
export class Secret {
  readonly #value: string;

  /** Throws AgenticError `session` for an empty value: a missing key is found here, not at the first request. */
  constructor(value: string) {
    if (value.trim() === "") {
      throw new AgenticError("session", "The key is empty. Pass the key that the provider gave you.", {
        reason: "empty key",
      });
    }
    this.#value = value;
  }

  /** The value of an environment variable. Throws AgenticError `auth` naming the variable where it is not set. */
  static fromEnv(provider: string, variable: string, env: Environment = processEnv()): Secret {
    const value = env[variable];
    if (value !== undefined && value.trim() !== "") return new Secret(value.trim());
    throw new AgenticError("auth", `${variable} is not set: set it to your ${NAMES[provider] ?? provider} key.`, {
      provider,
    });
  }

  reveal(): string {
    return this.#value;
  }

  /**
   * The text with the key taken out: for what others may have written it into. A value of fewer than five characters is
   * left: it is no key, but what a server that wants none is given, and a part of many words.
   */
  redact(text: string): string {
    return this.#value.length < SHORTEST ? text : text.replaceAll(this.#value, SHOWN);
  }

  toString(): "[secret]" {
    return SHOWN;
  }

  toJSON(): "[secret]" {
    return SHOWN;
  }

  /** What Node's `util.inspect` and `console.log` show. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return SHOWN;
  }
}

/** Variables by name, as in `process.env`. */
export type Environment = { readonly [name: string]: string | undefined };

/** The process's environment; empty where there is no process. */
function processEnv(): Environment {
  return (globalThis as { process?: { env?: Environment } }).process?.env ?? {};
}
