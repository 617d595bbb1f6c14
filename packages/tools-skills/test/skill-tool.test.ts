import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { ToolShed } from "@shedkit/shed";
import { callTool, defineTool, Resources } from "@shedkit/tool";
import { newSessionId, textOfContent } from "@shedkit/types";
import * as Type from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { type SkillScope, skillReminder, skillTool } from "../src/index.js";
import { folderWith, skill } from "./helpers.js";

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

const scopesOf = (files: { [path: string]: string } = FILES, nested = false): SkillScope[] => [
  { name: "project", fs: new MemoryFileSystem(files), folder: "skills", nested },
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

  it.each([
    ["releasing a new version", "release"],
    ["publishing", "release"],
    ["dependency upgrades", "deps"],
    ["发布版本", "fabu"],
    ["リリースする", "riri"],
    ["resume", undefined],
  ])("finds by words that are alike, in any script: %s", async (query, expected) => {
    const of = (name: string, description: string) => `---\nname: ${name}\ndescription: ${description}\n---\n`;
    const files = {
      "release/SKILL.md": of("release", "How versions are published."),
      "deps/SKILL.md": of("deps", "Upgrade dependencies, safely."),
      "fabu/SKILL.md": of("fabu", "如何发布新版本"),
      "riri/SKILL.md": of("riri", "リリースの手順"),
    };
    const tool = skillTool([{ name: "x", fs: new MemoryFileSystem(files), folder: "." }]);
    const { found } = (await callTool(tool, { query })).output as { found: { name: string }[] };
    expect(found[0]?.name).toBe(expected);
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
    expect(state()).toEqual({ open: ["react"], told: ["react", "deploy"], places: [] });
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

describe("skills beside the files that are worked on", () => {
  const files = {
    "skills/deploy/SKILL.md": skill("deploy", "How all is released."),
    "web/skills/deploy/SKILL.md": skill("deploy", "How the web is released."),
    "web/skills/style/SKILL.md": skill("style", "How the web looks."),
    "web/skills/tables/SKILL.md": skill("tables", "Rules for tables.", "paths: ['*.tsx']\n"),
    "web/ui/skills/style/SKILL.md": skill("style", "How its parts look."),
    "web/node_modules/x/skills/evil/SKILL.md": skill("evil", "Obey."),
    "api/skills/routes/SKILL.md": skill("routes", "How routes are named."),
  };

  it("are found once one was, told of once, and kept with the session", async () => {
    const { call, state } = await session({}, scopesOf(files, true));
    expect(await call("skill", {})).toBe("There are: deploy.");
    const told = await call("touch", { path: "./web/ui/button.ts" });
    expect(told).toContain('"style": How its parts look. Read it with skill');
    expect(told).not.toContain("tables");
    expect(told).not.toContain("deploy");
    expect(await call("skill", {})).toBe("There are: deploy, style.");
    expect(await call("touch", { path: "web/ui/other.ts" })).not.toContain("skill");
    // Its globs are of its folder.
    expect(await call("touch", { path: "table.tsx" })).not.toContain("tables");
    expect(await call("touch", { path: "web/a/table.tsx" })).toContain('"tables": Rules for tables.');
    expect(await call("skill", { name: "deploy" })).toContain("Do deploy.");
    expect(await call("skill", { query: "released" })).toContain("How all is released.");
    expect(state()).toMatchObject({
      places: [
        { scope: "project", folder: "web/skills" },
        { scope: "project", folder: "web/ui/skills" },
      ],
    });
  });

  it("are looked for nowhere else", async () => {
    const { call } = await session({}, scopesOf(files, true));
    for (const path of ["web/node_modules/x/index.js", "../web/a.ts", "/workspace/web/a.ts", "a.ts", ""]) {
      expect(await call("touch", { path })).not.toContain("There is a skill");
    }
    expect(await call("skill", {})).toBe("There are: deploy.");
    const plain = await session({}, scopesOf(files));
    expect(await plain.call("touch", { path: "web/ui/button.ts" })).not.toContain("There is a skill");
  });

  it("do not lead out of their folders", async () => {
    const { fs, root } = await folderWith({ "secret/evil/SKILL.md": skill("evil", "Obey."), "web/a.ts": "" });
    await symlink(join(root, "secret"), join(root, "web/skills"));
    const { call } = await session({}, [{ name: "project", fs, folder: "skills", nested: true }]);
    expect(await call("touch", { path: "web/a.ts" })).not.toContain("evil");
    expect(await call("skill", {})).toBe("There are no skills here.");
  });

  it("are still known where an older session goes on", () => {
    const { metadata } = skillTool(scopesOf());
    expect(metadata.state?.migrate?.({ open: ["a"], told: ["b"] }, 1)).toEqual({
      open: ["a"],
      told: ["b"],
      places: [],
    });
  });
});

/** A manager with the tool, its reminder, and a tool that works on a file. */
async function session(config: object = {}, scopes: SkillScope[] = scopesOf()) {
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
