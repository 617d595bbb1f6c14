// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the markers of our own templates look so
// biome-ignore-all lint/suspicious/noThenProperty: requirements have one
import { callTool, defineTool, FnTool, paramsOf, type Requirement, Resources } from "@shedkit/tool";
import {
  allows,
  bindTool,
  type CapabilityMode,
  Dispatcher,
  externalTool,
  isMet,
  isWithin,
  mergeConfigs,
  type RequiredTool,
  type ToolConfig,
  ToolSetBuilder,
  ToolSetError,
  type ToolSetProblem,
} from "@shedkit/toolset";
import { Type } from "@sinclair/typebox";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const read = defineTool({
  id: "read",
  namespace: "files",
  kind: "read",
  description: "Reads a file.",
  input: Type.Object({ path: Type.String(), limit: Type.Optional(Type.Integer()) }),
  run: ({ path }) => `text of ${path}`,
});
const edit = defineTool({
  id: "edit",
  namespace: "files",
  kind: "edit",
  description: "Edits what ${{ tools.by_kind.read }} has shown; give ${{ params.edit.old }}.",
  input: Type.Object({
    path: Type.String(),
    old: Type.String({ description: "What is there; see ${{ params.edit.path }}." }),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  requires: { kind: "read" },
  capabilities: { touches: ({ path }) => [String(path)] },
  access: ({ path }) => [{ action: "write", target: path }],
  run: ({ path, old }, ctx) => `${path}/${old}/${ctx.names.param("old")}`,
});
const shell = defineTool({
  id: "shell",
  namespace: "os",
  kind: "execute",
  description: "Runs a command.",
  input: Type.Object({ command: Type.String() }),
  params: {
    schema: Type.Object(
      {
        background: Type.Boolean(),
        max: Type.Integer({ minimum: 1 }),
        mode: Type.Union([Type.Literal("a"), Type.Literal("b")]),
      },
      { additionalProperties: false },
    ),
    defaults: { background: false, max: 10, mode: "a" },
    check: ({ background, max }) => (background && max < 5 ? [{ field: "max", message: "Background needs 5." }] : []),
  },
  requires: {
    ifParams: { background: true },
    then: { all: [{ kind: "killTaskAction" }, { kind: "waitTasksAction" }] },
  },
  versions: [
    { version: "2", lifecycle: "active" },
    { version: "1", lifecycle: "deprecated", replacement: "2" },
    { version: "0", lifecycle: "removalCandidate", replacement: "2" },
  ],
  run: (_, ctx) => `version ${ctx.version}, max ${ctx.params.max}`,
});
const kill = new FnTool("kill", "Ends it.", { type: "object" }, async () => "");

function builder(): ToolSetBuilder {
  return new ToolSetBuilder().tools([read, edit, shell, kill]);
}

function problems(tools: ToolConfig[], rest: { behaviorPreset?: string } = {}): readonly ToolSetProblem[] {
  return builder()
    .preset("old", { "os:shell": "1" })
    .preset("gone", {}, "removalCandidate", "old")
    .validate({ tools, ...rest });
}

describe("a configuration is checked in phases", () => {
  test.each<[unknown, [tool: string, fieldPath: string][]]>([
    [null, [["(global)", ""]]],
    [{}, [["(global)", "tools"]]],
    [{ tools: "all" }, [["(global)", "tools"]]],
    [
      { tools: [{ id: 5 }, "read"] },
      [
        ["(global)", "tools.0.id"],
        ["(global)", "tools.1"],
      ],
    ],
    [{ tools: [{ id: "read", params: [] }] }, [["read", "tools.0.params"]]],
    [{ tools: [{ id: "read", name_override: "cat" }] }, [["read", "tools.0.name_override"]]],
    [{ tools: [{ id: "read", paramsNameOverrides: { path: 1 } }] }, [["read", "tools.0.paramsNameOverrides.path"]]],
    [{ tools: [], capability: "readonly" }, [["(global)", "capability"]]],
  ])("its fields, first of all: %j", async (config, expected) => {
    const found = builder().validate(config as never);
    expect(found.map(({ tool, fieldPath, category }) => [tool, fieldPath, category])).toEqual(
      expected.map((each) => [...each, "config"]),
    );
    await expect(builder().build(config as never)).rejects.toMatchObject({ problems: found });
  });

  test("a field that is undefined is not there", () => {
    const entry = { id: "read", params: undefined, nameOverride: undefined, kind: undefined };
    expect(builder().validate({ tools: [entry], behaviorPreset: undefined, capability: undefined })).toEqual([]);
  });

  test("the preset first, and alone", () => {
    expect(problems([{ id: "nope" }], { behaviorPreset: "new" })).toMatchObject([
      { tool: "(global)", category: "behavior_preset", badValue: "new", expected: "current, old, gone" },
    ]);
    expect(problems([], { behaviorPreset: "gone" })[0]?.message).toContain('"old"');
  });

  test("then every entry", () => {
    const found = problems([
      { id: "files:nope" },
      { id: "read" },
      { id: "files:read" },
      { id: "os:shell", behaviorVersion: "7" },
      { id: "user:kill", behaviorVersion: "1", params: { x: 1 } },
    ]);
    expect(found.map(({ tool, category }) => [tool, category])).toEqual([
      ["files:nope", "tool_not_found"],
      ["files:read", "duplicate_tool"],
      ["os:shell", "behavior_version"],
      ["user:kill", "behavior_version"],
      ["user:kill", "params_unknown_field"],
    ]);
    expect(found[2]).toMatchObject({ badValue: "7", expected: "current, 2, 1, 0", fieldPath: "behaviorVersion" });
  });

  test.each<[ToolConfig["params"], Partial<ToolSetProblem>]>([
    [{ oops: 1 }, { category: "params_unknown_field", fieldPath: "params.oops", badValue: 1 }],
    [{ max: "x" }, { category: "params_type", fieldPath: "params.max", expected: "a whole number", badValue: "x" }],
    [{ max: 0 }, { category: "params_invalid", fieldPath: "params.max", expected: "at least 1" }],
    [{ mode: "c" }, { category: "params_unknown_variant", fieldPath: "params.mode", expected: '"a" or "b"' }],
    [
      { background: true, max: 2 },
      { category: "params_constraint", fieldPath: "params.max", badValue: 2 },
    ],
  ])("settings: %j", (params, expected) => {
    expect(problems([{ id: "os:shell", params }])).toMatchObject([expected]);
  });

  test.each<[Partial<ToolConfig>, string]>([
    [{ nameOverride: "a b" }, "nameOverride"],
    [{ nameOverride: "shed" }, "nameOverride"],
    [{ nameOverride: "a__b" }, "nameOverride"],
    [{ paramsNameOverrides: { nope: "x" } }, "paramsNameOverrides.nope"],
    [{ paramsNameOverrides: { path: "limit" } }, "paramsNameOverrides.path"],
    [{ paramsNameOverrides: { path: "x", limit: "x" } }, "paramsNameOverrides.limit"],
    [{ paramsNameOverrides: { path: "" } }, "paramsNameOverrides.path"],
    [{ paramsNameOverrides: { path: "__proto__" } }, "paramsNameOverrides.path"],
  ])("names: %j", (entry, fieldPath) => {
    expect(problems([{ id: "read", ...entry }])).toMatchObject([{ tool: "files:read", fieldPath }]);
  });

  test("then client names", () => {
    expect(problems([{ id: "read" }, { id: "edit", nameOverride: "read" }])).toMatchObject([
      { tool: "files:edit", category: "duplicate_client_name", fieldPath: "nameOverride", badValue: "read" },
    ]);
  });

  test("then what excludes each other", () => {
    const other = defineTool({
      id: "lines",
      namespace: "files",
      kind: "edit",
      description: "",
      input: Type.Object({}),
      conflicts: ["files:edit"],
      run: () => "",
    });
    const found = builder().tool(other).validate({ tools: [] });
    expect(found).toMatchObject([{ tool: "files:lines", category: "conflict", badValue: "files:edit" }]);
  });

  test("tools of one bundle are told once what they exclude", () => {
    const lines = (id: string) =>
      defineTool({
        id,
        namespace: "lines",
        kind: "edit",
        description: "",
        input: Type.Object({}),
        conflicts: ["files:read", "files:edit"],
        bundle: "file-toolset",
        run: () => "",
      });
    const mixed = builder().tool(lines("a")).tool(lines("b"));
    expect(mixed.validate({ tools: [] })).toEqual([
      {
        tool: "(file-toolset)",
        category: "file_toolset_conflict",
        fieldPath: "tools",
        badValue: ["lines:a", "lines:b", "files:read", "files:edit"],
        message:
          '"lines:a", "lines:b" cannot be in one set with "files:read", "files:edit". Leave out the ones or the others.',
      },
    ]);
    expect(mixed.validate({ tools: [{ id: "a" }, { id: "b" }] })).toEqual([]);
    expect(mixed.validate({ tools: [{ id: "read" }, { id: "edit" }] })).toEqual([]);
  });

  test("then what requires another, naming what is missing and on which setting it hangs", () => {
    expect(problems([{ id: "edit" }])).toMatchObject([
      { tool: "files:edit", category: "requirements", message: 'It needs a tool of kind "read".' },
    ]);
    const found = problems([{ id: "shell", params: { background: true } }]);
    expect(found).toHaveLength(2);
    expect(found[0]).toMatchObject({
      fieldPath: "params.background",
      message: 'It needs a tool of kind "killTaskAction" (as background = true).',
    });
    expect(problems([{ id: "shell" }])).toEqual([]);
  });

  test("an id alone must mean one tool", () => {
    const other = defineTool({
      id: "read",
      namespace: "web",
      kind: "webFetch",
      description: "",
      input: Type.Object({}),
      run: () => "",
    });
    expect(
      builder()
        .tool(other)
        .validate({ tools: [{ id: "read" }] }),
    ).toMatchObject([{ category: "tool_ambiguous", expected: "files:read, web:read" }]);
    expect(
      builder()
        .tool(other)
        .validate({ tools: [{ id: "files:read" }, { id: "web:read", nameOverride: "fetch" }] }),
    ).toEqual([]);
  });

  test("two tools of one id from two namespaces both run, each by its client name", async () => {
    const other = defineTool({
      id: "read",
      namespace: "web",
      kind: "webFetch",
      description: "",
      input: Type.Object({ path: Type.String() }),
      run: ({ path }) => `page of ${path}`,
    });
    const set = await builder()
      .tool(other)
      .build({ tools: [{ id: "files:read" }, { id: "web:read", nameOverride: "fetch" }] });
    const said = async (name: string) =>
      (await set.dispatcher().run({ id: "1", name, arguments: { path: "x" } })).promptText;
    expect([await said("read"), await said("fetch")]).toEqual(["text of x", "page of x"]);
    expect([...set.implementations().keys()]).toEqual(["files:read", "web:read"]);
  });

  test("build throws what validate tells", async () => {
    const error = await builder()
      .build({ tools: [{ id: "edit" }] })
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ToolSetError);
    expect((error as ToolSetError).problems).toEqual(problems([{ id: "edit" }]));
    expect((error as Error).message).toContain("files:edit: It needs");
  });

  test("a description that cannot be filled in is a problem", async () => {
    const config = { tools: [{ id: "read", descriptionOverride: "${{ a.b.c }}" }] };
    await expect(builder().build(config)).rejects.toMatchObject({
      problems: [{ tool: "files:read", category: "description" }],
    });
    expect(builder().validate(config)).toMatchObject([{ tool: "files:read", category: "description" }]);
  });

  test("so is a schema of the program's own that is none; one from elsewhere is left out", async () => {
    const bad = new FnTool("bad", "Bad.", { type: "strng" }, async () => "");
    const far = externalTool({
      server: "far",
      name: "bad",
      description: "Bad.",
      input: { type: "strng" },
      call: async () => ({ content: [] }),
    });
    expect(new ToolSetBuilder().tools([read, bad]).validate({ tools: [] })).toMatchObject([
      { tool: "user:bad", category: "schema" },
    ]);
    expect(new ToolSetBuilder().tools([read, far]).validate({ tools: [] })).toEqual([]);
  });
});

test("what is registered can be read as JSON", () => {
  const registered = builder();
  expect(registered.kinds()).toEqual(["read", "edit", "execute", "other"]);
  const manifest = registered.manifest();
  expect(Object.keys(manifest)).toEqual(registered.ids());
  expect(JSON.parse(JSON.stringify(manifest["os:shell"]))).toMatchObject({
    namespace: "os",
    id: "shell",
    kind: "execute",
    inputSchema: { properties: { command: { type: "string" } }, required: ["command"] },
    defaultParams: { background: false, max: 10, mode: "a" },
    paramsSchema: { properties: { max: { minimum: 1 } } },
    requires: { ifParams: { background: true } },
    versions: ["2", "1", "0"],
  });
  expect(Object.keys(manifest["user:kill"] ?? {})).toEqual(["namespace", "id", "kind", "inputSchema"]);
});

test("a behaviour version: an old one works with a warning, one that goes away is refused; both name the next", async () => {
  const set = await builder().build({ tools: [{ id: "shell", behaviorVersion: "1" }] });
  expect(set.warnings).toEqual([
    { tool: "os:shell", category: "deprecated_version", message: 'Its behaviour version "1" is old. Use "2" instead.' },
  ]);
  expect(problems([{ id: "shell", behaviorVersion: "0" }])).toMatchObject([
    { category: "behavior_version", message: 'Its behaviour version "0" goes away. Use "2" instead.' },
  ]);
});

describe("a set", () => {
  test("keeps the order of its configuration, and knows names by kind", async () => {
    const set = await builder().build({ tools: [{ id: "edit" }, { id: "read", nameOverride: "cat" }] });
    expect(set.names()).toEqual(["edit", "cat"]);
    expect(set.toolForKind("read")).toBe("cat");
    expect(set.paramForKind("edit", "old")).toBe("old");
    expect(set.renderPrompt("${{ tools.by_kind.read }} ${{ x }}", { x: 1 })).toBe("cat 1");
    const faults: string[] = [];
    expect(set.renderPrompt("a${{ b.c.d }}", {}, (reason) => faults.push(reason))).toBe("a");
    expect(faults).toHaveLength(1);
  });

  test("without entries holds all that is registered", async () => {
    expect((await builder().build()).names()).toEqual(["read", "edit", "shell", "kill"]);
  });

  test("has its settings and versions in force", async () => {
    const resources = new Resources();
    const config = { tools: [{ id: "shell", params: { max: 3 }, behaviorVersion: "1" }] };
    const set = await builder().build(config, { resources });
    expect(resources.get(paramsOf("os:shell"))).toEqual({ background: false, max: 3, mode: "a" });
    expect(set.warnings).toMatchObject([{ tool: "os:shell", category: "deprecated_version" }]);
    const outcome = await set.dispatcher().run({ id: "1", name: "shell", arguments: { command: "x" } });
    expect(outcome.promptText).toBe("version 1, max 3");
    const preset = await builder()
      .preset("old", { "os:shell": "1" })
      .build({ tools: [{ id: "shell" }], behaviorPreset: "old" });
    expect(preset.get("shell")?.version).toBe("1");
    expect((await builder().build()).get("shell")?.version).toBe("2");
  });

  test("offers what the settings in force offer, and takes nothing else", async () => {
    const input = (most: number) =>
      Type.Object({ n: Type.Integer({ maximum: most }) }, { additionalProperties: false });
    const whole = Type.Object({ ...input(10).properties, extra: Type.Optional(Type.String()) });
    const counts = defineTool({
      ...{ id: "counts", kind: "other", description: "Counts." },
      input: whole,
      params: {
        schema: Type.Object({ extra: Type.Boolean(), most: Type.Integer() }),
        defaults: { extra: true, most: 10 },
      },
      inputFor: ({ extra, most }) => (extra ? whole : input(most)),
      run: ({ n }) => n,
    });
    const names = defineTool({
      ...{ id: "names", kind: "search", input: Type.Object({}), run: () => "" },
      description:
        "Takes ${{ params.other.n }}${%- if params.other.extra %} and ${{ params.other.extra }}${%- endif %}.",
    });
    const built = (params?: { extra: boolean; most: number }) =>
      new ToolSetBuilder().tools([counts, names]).build({
        tools: [{ id: "counts", paramsNameOverrides: { n: "upTo" }, ...(params && { params }) }, { id: "names" }],
      });
    const set = await built({ extra: false, most: 3 });
    expect(set.get("counts")?.definition).toMatchObject({
      definition: { arguments: { properties: { upTo: { maximum: 3 } }, required: ["upTo"] } },
    });
    expect(JSON.stringify(set.definitions())).not.toContain("extra");
    const run = async (args: { [name: string]: unknown }) =>
      (await set.dispatcher().run({ id: "1", name: "counts", arguments: args as never })).promptText;
    expect(await run({ upTo: 3 })).toBe("3");
    expect(await run({ n: 3 })).toBe("3");
    expect(await run({ upTo: 4 })).toMatch(/at most 3/);
    const plain = await built();
    expect(JSON.stringify(plain.definitions())).toContain("extra");
    const faulty = built({ extra: "no" } as never);
    await expect(faulty).rejects.toBeInstanceOf(ToolSetError); // its schema is not asked for
  });

  test("packages bring their tools by a callback; schedulers run until it is closed", async () => {
    const log: string[] = [];
    const set = await new ToolSetBuilder()
      .use((b) => b.tool(read))
      .scheduler((started) => {
        log.push(`start ${started.names()}`);
        return () => void log.push("stop");
      })
      .build();
    await set.close();
    await set.close();
    expect(log).toEqual(["start read", "stop"]);
  });

  test("lists what wants to be listed now", async () => {
    const shy = defineTool({
      id: "shy",
      kind: "other",
      description: "",
      input: Type.Object({}),
      shouldList: ({ activeTools }) => activeTools.includes("read"),
      run: () => "",
    });
    const set = await new ToolSetBuilder().tool(shy).build();
    expect(set.definitions()).toHaveLength(1);
    expect(set.definitions({ activeTools: [] })).toHaveLength(0);
    expect(set.definitions({ activeTools: ["read"] })).toHaveLength(1);
  });
});

describe("renamed parameters", () => {
  const config = {
    tools: [
      { id: "read" },
      { id: "edit", nameOverride: "replace", paramsNameOverrides: { old: "find", path: "file" } },
    ],
  };

  test("are declared, described and called by the client's names", async () => {
    const set = await builder().build(config);
    const bound = set.get("replace");
    expect(bound?.definition).toMatchObject({
      definition: {
        name: "replace",
        description: "Edits what read has shown; give find.",
        arguments: {
          required: ["file", "find"],
          properties: { file: {}, find: { description: "What is there; see file." }, count: {} },
        },
      },
    });
    const d = set.dispatcher();
    expect((await d.run({ id: "1", name: "replace", arguments: { file: "f", find: "x" } })).promptText).toBe(
      "f/x/find",
    );
    expect((await d.run({ id: "2", name: "replace", arguments: '{"file":"f"}' })).promptText).toContain(
      "find: wanted a string",
    );
    expect(bound?.metadata.capabilities.touches({ file: "f", find: "x" })).toEqual(["f"]);
    expect(bound?.metadata.access?.({ replace: { file: "f", find: "x" } })).toEqual([{ action: "write", target: "f" }]);
    expect(bound?.metadata.capabilities.touches({})).toEqual([]);
    expect(bound?.metadata.access?.({ file: "f", find: "x" })).toEqual([{ action: "write", target: "f" }]);
  });

  test("by canonical name they are taken too, and the client's name wins", async () => {
    const d = (await builder().build(config)).dispatcher();
    const old = await d.run({ id: "1", name: "replace", arguments: { path: "f", find: "x" } });
    expect(old.promptText).toBe("f/x/find");
    expect(old.repaired).toEqual(["path: taken as file"]);
    const text = await d.run({ id: "3", name: "replace", arguments: '{"path": "f", "find": "x"}' });
    expect(text.promptText).toBe("f/x/find");
    const both = await d.run({ id: "2", name: "replace", arguments: { path: "a", file: "b", find: "x" } });
    expect(both.promptText).toBe("b/x/find");
    expect(both.repaired).toEqual(["path: left out, as file is given"]);
  });

  test("a tool that speaks of another calls it, and its parameters, by the client's names", async () => {
    const hint = defineTool({
      id: "hint",
      kind: "search",
      description: "",
      input: Type.Object({ what: Type.String() }),
      run: (_, { names }) =>
        [names.toolOf("edit"), names.paramOf("edit", "old"), names.paramOf("search", "what"), names.toolOf("execute")]
          .map((name) => name ?? "none")
          .join(" "),
    });
    const call = { id: "1", name: "hint", arguments: { what: "x" } };
    const set = await builder()
      .tool(hint)
      .build({ tools: [...config.tools, { id: "hint" }] });
    expect((await set.dispatcher().run(call)).promptText).toBe("replace find what none");
    const alone = new Dispatcher({ find: () => bindTool(hint), resources: new Resources() });
    expect((await alone.run(call)).promptText).toBe("none none what none");
    expect((await callTool(hint, call.arguments)).text).toBe("none none what none");
  });

  test("a reader of untyped arguments names the client's parameter", async () => {
    const plain = new FnTool("plain", "", { type: "object" }, async (args) => {
      if (args.optBool("strict")) args.parse(Type.Object({ path: Type.Array(Type.Object({ x: Type.String() })) }));
      return args.str("path");
    });
    const bound = bindTool(plain, { paramNames: { path: "file" } });
    const d = new Dispatcher({ find: () => bound, resources: new Resources() });
    const text = async (args: object) => (await d.run({ id: "1", name: "plain", arguments: args })).promptText;
    expect(await text({})).toBe('plain needs "file": a string, got nothing.');
    expect(await text({ file: 1 })).toContain('plain needs "file": a string, got the number 1');
    expect(await text({ strict: true, file: [{ x: 1 }] })).toContain("file.0.x: wanted a string");
  });

  test("a schema that refers to one of them keeps its meaning", () => {
    const schema = {
      type: "object",
      properties: {
        path: { type: "string", minLength: 2 },
        other: { $ref: "#/properties/path" },
        list: { type: "array", items: { $ref: "#/allOf/0/properties/a~1b" } },
        inner: { type: "object", properties: { path: { type: "integer" } } },
        number: { $ref: "#/properties/inner/properties/path" },
      },
      allOf: [{ properties: { "a/b": { type: "boolean" } } }],
    };
    const tool = new FnTool("t", "", schema, async () => "");
    const bound = bindTool(tool, { paramNames: { path: "file ~/x", "a/b": "flag" } });
    const args = { "file ~/x": "ab", other: "cd", list: [true], inner: { path: 1 }, number: 2 };
    const canonical = { path: "ab", other: "cd", list: [true], inner: { path: 1 }, number: 2 };
    expect(bound.prepare(args)).toEqual({ args: canonical, repaired: [] });
    expect(() => bound.prepare({ ...args, other: "c" })).toThrow(/other/);
    expect(() => bound.prepare({ ...args, number: "c" })).toThrow(/number/);
  });

  test("the parameters of a kind are those of all its tools, though the first gives the kind its name", async () => {
    const patch = defineTool({
      id: "patch",
      kind: "edit",
      description: "Or ${{ params.edit.old }}, ${{ params.edit.diff }}.",
      input: Type.Object({ diff: Type.String() }),
      run: () => "",
    });
    const set = await builder()
      .tool(patch)
      .build({ tools: [{ id: "read" }, { id: "patch" }, ...config.tools.slice(1)] });
    expect(set.toolForKind("edit")).toBe("patch");
    expect([set.paramForKind("edit", "old"), set.paramForKind("edit", "diff")]).toEqual(["find", "diff"]);
    expect(set.get("patch")?.definition).toMatchObject({ definition: { description: "Or find, diff." } });
  });

  test("the tool itself is not changed", async () => {
    await builder().build(config);
    expect(edit.definition()).toMatchObject({ definition: { name: "edit", arguments: { required: ["path", "old"] } } });
    expect((await callTool(edit, { path: "p", old: "o" })).text).toBe("p/o/old");
  });

  test("whatever the names, the tool gets its own", async () => {
    const name = fc
      .stringMatching(/^[a-zA-Z_]{1,8}$/)
      .filter((text) => !["path", "old", "count", "__proto__"].includes(text));
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(name, { minLength: 2, maxLength: 2 }),
        fc.string(),
        fc.string(),
        async ([a = "", b = ""], path, old) => {
          const set = await builder().build({
            tools: [{ id: "read" }, { id: "edit", paramsNameOverrides: { path: a, old: b } }],
          });
          const outcome = set.get("edit")?.prepare(JSON.stringify({ [a]: path, [b]: old }));
          expect(outcome).toEqual({ args: { path, old }, repaired: [] });
        },
      ),
      { numRuns: 40 },
    );
  });
});

