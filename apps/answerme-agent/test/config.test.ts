import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { loadSettings } from "../src/config.js";
import { servicesText } from "../src/services.js";
import { temporaryFolder } from "./program.js";

/** A project and a home, with these configuration files. */
async function folders(files: { project?: string; user?: string }) {
  const folder = await temporaryFolder();
  const [root, home] = [path.join(folder.path, "project"), path.join(folder.path, "home")];
  await mkdir(root);
  await mkdir(path.join(home, ".config", "answerme"), { recursive: true });
  if (files.project !== undefined) await writeFile(path.join(root, "answerme.json"), files.project);
  if (files.user !== undefined) await writeFile(path.join(home, ".config", "answerme", "answerme.json"), files.user);
  return {
    root,
    load: (env = {}, flags = {}) => loadSettings({ flags, env, root, home }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe("settings", () => {
  it("have defaults", async () => {
    await using f = await folders({});
    expect(await f.load()).toEqual({
      model: { value: null, from: "default" },
      permission: { value: "ask", from: "default" },
      permissions: { value: {}, from: "default" },
      maxSteps: { value: null, from: "default" },
      keepSessions: { value: true, from: "default" },
      tools: { value: {}, from: "default" },
      toolSet: { value: null, from: "default" },
      services: { value: {}, from: "default" },
      mcpServers: { value: [], from: "default" },
    });
  });

  it("come from the command line, the environment, the project, the user, in that order", async () => {
    await using f = await folders({ project: '{\n  "model": "p/p"\n}', user: '{"model": "u/u", "maxSteps": 7}' });
    const flags = { model: { value: "f/f", from: "--model" } };
    expect((await f.load({ ANSWERME_MODEL: "e/e" }, flags)).model).toEqual({ value: "f/f", from: "--model" });
    expect((await f.load({ ANSWERME_MODEL: "e/e" })).model).toEqual({ value: "e/e", from: "ANSWERME_MODEL" });
    const { model, maxSteps } = await f.load();
    expect(model).toEqual({ value: "p/p", from: `${f.root}/answerme.json:2` });
    expect(maxSteps.value).toBe(7);
    expect(maxSteps.from).toMatch(/home\/.config\/answerme\/answerme.json:1$/);
  });

  it.each([
    [
      '{\n  "modle": "x"\n}',
      /answerme\.json:2: there is no setting "modle"; there are model, permission, permissions, maxSteps, keepSessions, tools, toolSet, services, mcpServers$/,
    ],
    ['{\n\n  "maxSteps": 0\n}', /answerme\.json:3: "maxSteps" is 0; wanted: a whole number from 1 to 1000/],
    ['{"model": ""}', /answerme\.json:1: "model" is ""; wanted: a Hugging Face/],
    ['{\n  "model": "x"\n  "maxSteps": 3\n}', /answerme\.json:3: not valid JSON/],
    [
      '{\n  "tools": {\n    "shel": false\n  }\n}',
      /answerme\.json:3: "tools\.shel" is false; wanted: only files, changes/,
    ],
    ['{"tools": {"shell": "no"}}', /answerme\.json:1: "tools\.shell" is "no"; wanted: true or false/],
    ['{\n  "toolSet": {\n "tools": "read" }\n}', /answerme\.json:3: "toolSet\.tools" is "read"; wanted: /],
    ['{\n  "toolSet": {"tools": []},\n  "tools": 3\n}', /answerme\.json:3: "tools" is 3; wanted: an object/],
    [
      '{\n"permissions": {\n"deny": ["Bash(rm"]}}',
      /answerme\.json:3: "permissions\.deny" is "Bash\(rm"; wanted: Tool or Tool/,
    ],
    ['{"permissions": {"deny": [7]}}', /"permissions\.deny" is 7; wanted: a text such as/],
    ['{"permissions": {"allow": "Bash"}}', /"permissions\.allow" is "Bash"; wanted: a list of rules/],
    ['{"permissions": {"alow": []}}', /"permissions\.alow" is \[\]; wanted: only allow, ask, deny/],
    ['{"permissions": []}', /"permissions" is \[\]; wanted: an object/],
    ['{"mcpServers": []}', /answerme\.json:1: "mcpServers" is \[\]; wanted: servers by name/],
    ["", /answerme\.json:1: not valid JSON/],
    ["[]", /answerme\.json:1: wanted an object/],
    ['{"__proto__": {"model": "x"}}', /there is no setting "__proto__"/],
  ])("%j is refused by file, line and field", async (project, message) => {
    await using f = await folders({ project });
    const error: Error = await f.load().then(
      () => expect.fail("accepted"),
      (e: Error) => e,
    );
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("\n");
  });

  it("of a project cannot permit changes, only forbid them", async () => {
    await using allowing = await folders({ project: '{"permission": "allow"}' });
    await expect(allowing.load()).rejects.toThrow(/answerme\.json:1: "permission": "allow" does not count/);
    await using forbidding = await folders({ project: '{"permission": "readOnly"}', user: '{"permission": "allow"}' });
    expect((await forbidding.load()).permission.value).toBe("readOnly");
  });

  it("of tools and MCP servers come from both files; what one switches off stays off", async () => {
    await using f = await folders({
      project: '{"tools": {"shell": true},\n"mcpServers": {"b": {"command": "p"}, "c": {"command": "p"}}}',
      user: '{"tools": {"shell": false},\n\n"mcpServers": {"a": {"command": "u"}, "b": {"command": "u"}}}',
    });
    const { tools, mcpServers } = await f.load();
    expect(tools.value).toEqual({ shell: false });
    const all = mcpServers.value.map(({ name, config, inProject }) => [name, config, inProject]);
    expect(all).toEqual([
      ["a", { command: "u" }, false],
      ["b", { command: "p" }, true],
      ["c", { command: "p" }, true],
    ]);
    expect(mcpServers.value.map(({ from }) => from.split(":").at(-1))).toEqual(["3", "2", "2"]);
  });

  it.each([
    ['{\n"services": []}', /:2: "services" is \[\]; wanted: an object/],
    ['{"services": {\n"music": {}}}', /:2: "services\.music" is \{\}; wanted: only search, images, videos/],
    ['{"services": {"search":\n{}}}', /"services\.search\.baseUrl" is not there; wanted: a URL/],
    ['{"services": {"search": {"baseUrl": "localhost"}}}', /"services\.search\.baseUrl" is "not that"; wanted: a URL/],
    [
      '{"services": {"images": {"baseUrl": "http://a", "key": "sk-1"}}}',
      /images\.key" is "not that"; wanted: only baseUrl/,
    ],
    ['{"services": {"videos": {"baseUrl": "http://a", "body": "xml"}}}', /wanted: "form" or "json"/],
  ])("of services are checked, and no key is told: %s", async (user, message) => {
    await using f = await folders({ user });
    const error = await f.load().catch((fault: Error) => fault);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toContain("sk-1");
  });

  it("of services count in a person's own file alone: a project must not say where keys go", async () => {
    const services = { images: { baseUrl: "http://a", apiKey: "sk-1" } };
    await using f = await folders({ user: JSON.stringify({ services }) });
    expect((await f.load()).services.value).toEqual(services);
    expect(servicesText(services)).toBe('{"images":{"baseUrl":"http://a","apiKey":"..."}}');
    await using other = await folders({ project: JSON.stringify({ services }) });
    await expect(other.load()).rejects.toThrow(/"services" does not count in a project's file/);
  });

  it("of rules come from both files; a project cannot allow, only ask and deny", async () => {
    await using f = await folders({
      project: '{"permissions": {"deny": ["Read(.env)"], "allow": []}}',
      user: '{"permissions": {"deny": ["Bash(rm:*)"], "allow": ["Bash(npm test)"]}}',
    });
    expect((await f.load()).permissions.value).toEqual({
      allow: ["Bash(npm test)"],
      deny: ["Bash(rm:*)", "Read(.env)"],
    });
    await using allowing = await folders({ project: '{"permissions": {\n"allow": ["Bash"]}}' });
    await expect(allowing.load()).rejects.toThrow(/answerme\.json:2: "permissions\.allow" does not count/);
  });

  it("of the environment are checked too", async () => {
    await using f = await folders({});
    await expect(f.load({ ANSWERME_MAX_STEPS: "many" })).rejects.toThrow(/ANSWERME_MAX_STEPS is "many"; wanted/);
    expect((await f.load({ ANSWERME_MAX_STEPS: "12" })).maxSteps.value).toBe(12);
    expect((await f.load({ ANSWERME_KEEP_SESSIONS: "0" })).keepSessions.value).toBe(false);
    await expect(f.load({ ANSWERME_KEEP_SESSIONS: "no" })).rejects.toThrow(/wanted: true or false/);
    expect((await f.load({ ANSWERME_MODEL: "" })).model.from).toBe("default");
  });

  it("are described to editors by a schema that names the same ones", async () => {
    await using f = await folders({});
    const schema = JSON.parse(await readFile(new URL("../answerme.schema.json", import.meta.url), "utf8"));
    expect(Object.keys(schema.properties)).toEqual(["$schema", ...Object.keys(await f.load())]);
  });
});
