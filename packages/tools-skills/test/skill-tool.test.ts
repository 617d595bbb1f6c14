import { MemoryFileSystem } from "@shedkit/fs/memory";
import { ToolShed } from "@shedkit/shed";
import { callTool, defineTool, Resources } from "@shedkit/tool";
import { newSessionId, textOfContent } from "@shedkit/types";
import * as Type from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { skillReminder, skillTool } from "../src/index.js";
import { skill } from "./helpers.js";

const FILES = {
  "skills/deploy/SKILL.md": skill(
    "deploy",
    "How releases are made.",
    "allowed-tools: bash\n",
    "Run $ARGUMENTS, then rest.",
  ),
  "skills/deploy/notes/list.md": "1. Build",
  "skills/write-docs/SKILL.md": skill("write-docs", "The tone and form of documentation."),
  "skills/react/SKILL.md": skill("react", "Rules for components.", 'paths: ["src/**/*.tsx"]\n'),
  "skills/by-hand/SKILL.md": skill("by-hand", "Only for people.", "disable-model-invocation: true\n"),
};

const scopesOf = (files: { [path: string]: string } = FILES) => [
  { name: "project", fs: new MemoryFileSystem(files), folder: "skills" },
];
const said = async (args: object, resources = new Resources(), scopes = scopesOf()) =>
  (await callTool(skillTool(scopes), args, { resources })).text;

describe("skill", () => {
  it("finds skills by what is needed, by name and description alone", async () => {
    expect(await said({ query: "write documentation for it" })).toBe(
      "write-docs: The tone and form of documentation.\n\nTo read one, give its name.",
    );
    expect(await said({ query: "Deploy" })).toMatch(/^deploy: /);
    expect(await said({ query: "make a release" })).toMatch(/^deploy: /);
  });

  it("names what there is where none fits, or nothing is asked", async () => {
    expect(await said({ query: "quantum" })).toBe("None fits. There are: deploy, write-docs.");
    expect(await said({})).toBe("There are: deploy, write-docs.");
    expect(await said({ query: "x" }, new Resources(), scopesOf({}))).toBe("There are no skills here.");
  });

  it("reads one on demand, with what it is used on, and its files", async () => {
    expect(await said({ name: "deploy", args: "v2 $& now" })).toBe(
      "Run v2 $& now, then rest.\n\nIt is written for these tools: bash.\n\n" +
        "Its files, to be read with file: notes/list.md",
    );
    expect(await said({ name: "Write-Docs", args: "the README" })).toBe(
      "Do write-docs.\n\nIt is to be used on: the README",
    );
    expect(await said({ name: "deploy", file: "notes/list.md" })).toBe("1. Build");
    expect(await said({ name: "deploy", file: "../react/SKILL.md" })).toContain("has no file");
  });

  it("says what is near where there is none of that name", async () => {
    expect(await said({ name: "docs" })).toBe('There is no skill "docs". Near to it: write-docs.');
    expect(await said({ name: "x" })).toBe('There is no skill "x". Look for one with query.');
    expect(await said({ name: "by-hand" })).toContain("There is no skill");
  });

  it("offers a skill for certain files once one was worked on, and says so once", async () => {
    const { call } = await session();
    expect(await call("skill", { query: "components" })).toContain("None fits");
    expect(await call("skill", { name: "react" })).toContain("no skill");
    expect(await call("touch", { path: "src/a.ts" })).toBe('{"path":"src/a.ts"}');
    const touched = await call("touch", { path: "./src/ui/b.tsx" });
    expect(touched).toContain('There is a skill for this, "react": Rules for components. Read it with skill');
    expect(await call("touch", { path: "src/c.tsx" })).not.toContain("react");
    expect(await call("skill", { name: "react" })).toContain("Do react.");
  });

  it("tells of a skill that was just written, by the names that the client gave", async () => {
    const { call, fs } = await session({ nameOverride: "howto", paramsNameOverrides: { query: "need" } });
    await fs.mkdir("skills/new");
    await fs.writeFile("skills/new/SKILL.md", skill("new", "Fresh."));
    expect(await call("touch", { path: "skills/new/SKILL.md" })).toContain('"new": Fresh. Read it with howto');
    expect(await call("howto", { name: "zzz" })).toContain("Look for one with need");
  });

  it("says nothing of what the model has read already, and keeps that with the session", async () => {
    const { call, state } = await session();
    await call("touch", { path: "src/b.tsx" });
    await call("skill", { name: "deploy" });
    expect(state()).toEqual({ open: ["react"], told: ["react", "deploy"] });
    expect(await call("touch", { path: "skills/deploy/SKILL.md" })).not.toContain('deploy\\"');
  });

  it("gives at most as many as is set", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`skills/s${i}/SKILL.md`, skill(`s${i}`, "A common thing.")]),
    );
    expect((await said({ query: "common" }, new Resources(), scopesOf(files))).match(/^s\d+:/gm)).toHaveLength(5);
    const two = skillTool(scopesOf(files), { maxResults: 2 });
    expect((await callTool(two, { query: "common" })).text.match(/^s\d+:/gm)).toHaveLength(2);
  });
});

/** A manager with the tool, its reminder, and a tool that works on a file. */
async function session(config: object = {}) {
  const scopes = scopesOf();
  const touch = defineTool({
    ...{ id: "touch", kind: "read", description: "Works on a file." },
    input: Type.Object({ path: Type.String() }),
    run: ({ path }) => ({ path }),
  });
  const shed = new ToolShed()
    .tools([skillTool(scopes), touch])
    .reminder(skillReminder(scopes))
    .configure({ tools: [{ id: "skill", ...config }, { id: "touch" }] });
  const nothing = async () => [];
  const manager = await shed.build({
    sessionId: newSessionId(),
    resources: new Resources(),
    context: { search: nothing },
    memory: { facts: nothing, edit: async () => 1 },
  });
  let calls = 0;
  const call = async (name: string, args: object) => {
    const request = { id: `c${++calls}`, name, arguments: { ...args } as { path: string } };
    let text = "";
    for await (const outcome of manager.runWorkflow(manager.buildWorkflow([request])))
      text += textOfContent(outcome.content);
    return text;
  };
  return { call, fs: scopes[0]?.fs as MemoryFileSystem, state: () => manager.states?.get("skills:skill") };
}
