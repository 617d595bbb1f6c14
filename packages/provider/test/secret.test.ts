import { inspect } from "node:util";
import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { Secret } from "../src/index.js";

const key = "sk-very-secret-123";

describe("Secret", () => {
  it("gives its value to reveal alone", () => {
    const secret = new Secret(key);
    expect(secret.reveal()).toBe(key);
    const shown = [
      String(secret),
      `${secret}`,
      JSON.stringify({ secret }),
      inspect(secret),
      inspect({ secret }, { depth: 9, showHidden: true, getters: true }),
      Object.keys(secret).join(),
      JSON.stringify(structuredClone({ ...secret })),
    ].join("\n");
    expect(shown).not.toContain("very-secret");
    expect(shown).toContain("[secret]");
  });

  it("takes itself out of a text", () => {
    expect(new Secret(key).redact(`Incorrect API key: ${key}, ${key}.`)).toBe("Incorrect API key: [secret], [secret].");
  });

  it("leaves a text as it is where it is too short for a key", () => {
    expect(new Secret("none").redact("effort: none")).toBe("effort: none");
    expect(new Secret("k-123").redact("bad k-123")).toBe("bad [secret]");
  });

  it("comes from the environment by name, and names the variable that is missing", () => {
    expect(Secret.fromEnv("openai", "KEY", { KEY: ` ${key}\n` }).reveal()).toBe(key);
    for (const env of [{}, { KEY: "" }, { KEY: "  " }]) {
      expect(() => Secret.fromEnv("openai", "KEY", env)).toThrow(/^KEY is not set: set it to your OpenAI key\.$/);
    }
    try {
      Secret.fromEnv("openai", "KEY", {});
    } catch (error) {
      expect(AgenticError.is(error, "auth") && error.details.provider).toBe("openai");
    }
  });

  it("is never empty", () => {
    expect(() => new Secret(" ")).toThrow(/empty/);
  });
});
