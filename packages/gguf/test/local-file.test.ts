import { copyFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkGgufFile, resolveModel } from "../src/index.js";
import { ggufBytes, modelKeys, type WrittenTensor } from "./support/gguf-bytes.js";
import { failureOf, model, tempFolder } from "./support/hub.js";

const tensors: WrittenTensor[] = [{ name: "token_embd.weight", shape: [64, 16] }];

async function written(name: string, bytes: Uint8Array | string): Promise<string> {
  const path = join(await tempFolder(), name);
  await writeFile(path, bytes);
  return path;
}

test("a whole model is found by its path, relative to home too", async () => {
  const home = await tempFolder();
  await writeFile(join(home, "m.gguf"), model());
  const expected = { path: join(home, "m.gguf"), files: [join(home, "m.gguf")], bytes: model().length, source: "file" };
  expect(await resolveModel(join(home, "m.gguf"))).toMatchObject(expected);
  expect(await resolveModel("~/m.gguf", { home })).toMatchObject(expected);
});

test("a link to a model is a model", async () => {
  const path = await written("blob", model());
  await symlink(path, `${path}.gguf`);
  expect((await checkGgufFile(`${path}.gguf`)).bytes).toBe(model().length);
});

test("a missing file", async () => {
  const path = join(await tempFolder(), "none.gguf");
  const { code, problem, message } = await failureOf(resolveModel(path));
  expect({ code, problem }).toEqual({ code: "provider", problem: "fileNotFound" });
  expect(message).toContain(path);
});

test("a path through a file", async () => {
  const path = join(await written("m.gguf", model()), "x.gguf");
  expect((await failureOf(resolveModel(path))).problem).toBe("fileNotFound");
});

test("a folder: its models are named", async () => {
  const folder = await tempFolder();
  expect((await failureOf(resolveModel(`${folder}/`))).message).toMatch(/is a folder; there is no \.gguf file in it/);
  await writeFile(join(folder, "a.gguf"), "");
  await mkdir(join(folder, "b"));
  const { problem, message } = await failureOf(resolveModel(`${folder}/`));
  expect(problem).toBe("isDirectory");
  expect(message).toMatch(/a\.gguf/);
});

test.each([
  ["an empty file", "", /it is empty/],
  ["a web page", "<!DOCTYPE html><html>", /web page/],
  ["a Git LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n", /Git LFS pointer/],
  ["the format before GGUF", "tjgg\0\0\0\0", /before GGUF/],
  ["an archive", "PK\u0003\u0004", /zip archive/],
  ["safetensors", '\x40\0\0\0\0\0\0\0{"weight":{}}', /safetensors/],
  ["anything else", "hello", /does not begin with "GGUF"/],
])("%s says what it is", async (_, content, what) => {
  const { problem, message } = await failureOf(resolveModel(await written("m.gguf", Buffer.from(content, "latin1"))));
  expect(problem).toBe("notGguf");
  expect(message).toMatch(what);
});

test("weights that end too early", async () => {
  const bytes = ggufBytes({ metadata: modelKeys("llama"), tensors });
  const { problem, message } = await failureOf(resolveModel(await written("m.gguf", bytes.subarray(0, -1))));
  expect(problem).toBe("truncated");
  expect(message).toMatch(new RegExp(`${bytes.length - 1} bytes of at least ${bytes.length}`));
});

test.each([
  ["an adapter", { "general.type": "adapter" }, /LoRA adapter/],
  ["an importance matrix", { "general.type": "imatrix" }, /importance matrix/],
])("%s is no model", async (_, keys, what) => {
  const path = await written("m.gguf", ggufBytes({ metadata: modelKeys("llama", keys), tensors }));
  expect(await failureOf(resolveModel(path))).toMatchObject({
    problem: "notAModel",
    message: expect.stringMatching(what),
  });
});

test("a projector for images is no model, nor is a header without weights", async () => {
  const projector = await written("m.gguf", ggufBytes({ metadata: modelKeys("clip"), tensors }));
  expect((await failureOf(resolveModel(projector))).message).toMatch(/projector for images/);
  const bare = await written("m.gguf", ggufBytes({ metadata: modelKeys("llama") }));
  expect((await failureOf(resolveModel(bare))).message).toMatch(/holds no weights/);
});

async function splitModel(): Promise<string[]> {
  const folder = await tempFolder();
  const paths: string[] = [];
  for (let index = 0; index < 3; index++) {
    const metadata = { ...(index === 0 ? modelKeys("llama") : {}), "split.no": index, "split.count": 3 };
    const path = join(folder, `m-Q8_0-0000${index + 1}-of-00003.gguf`);
    await writeFile(
      path,
      ggufBytes({ metadata, tensors: index === 0 ? [] : [{ name: `blk.${index}.w`, shape: [32] }] }),
    );
    paths.push(path);
  }
  return paths;
}

test("a split model is found by any of its parts, and loaded by the first", async () => {
  const paths = await splitModel();
  for (const path of paths) expect(await resolveModel(path)).toMatchObject({ path: paths[0], files: paths });
});

test("a missing part is named", async () => {
  const [first = "", second = ""] = await splitModel();
  const folder = await tempFolder();
  await copyFile(first, join(folder, "m-Q8_0-00001-of-00003.gguf"));
  const alone = await failureOf(resolveModel(join(folder, "m-Q8_0-00001-of-00003.gguf")));
  expect(alone).toMatchObject({
    problem: "missingShard",
    message: expect.stringContaining("m-Q8_0-00002-of-00003.gguf"),
  });
  await copyFile(second, join(folder, "renamed.gguf"));
  const renamed = await failureOf(resolveModel(join(folder, "renamed.gguf")));
  expect(renamed).toMatchObject({ problem: "missingShard", message: expect.stringContaining("3 parts") });
});