test("schemas of arguments are whole objects without a name of their own", () => {
  const bare = bindTool(new FnTool("bare", "", { title: "Bare", description: "x" }, async () => ""));
  expect(bare.definition).toMatchObject({
    definition: { arguments: { type: "object", properties: {}, required: [] } },
  });
  expect(JSON.stringify(bare.definition)).not.toContain("Bare");
  expect(bare.prepare("").args).toEqual({});
});

test("a tool that is bound without a set shows no template markers", () => {
  expect(bindTool(edit).definition).toMatchObject({ definition: { description: "Edits what  has shown; give ." } });
});

describe("what a set may do", () => {
  const modes: CapabilityMode[] = ["readOnly", "readWrite", "execute", "all"];

  test("modes within modes", () => {
    for (const mode of modes) expect(isWithin(mode, mode)).toBe(true);
    expect(isWithin("readOnly", "execute")).toBe(true);
    expect(isWithin("readWrite", "execute")).toBe(false);
    expect(isWithin("execute", "readWrite")).toBe(false);
    expect(isWithin("all", "execute")).toBe(false);
  });

  const kinds: [CapabilityMode[], string][] = [
    [modes, "read listDir search lsp webSearch webFetch memorySearch askUser plan skill searchTool goalUpdate"],
    [["readWrite", "all"], "edit write delete move imageGen videoGen imageToVideo referenceToVideo deployApp"],
    [["execute", "all"], "execute backgroundTaskAction waitTasksAction killTaskAction task monitor workflow"],
    [["readWrite", "execute", "all"], "useTool"],
    [["all"], "other somethingNew toString"],
  ];
  test.each(kinds)("in %j are tools of the kinds %s", (wanted, names) => {
    for (const kind of names.split(" ")) {
      expect(modes.filter((mode) => allows(mode, { kind })).map((mode) => `${kind} ${mode}`)).toEqual(
        wanted.map((mode) => `${kind} ${mode}`),
      );
    }
  });

  test("a tool whose kind says nothing is as it says itself; no other is", () => {
    const reading = (kind: string) => ({ kind, capabilities: { readOnly: true } });
    for (const kind of ["other", "somethingNew"]) expect(modes.every((mode) => allows(mode, reading(kind)))).toBe(true);
    expect(modes.filter((mode) => allows(mode, reading("execute")))).toEqual(["execute", "all"]);
  });

  test("a tool from elsewhere that only reads, by its own word, may be in a set that only reads", async () => {
    const far = (name: string, readOnly?: boolean) =>
      externalTool({
        server: "far",
        name,
        description: "",
        capabilities: { readOnly },
        call: async () => ({ content: [] }),
      });
    const set = await new ToolSetBuilder()
      .tools([read, far("look", true), far("act")])
      .build({ tools: [], capability: "readOnly" });
    expect(set.names()).toEqual(["read", "far__look"]);
    const registry = set.registry();
    registry.register(far("see", true));
    expect(() => registry.register(far("do"))).toThrow(expect.objectContaining({ kind: "permissionDenied" }));
    expect(registry.names({ external: true })).toEqual(["far__look", "far__see"]);
  });

  test("what is left out is named, and so is what cannot be without it", async () => {
    const output = defineTool({
      id: "output",
      kind: "read",
      description: "",
      input: Type.Object({}),
      requires: { kind: "execute" },
      run: () => "",
    });
    const set = await builder().tool(output).build({ tools: [], capability: "readWrite" });
    expect(set.names()).toEqual(["read", "edit"]);
    expect(set.warnings.map(({ tool, message }) => `${tool} ${message}`)).toEqual([
      expect.stringMatching(/^os:shell .*execute/),
      expect.stringMatching(/^user:kill .*other/),
      expect.stringMatching(/^user:output .*needs/),
    ]);
  });
});

