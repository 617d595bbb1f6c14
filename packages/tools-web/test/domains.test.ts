import { callTool, paramsOf, Resources } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { refusalOf } from "../src/domains.js";
import { type WebClient, webFetchTool } from "../src/index.js";

const allowed = (url: string, ...allowedDomains: string[]) => refusalOf(new URL(url), { allowedDomains }) === undefined;
const denied = (url: string, ...deniedDomains: string[]) => refusalOf(new URL(url), { deniedDomains }) !== undefined;

/** A client that answers by path: a redirection where one stands, else a page. Notes what it was asked for. */
function client(redirections: { readonly [url: string]: string }) {
  const asked: string[] = [];
  const get: WebClient["get"] = async (url) => {
    asked.push(url.href);
    const location = redirections[url.href];
    const headers = location === undefined ? { "content-type": "text/plain" } : { location };
    return { status: location === undefined ? 200 : 302, headers, body: Buffer.from("a page"), truncated: false };
  };
  return { asked, get };
}

describe("the sites that web_fetch may read", () => {
  it("are all, unless some are named; none, where the list is empty", () => {
    expect(refusalOf(new URL("https://a.b/"), {})).toBeUndefined();
    expect(allowed("https://a.b/")).toBe(false);
  });

  it("are hosts with what is below them, or paths at whole parts", () => {
    for (const url of [
      "https://nodejs.org/",
      "https://www.nodejs.org/",
      "https://docs.nodejs.org/x",
      "https://NODEJS.org./",
    ]) {
      expect(allowed(url, "nodejs.org")).toBe(true);
    }
    expect(allowed("https://nodejs.org/", "https://www.NodeJS.org/")).toBe(true);
    expect(allowed("https://bücher.example/", "bücher.example")).toBe(true);
    for (const url of ["https://evilnodejs.org/", "https://nodejs.org.evil.com/", "https://evil.com/nodejs.org"]) {
      expect(allowed(url, "nodejs.org")).toBe(false);
    }
    expect(allowed("https://github.com/nodejs", "github.com/nodejs/")).toBe(true);
    expect(allowed("https://github.com/nodejs/node?x=/y", "github.com/nodejs")).toBe(true);
    expect(allowed("https://github.com/nodejsx", "github.com/nodejs")).toBe(false);
    expect(allowed("https://github.com/", "github.com/nodejs")).toBe(false);
  });

  it("cannot be left, nor denied ones reached, by how a path is written", () => {
    for (const path of [
      "nodejs/../x",
      "nodejs/%2e%2e/x",
      "nodejs/..%2fx",
      "nodejs/..%5cx",
      "nodejs/%252e%252e%252fx",
      "nodejs\\..\\x",
    ]) {
      expect(allowed(`https://github.com/${path}`, "github.com/nodejs")).toBe(false);
    }
    const forms = [
      "secret",
      "%73ecret",
      "secret/x",
      "a/../secret",
      "/secret",
      "a%2f..%2fsecret",
      "%2573ecret",
      "%73ecret/%zz",
    ];
    for (const path of forms) expect(denied(`https://a.b/${path}`, "a.b/secret")).toBe(true);
    expect(denied("https://a.b/secrets", "a.b/secret")).toBe(false);
  });

  it("are looked at on every hop, before it is asked for", async () => {
    const inside = client({
      "https://a.b/ok": "/ok/2",
      "https://a.b/ok/2": "/private/3",
      "https://a.b/ok/away": "https://evil.com/",
      "https://a.b/ok/down": "http://a.b/private",
    });
    const tool = webFetchTool(inside, { allowedDomains: ["a.b", "c.d"], deniedDomains: ["a.b/private"] });
    const fetch = (url: string) => callTool(tool, { url });
    await expect(fetch("https://evil.com/")).rejects.toMatchObject({
      kind: "permissionDenied",
      message: "evil.com/ is not among the sites that may be read here: a.b, c.d.",
    });
    await expect(fetch("https://a.b/ok")).rejects.toMatchObject({
      kind: "permissionDenied",
      message: "a.b/private/3 must not be read here: a.b/private is denied.",
    });
    await expect(fetch("https://a.b/ok/away")).rejects.toMatchObject({ kind: "permissionDenied" });
    await expect(fetch("https://a.b/ok/down")).rejects.toMatchObject({ kind: "permissionDenied" });
    expect(inside.asked).toEqual(["https://a.b/ok", "https://a.b/ok/2", "https://a.b/ok/away", "https://a.b/ok/down"]);
  });

  it("are looked at for pages that were kept, too", async () => {
    const web = client({ "https://a.b/ok": "/private" });
    const tool = webFetchTool(web);
    const run = (params: object) => {
      const resources = new Resources();
      resources.insert(paramsOf("web:web_fetch"), { ...(tool.metadata.params?.defaults as object), ...params });
      return callTool(tool, { url: "https://a.b/ok" }, { resources });
    };
    expect((await run({})).text).toContain("a page");
    await expect(run({ deniedDomains: ["a.b/private"] })).rejects.toMatchObject({ kind: "permissionDenied" });
  });

  it("are named as hosts: what is none is refused when the tool is set up", () => {
    const check = webFetchTool(client({})).metadata.params?.check;
    const faults = check?.({
      allowedDomains: ["a.b", "", "x y", "a.b:8080", "u@a.b", "a.b?x"],
      deniedDomains: ["[", "*.a.b"],
    });
    expect(faults?.map(({ field }) => field)).toEqual([
      "allowedDomains[1]",
      "allowedDomains[2]",
      "allowedDomains[3]",
      "allowedDomains[4]",
      "allowedDomains[5]",
      "deniedDomains[0]",
    ]);
  });
});
