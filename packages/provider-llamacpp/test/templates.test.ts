import type { ToolDeclarations } from "@shedkit/types";
import { expect, it } from "vitest";
import { cpuProvider, request, tinyModel, tool } from "./helpers.js";

const tools: ToolDeclarations = { tools: [tool("read", { path: { type: "string" } })], activations: [] };
/** As many words as one wants: they tell which template was taken. */
const template = (words: number) => `${"word ".repeat(words)}{% for m in messages %}{{ m.content }}{% endfor %}`;

it("takes the chat template of the file, the one for tools where there are tools, or one that is given", async () => {
  const model = tinyModel({ chatTemplate: template(10), toolTemplate: template(500) });
  const count = (provider: ReturnType<typeof cpuProvider>, offered?: ToolDeclarations) =>
    provider.countTokens(request(model, ["Hi"], offered && { tools: offered }));
  const own = cpuProvider();
  const given = cpuProvider({ chatTemplate: template(100) });
  const [plain, withTools, other] = [await count(own), await count(own, tools), await count(given)];
  expect(other).toBeGreaterThan(plain * 2);
  expect(withTools).toBeGreaterThan(other * 2);
  // What is given stands for both; its instructions come with the tools.
  expect(await count(given, tools)).toBeGreaterThan(other);
});

it("says what is wrong with a template that cannot be read", async () => {
  const provider = cpuProvider({ chatTemplate: "{% if %}" });
  await expect(provider.countTokens(request(tinyModel(), ["Hi"]))).rejects.toThrow("chat template cannot be read");
});
