import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { hubSettingsFromEnv } from "../src/index.js";
import { tempFolder } from "./support/hub.js";

const cacheOf = (env: Record<string, string>) => hubSettingsFromEnv(env, "/home/me").cacheDir;
const tokenOf = (env: Record<string, string>, home = "/home/me") => {
  const { token } = hubSettingsFromEnv(env, home);
  return typeof token === "object" ? token.reveal() : token;
};

test("the cache folder is where Hugging Face's own tools have it", () => {
  expect(cacheOf({})).toBe("/home/me/.cache/huggingface/hub");
  expect(cacheOf({ XDG_CACHE_HOME: "/xdg" })).toBe("/xdg/huggingface/hub");
  expect(cacheOf({ XDG_CACHE_HOME: "/xdg", HF_HOME: "/hf" })).toBe("/hf/hub");
  expect(cacheOf({ HF_HOME: "/hf", HUGGINGFACE_HUB_CACHE: "/old" })).toBe("/old");
  expect(cacheOf({ HUGGINGFACE_HUB_CACHE: "/old", HF_HUB_CACHE: "/cache" })).toBe("/cache");
  expect(cacheOf({ HF_HUB_CACHE: "~/models" })).toBe("/home/me/models");
  expect(cacheOf({ HF_HUB_CACHE: "" })).toBe("/home/me/.cache/huggingface/hub");
});

test("the token comes from the variable, else from the file of the command line tool", async () => {
  const home = await tempFolder();
  expect(tokenOf({}, home)).toBeUndefined();
  await mkdir(join(home, ".cache/huggingface"), { recursive: true });
  await writeFile(join(home, ".cache/huggingface/token"), "hf_file\n");
  expect(tokenOf({}, home)).toBe("hf_file");
  expect(tokenOf({ HF_TOKEN: " hf_variable " }, home)).toBe("hf_variable");
  await writeFile(join(home, "elsewhere"), "hf_other");
  expect(tokenOf({ HF_TOKEN_PATH: join(home, "elsewhere") }, home)).toBe("hf_other");
});

test("the token does not print or serialise", () => {
  const settings = hubSettingsFromEnv({ HF_TOKEN: "hf_secret" }, "/home/me");
  for (const text of [
    JSON.stringify(settings),
    inspect(settings, { depth: 9 }),
    String(settings.token),
    `${settings.token}`,
  ]) {
    expect(text).not.toContain("hf_secret");
    expect(text === "[object Object]" || text.includes("[secret]")).toBe(true);
  }
});

test("the endpoint, and offline in every spelling of yes", () => {
  expect(hubSettingsFromEnv({ HF_ENDPOINT: "http://mirror" }, "/").endpoint).toBe("http://mirror");
  for (const yes of ["1", "true", "YES", "on"])
    expect(hubSettingsFromEnv({ HF_HUB_OFFLINE: yes }, "/").offline).toBe(true);
  for (const no of ["0", "false", "", "no"])
    expect(hubSettingsFromEnv({ HF_HUB_OFFLINE: no }, "/").offline).toBe(false);
  expect(hubSettingsFromEnv({}, "/")).toMatchObject({ offline: false });
});
