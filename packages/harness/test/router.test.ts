import { ScriptedProvider } from "@shedkit/testing";
import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { RouterMix, RouterPreset } from "../src/index.js";

const provider = (id: string) => new ScriptedProvider([`${id} answers`], { id });

describe("RouterMix", () => {
  it("sends each model to the provider it was given with, whatever the providers say they serve", async () => {
    const [a, b, c] = [provider("a"), provider("b"), provider("c")];
    const preset = new RouterMix().primary(a, "main").memory(b, "small").fallback(c, "spare").build();
    expect(preset.models).toEqual({ primary: "main", memory: "small", fallbacks: ["spare"] });
    const router = await preset.load();
    expect(router.resolve("main")).toBe(a);
    expect(router.resolve("small")).toBe(b);
    expect(router.resolve("spare")).toBe(c);
  });

  it("takes one provider for several models", async () => {
    const a = provider("a");
    const router = await new RouterMix().primary(a, "large").memory(a, "small").build().load();
    expect(router.resolve("small")).toBe(a);
    expect(router.providers).toHaveLength(1);
  });

  it("makes a provider when it is loaded, not before", async () => {
    let made = 0;
    const preset = new RouterMix()
      .primary(async () => {
        made++;
        return provider("late");
      }, "m")
      .build();
    expect(made).toBe(0);
    expect((await preset.load()).resolve("m").id).toBe("late");
    expect(made).toBe(1);
  });

  it("never changes a mix", () => {
    const base = new RouterMix().primary(provider("a"), "main");
    base.memory(provider("b"), "small");
    expect(base.build().models).toEqual({ primary: "main", fallbacks: [] });
  });

  it("refuses one name for two providers", () => {
    const mix = new RouterMix().primary(provider("a"), "m").memory(provider("b"), "m");
    expect(() => mix.build()).toThrow(/"m".*name of its own/);
  });

  it("refuses two providers with one id, and closes what it had made", async () => {
    const made = provider("same");
    const preset = new RouterMix()
      .primary(() => made, "m")
      .memory(provider("same"), "n")
      .build();
    await expect(preset.load()).rejects.toSatisfy((e) => AgenticError.is(e, "routing"));
    expect(made.closed).toBe(true);
  });

  it("refuses a mix without any model when it is loaded", async () => {
    await expect(new RouterMix().build().load()).rejects.toSatisfy((e) => AgenticError.is(e, "routing"));
  });

  it("fills in the models of a session", async () => {
    const preset = new RouterMix().primary(provider("a"), "main").build();
    const agent = await preset.intoAgentBuilder().build();
    expect((await agent.ask("Hello?")).text).toBe("a answers");
    await agent.end();
  });
});

describe("RouterPreset", () => {
  it("of your own makes its router when it is loaded", async () => {
    const router = await new RouterMix().primary(provider("a"), "m").build().load();
    const preset = new RouterPreset({ primary: "m" }, async () => router);
    expect(await preset.load()).toBe(router);
  });

  it("names the models of the local families", () => {
    for (const preset of [RouterPreset.gemma(), RouterPreset.glm52Gemma(), RouterPreset.qwen36Gemma()]) {
      expect(preset.models.primary).toMatch(/^unsloth\/.+-GGUF$/);
      expect(preset.models.memory).toBe("unsloth/gemma-4-E2B-it-GGUF");
    }
  });

  it.each(["gemma", "glm52Gemma", "qwen36Gemma"] as const)("%s loads without network", async (family) => {
    const preset = RouterPreset[family]();
    const router = await preset.load();
    const { primary, memory } = preset.models;
    expect(router.resolve(primary ?? "").id).not.toBe(router.resolve(memory ?? "").id);
    await router.close();
  });

  it.each([
    ["claude", "claude-opus-4-8", "claude-sonnet-4-6", "anthropic"],
    ["openaiChat", "gpt-4o", "gpt-4o-mini", "openai"],
    ["openaiResponses", "gpt-4o", "gpt-4o-mini", "openai"],
  ] as const)("%s is built and loaded without network, one provider for both models", async (name, main, small, id) => {
    const preset = RouterPreset[name]("sk-none");
    expect(preset.models).toEqual({ primary: main, memory: small, fallbacks: [] });
    const router = await preset.load();
    expect(router.providers).toHaveLength(1);
    expect(router.resolve(main).id).toContain(id);
    await router.close();
  });

  it("of a Hugging Face model is built and loaded without network", async () => {
    const preset = RouterPreset.huggingfaceCpu("owner/repo:Q4_K_M");
    expect(preset.models).toEqual({ primary: "owner/repo:Q4_K_M", fallbacks: [] });
    const router = await preset.load();
    expect(router.resolve("owner/repo:Q4_K_M").id).toBeTypeOf("string");
    await router.close();
  });
});
