import { isIP } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { callTool, Resources } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { webFetchTool } from "../src/index.js";
import { markdownOf } from "../src/markdown.js";
import { NodeWebClient } from "../src/node.js";
import { server } from "./helpers.js";

const local = () => new NodeWebClient({ allowLocal: true });
const alive = new AbortController().signal;
const html = (body: string) => `<!doctype html><title>A  page</title><body>${body}</body>`;

describe("web_fetch", () => {
  it("gives a page as Markdown, without what nobody reads", async () => {
    const url = await server((_, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(
        html(
          "<nav>Menu</nav><h1>Hé</h1><script>evil()</script><!-- <p>hidden</p> --><p>A <b>bold</b> <a href='/x'>link</a>, " +
            "<a href='javascript:alert(1)'>none</a><img src='data:image/png;base64,AAAA' alt='a dot'></p>" +
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table><pre><code>x = 1\n</code></pre>",
        ),
      );
    });
    const { text } = await callTool(webFetchTool(local()), { url: `${url}/dir/page#part` });
    expect(text).toBe(
      `A page\n${url}/dir/page\n\n# Hé\n\nA **bold** [link](${url}/x), nonea dot\n\n| a | b |\n| --- | --- |\n| 1 | 2\\|3 |` +
        "\n\n```\nx = 1\n```",
    );
  });

  it("gives other text as it is, in its own encoding, and refuses what is none", async () => {
    const url = await server(({ url: path }, response) => {
      if (path === "/json") response.setHeader("content-type", "application/json").end('{"a": 1}');
      else if (path === "/latin")
        response.setHeader("content-type", "text/plain; charset=iso-8859-1").end(Buffer.from([0xe9]));
      else if (path === "/odd") response.setHeader("content-type", "text/plain; charset=nope").end("é");
      else response.setHeader("content-type", "image/png").end(Buffer.from([1, 2]));
    });
    const fetch = async (path: string) => callTool(webFetchTool(local()), { url: url + path });
    expect((await fetch("/json")).text).toBe(`${url}/json\n\n{"a": 1}`);
    expect((await fetch("/latin")).text).toBe(`${url}/latin\n\né`);
    expect((await fetch("/odd")).text).toBe(`${url}/odd\n\né`);
    expect((await fetch("/image")).text).toBe(`${url}/image is no text (image/png, 2 bytes). Only text can be shown.`);
  });

  it("shows a long page in parts, all of it the same page", async () => {
    let asked = 0;
    const url = await server((_, response) => {
      asked++;
      response
        .setHeader("content-type", "text/plain")
        .end(Array.from({ length: 100 }, (_, i) => `line ${i}`).join("\n"));
    });
    const tool = webFetchTool(local(), { maxChars: 300 });
    const resources = new Resources();
    let whole = "";
    let offset = 0;
    for (let i = 0; i < 10; i++) {
      const { output, text } = await callTool(tool, { url, offset }, { resources });
      const part = (output as { content: string }).content;
      whole += part;
      offset += part.length;
      if (!text.includes("Go on with offset")) break;
      expect(text).toContain(`Go on with offset ${offset}.]`);
    }
    expect(whole.split("\n")).toHaveLength(100);
    expect(asked).toBe(1);
    const past = await callTool(tool, { url, offset: 9999 }, { resources });
    expect(past.errorDetail).toBe("past the end");
  });

  it("follows redirections on the same host only", async () => {
    const url = await server(({ url: path }, response) => {
      response.statusCode = 302;
      if (path === "/a") response.setHeader("location", "/b").end();
      else if (path === "/away") response.setHeader("location", "https://example.com/x").end();
      else if (path === "/file") response.setHeader("location", "file:///etc/passwd").end();
      else if (path === "/loop") response.setHeader("location", "/loop").end();
      else response.writeHead(200, { "content-type": "text/plain" }).end("there");
    });
    const fetch = async (path: string) => callTool(webFetchTool(local()), { url: url + path });
    expect((await fetch("/a")).text).toBe(`${url}/b\n\nthere`);
    expect((await fetch("/away")).text).toBe(
      `${url}/away leads to another host: https://example.com/x\nIf you want that page, fetch it by this URL.`,
    );
    expect((await fetch("/file")).errorDetail).toBe("no URL");
    expect((await fetch("/loop")).errorDetail).toBe("too many redirections");
  });

  it("says what a server answers that has no page", async () => {
    const url = await server((_, response) =>
      response.writeHead(404, { "content-type": "text/html" }).end("<p>Gone</p>"),
    );
    expect((await callTool(webFetchTool(local()), { url })).text).toBe(
      `${url}/ answered with HTTP 404.\nIt says: Gone`,
    );
  });

  it("unpacks what is packed, and no more than it may", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, "a"));
    const url = await server(({ url: path }, response) => {
      response.setHeader("content-type", "text/plain");
      if (path === "/br") response.setHeader("content-encoding", "br").end(brotliCompressSync("packed"));
      else if (path === "/broken") response.setHeader("content-encoding", "gzip").end("not packed");
      else response.setHeader("content-encoding", "gzip").end(bomb);
    });
    const tool = webFetchTool(local(), { maxBytes: 100_000 });
    expect((await callTool(tool, { url: `${url}/br` })).text).toBe(`${url}/br\n\npacked`);
    const cut = await callTool(tool, { url: `${url}/bomb` });
    expect(cut.output).toMatchObject({ total: 100_000 });
    expect(cut.text).toContain("[The page is longer than what was loaded.]");
    await expect(callTool(tool, { url: `${url}/broken` })).rejects.toMatchObject({ kind: "network" });
  });

  it("stops when its time is up, and when it is cancelled", async () => {
    const url = await server((_, response) => response.writeHead(200).write("begun"));
    const slow = await callTool(webFetchTool(local(), { timeoutMs: 100 }), { url });
    expect(slow.text).toBe(`${url}/ did not answer within 0.1 s.`);
    const controller = new AbortController();
    const call = callTool(webFetchTool(local()), { url }, { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ kind: "cancelled" });
  });

  it.each([
    "http://127.0.0.1/",
    "http://localhost/",
    "http://a.localhost/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://10.1.2.3/",
    "http://192.168.0.1/",
    "http://172.20.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://100.100.100.200/",
    "http://0.0.0.0/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://198.51.100.1/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fd00::1]/",
    "http://[ff02::1]/",
    "http://①②⑦.0.0.1/",
  ])("does not reach %s", async (url) => {
    const call = callTool(webFetchTool(new NodeWebClient()), { url });
    await expect(call).rejects.toMatchObject({ kind: "permissionDenied" });
  });

  it("reaches this machine only by its own names, where that is allowed", async () => {
    for (const url of [
      "http://10.0.0.1/",
      "http://0.0.0.0/",
      "http://[::ffff:127.0.0.1]/",
      "http://169.254.169.254/",
    ]) {
      await expect(callTool(webFetchTool(local()), { url })).rejects.toMatchObject({ kind: "permissionDenied" });
    }
  });

  it("looks at the addresses that a name stands for", async () => {
    const url = new URL(await server((_, response) => response.end("inside")));
    url.hostname = "changes.example";
    const options = { headers: {}, maxBytes: 10, signal: new AbortController().signal };
    for (const inside of [["127.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["::1"], ["fe80::1%eth0"], []]) {
      const client = new NodeWebClient({
        allowLocal: true,
        lookup: (_name, _options, done) =>
          done(
            null,
            inside.map((address) => ({ address, family: isIP(address) })),
          ),
      });
      await expect(client.get(url, options)).rejects.toMatchObject({ kind: "permissionDenied" });
    }
    const client = local();
    const evil = client.get(new URL("http://127.evil.invalid/"), {
      headers: {},
      maxBytes: 1,
      signal: AbortSignal.timeout(20_000),
    });
    await expect(evil).rejects.toMatchObject({ kind: "network" });
  });

  it.each([
    "ftp://a.b/",
    "file:///etc/passwd",
    "x",
    "",
    "https://user:pass@a.b/",
    "https://intranet/",
    `https://a.b/${"x".repeat(2000)}`,
  ])("refuses %j", async (url) => {
    const result = await callTool(webFetchTool(local()), { url });
    expect(result.errorDetail).toBeDefined();
  });

  it("asks for HTTPS where it was asked for plain HTTP", async () => {
    const asked: string[] = [];
    const client = {
      get: async (url: URL) => {
        asked.push(url.href);
        return { status: 200, headers: {}, body: new Uint8Array(), truncated: false };
      },
    };
    expect((await callTool(webFetchTool(client), { url: "http://example.com/a" })).text).toBe(
      "https://example.com/a\n\n(The page has no text.)",
    );
    expect(asked).toEqual(["https://example.com/a"]);
  });

  it("comes to an end with hostile pages", async () => {
    const pieces = [
      ...["<div>", "<b>", "<table><tr><td>", "<a href='x'>", "<ul><li>", "<p><i>", "<svg>", "<pre><b>&nbsp;"],
      // What a look at the tags alone would take for shallow.
      ...["<div></x>", "<blockquote a='</blockquote>'>", "<ul><textarea></ul></textarea>", "<li><!x </li>", '<b =">">'],
      ...["<!--", "<", "<title", "<script>", "<a b='", "&nbsp;", "&emsp;&#160;"],
    ];
    const base = new URL("https://a.b/");
    for (const piece of pieces) {
      const { text } = await markdownOf(piece.repeat(40_000 / piece.length), base, alive);
      expect(text.length).toBeLessThan(5_000_000);
    }
    const url = await server((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end(`<style>x</style>a${"<div>".repeat(1000)}b`);
    });
    expect((await callTool(webFetchTool(local()), { url })).text).toBe(`${url}/\n\na\n\nb`);
  }, 300_000);

  it.each([
    ["<form><p>a</p><input><button>no</button></form>", "a"],
    ["<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "-   a\n-   b\n    -   c\n-   d"],
    ["<ol start=3><li>a</li></ol>", "3.  a"],
    ["<p>a<p>b<div>c</div>d", "a\n\nb\n\nc\n\nd"],
    ["<table><tr><td>a<td>b<tr><td>c<td>d</table>e", "| a | b |\n| --- | --- |\n| c | d |\n\ne"],
    ["<pre><code class=language-js>a  b\n\n  c</code></pre>", "```js\na  b\n\n  c\n```"],
    ["a &lt;b&gt; &#60;c&#62; &amp;amp; &#x41;", "a <b> <c> &amp; A"],
    ["1 < 2 and <a href='/x?a=1&amp;b=\"2\"'>y</a>", "1 < 2 and [y](https://a.b/x?a=1&b=%222%22)"],
    ["<a href=x><h3>t</h3><div>d</div></a>e", "### [t](https://a.b/x)\n\nd\n\ne"],
    ["<div><div>a</div></div><li><div>b</div><div>c</div></li>", "a\n\n-   b\n    \n    c"],
    ["<a href='x>y'>z</a>", "[z](https://a.b/x%3Ey)"],
    ["<a href=javascript:x>a</a><script>b</script><template>c</template><nav>d</nav>", "a"],
    ["<b>a<p>b</b>c", "**a**\n\n**b**c"],
    ["<head><title>t</title><meta x></head><body>a</body>", "a"],
    ["<!-- a -->b<!-->c<!x>d<?y>e", "bcde"],
    ["<h2 id=x>a <em>b</em></h2><hr>c<br>d", "## a _b_\n\n* * *\n\nc  \nd"],
    ["</div></p></b>a", "a"],
    ["<p>half <b", "half"],
  ])("makes of %j: %j", async (page, expected) => {
    expect((await markdownOf(page, new URL("https://a.b/"), alive)).text).toBe(expected);
  });

  it("keeps all that a long page says, in its order", async () => {
    const words = Array.from({ length: 20_000 }, (_, i) => `w${i}`);
    for (const page of [words.map((w) => `<p>${w}</p>`), words.map((w) => `<li>${w}`), words]) {
      const { text } = await markdownOf(page.join(" "), new URL("https://a.b/"), alive);
      expect(text.match(/w\d+/g)).toEqual(words);
    }
  }, 120_000);

  it("is not taken in by what a body is called", async () => {
    const url = await server((_, response) => response.setHeader("content-type", "text/html").end("%PDF-1.7 text"));
    expect((await callTool(webFetchTool(local()), { url })).errorDetail).toBe("no text");
  });

  it("takes names of this machine for nothing else", async () => {
    const client = new NodeWebClient({
      allowLocal: true,
      lookup: (_name, _options, done) => done(null, [{ address: "10.0.0.1", family: 4 }]),
    });
    for (const url of ["http://a.localhost/", "http://localhost/"]) {
      await expect(callTool(webFetchTool(client), { url })).rejects.toMatchObject({ kind: "permissionDenied" });
    }
  });

  it("takes another name of a host for another host", async () => {
    const client = {
      get: async () => ({
        status: 301,
        headers: { location: "https://www.example.com/" },
        body: new Uint8Array(),
        truncated: false,
      }),
    };
    const { text, errorDetail } = await callTool(webFetchTool(client), { url: "https://example.com/" });
    expect(errorDetail).toBe("leads elsewhere");
    expect(text).toContain("https://www.example.com/");
  });

  it("says whom it will ask", () => {
    const { metadata } = webFetchTool(local());
    expect(metadata.access?.({ url: " https://example.com:8443/a " })).toEqual([
      { action: "network", target: "example.com:8443" },
    ]);
    expect(metadata.capabilities.readOnly).toBe(true);
  });
});