test("sources are merged: baseline before external before remote", () => {
  const { config, warnings } = mergeConfigs(
    {
      baseline: { tools: [{ id: "files:read" }], capability: "readWrite", behaviorPreset: "old" },
      external: [{ id: "external:read", nameOverride: "read" }, { id: "x:edit", kind: "edit" }, { id: "x:new" }],
      remote: [
        { id: "x:edit", kind: "edit" },
        { id: "files:read" },
        { id: "hub:edit", kind: "edit" },
        { id: "hub:write", kind: "write" },
      ],
    },
    (id) => (id === "files:read" ? { id: "read", kind: "read" } : undefined),
  );
  expect(config).toEqual({
    tools: [
      { id: "files:read", kind: "read" },
      { id: "x:edit", kind: "edit" },
      { id: "hub:write", kind: "write" },
    ],
    capability: "readWrite",
    behaviorPreset: "old",
  });
  expect(warnings.map(({ tool, category }) => `${tool} ${category}`)).toEqual([
    "external:read shadowed",
    "x:new pruned",
    "x:edit shadowed",
    "files:read shadowed",
    "hub:edit shadowed",
  ]);
});

test("an own entry without a kind has its tool's, and is left out by it", async () => {
  const known = { id: "edit", kind: "edit" };
  const { config } = mergeConfigs({ baseline: { tools: [{ id: "files:edit" }], capability: "readOnly" } }, () => known);
  expect(config.tools).toEqual([{ id: "files:edit", kind: "edit" }]);
  const set = await builder().build({ ...config, tools: [{ id: "files:read" }, ...config.tools] });
  expect(set.names()).toEqual(["read"]);
  expect(set.warnings).toMatchObject([{ tool: "files:edit", category: "pruned" }]);
});

