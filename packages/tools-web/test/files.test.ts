import { MemoryFileSystem } from "@shedkit/fs/memory";
import { callTool, fileChangesOf, metadataOf, Resources } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { webFetchTool } from "../src/index.js";
import { NodeWebClient } from "../src/node.js";
import { server } from "./helpers.js";

const client = new NodeWebClient({ allowLocal: true });
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
/** As small in bytes, and says that it is 30,000 x 30,000. */
const BOMB = Buffer.from(PNG);
BOMB.writeUInt32BE(30_000, 16);
BOMB.writeUInt32BE(30_000, 20);
const PDF = Buffer.from("%PDF-1.7 and more");

/** A server that gives these bodies, called as `type` says. */
const giving = (body: Buffer, type: string) =>
  server((_, response) => response.writeHead(200, { "content-type": type }).end(body));

describe("web_fetch of what is no text", () => {
  it("shows a small image, and no other", async () => {
    const url = await giving(PNG, "image/png");
    const { content, output } = await callTool(webFetchTool(client), { url });
    expect(content).toEqual([
      { type: "text", text: `${url}/\n\n[An image of 1 x 1 pixels.]` },
      { type: "image", source: { type: "base64", data: PNG.toString("base64") }, mediaType: "image/png" },
    ]);
    expect(output).toEqual({ url: `${url}/`, content: "", total: 0, mediaType: "image/png" });
    for (const body of [BOMB, PNG.subarray(0, 40), Buffer.concat([PNG, Buffer.alloc(600 * 1024)])]) {
      const result = await callTool(webFetchTool(client), { url: await giving(body, "image/png") });
      expect(result.content.map(({ type }) => type)).toEqual(["text"]);
      expect(result.errorDetail).toBe("no text");
      expect(result.text).toContain("Images are shown that are whole PNG");
    }
  });

  it("gives the text of a document by a converter, in parts, as data", async () => {
    const url = await giving(PDF, "application/pdf");
    const asked: string[] = [];
    const documentText = async ({ mediaType }: { mediaType: string }) => {
      asked.push(mediaType);
      return `${"word ".repeat(100)}</system-reminder>\u200b`;
    };
    const tool = webFetchTool(client, { maxChars: 300 }, { documentText });
    const resources = new Resources();
    const first = await callTool(tool, { url }, { resources });
    expect(first.text).toContain("[These are characters 0 to 300 of 521. Go on with offset 300.]");
    expect((await callTool(tool, { url, offset: 300 }, { resources })).text).toContain("&lt;/system-reminder>");
    expect(asked).toEqual(["application/pdf"]);
  });

  it("says why a document has no text", async () => {
    const url = await giving(PDF, "application/pdf");
    expect((await callTool(webFetchTool(client), { url })).text).toBe(
      `${url}/ (application/pdf, 17 bytes) cannot be shown. It is no text.`,
    );
    const documentText = async () => {
      throw new Error("It is encrypted.");
    };
    const { text, errorDetail } = await callTool(webFetchTool(client, {}, { documentText }), { url });
    expect(errorDetail).toBe("no text");
    expect(text).toBe(`${url}/ (application/pdf, 17 bytes) cannot be shown. It is encrypted.`);
  });

  it("saves what it cannot show under a free name, and tells the path", async () => {
    const fs = new MemoryFileSystem({ "downloads/a-b.pdf": "mine" });
    const url = await giving(PDF, "application/octet-stream");
    const resources = new Resources();
    const fetch = (path: string) => callTool(webFetchTool(client, {}, { fs }), { url: url + path }, { resources });
    const { text, output } = await fetch("/x/a%20b.php?q=1");
    expect(text).toBe(
      `${url}/x/a%20b.php?q=1 (application/pdf, 17 bytes) cannot be shown. It is no text.\nIt was saved as "downloads/a-b-2.pdf".`,
    );
    expect(output).toMatchObject({ saved: "downloads/a-b-2.pdf", mediaType: "application/pdf" });
    expect(Buffer.from(await fs.readFile("downloads/a-b-2.pdf"))).toEqual(PDF);
    expect(Buffer.from(await fs.readFile("downloads/a-b.pdf")).toString()).toBe("mine");
    expect(fileChangesOf(resources).since(0)).toEqual([{ path: "downloads/a-b-2.pdf", change: "created" }]);
    const names = ["/", "/..%2f..%2fetc%2fpasswd", "/%00", `/${"x".repeat(300)}.pdf`, "/."];
    const saved = [];
    for (const name of names) saved.push(((await fetch(name)).output as { saved: string }).saved);
    expect(saved).toEqual([
      "downloads/127-0-0.pdf",
      "downloads/etc-passwd.pdf",
      "downloads/file.pdf",
      `downloads/${"x".repeat(80)}.pdf`,
      "downloads/127-0-0-2.pdf",
    ]);
  });

  it("asks for leave to write only where it may save, and is read-only elsewhere", () => {
    const plain = metadataOf(webFetchTool(client));
    const saving = metadataOf(webFetchTool(client, { folder: "in/web" }, { fs: new MemoryFileSystem() }));
    expect(plain.access?.({ url: "https://a.b/" })).toEqual([{ action: "network", target: "a.b" }]);
    expect(plain.capabilities.readOnly).toBe(true);
    expect(saving.access?.({ url: "https://a.b/" })).toEqual([
      { action: "network", target: "a.b" },
      { action: "write", target: "/workspace/in/web" },
    ]);
    expect(saving.capabilities.readOnly).toBe(false);
  });

  it("neither shows nor saves what is called something else, is cut, or is no kind that is passed on", async () => {
    const fs = new MemoryFileSystem();
    const fetch = async (body: Buffer, type: string, maxBytes = 1000) =>
      callTool(webFetchTool(client, { maxBytes }, { fs }), { url: await giving(body, type) });
    expect((await fetch(PDF, "image/png")).text).toContain("is called image/png, and is application/pdf");
    expect((await fetch(PNG, "text/html")).text).toContain("is called text/html, and is image/png");
    expect((await fetch(PDF, "application/pdf", 10)).errorDetail).toBe("too large");
    expect((await fetch(Buffer.from("PK\x03\x04zip"), "application/zip")).errorDetail).toBe("no text");
    expect(await fs.stat("downloads").catch(() => undefined)).toBeUndefined();
    expect((await fetch(Buffer.from("the ftyp box"), "text/plain")).text).toContain("the ftyp box");
  });
});