describe("requirements", () => {
  const tools: RequiredTool[] = [{ id: "a:one", kind: "read", params: { x: { y: [1] } }, inputs: ["path"] }];
  test.each<[Requirement, boolean]>([
    [true, true],
    [false, false],
    [{ all: [] }, true],
    [{ any: [] }, false],
    [{ not: false }, true],
    [{ tool: "a:one" }, true],
    [{ tool: "one" }, true],
    [{ tool: "b:one" }, false],
    [{ kind: "read", params: { x: { y: [1] } } }, true],
    [{ kind: "read", params: { x: { y: [2] } } }, false],
    [{ not: { kind: "read", params: { nope: 1 } } }, true],
    [{ kindHasParam: { kind: "read", param: "path" } }, true],
    [{ kindHasParam: { kind: "read", param: "file" } }, false],
    [{ ifParams: { own: 1 }, then: true }, true],
    [{ ifParams: { own: 1 }, then: false }, false],
    [{ ifParams: { own: 2 }, then: false }, true],
    [{ any: [{ kind: "edit" }, { all: [{ kind: "read" }, { not: { kind: "edit" } }] }] }, true],
  ])("%j is %s", (requirement, met) => {
    expect(isMet(requirement, tools, { own: 1 })).toBe(met);
  });
});
