import { MemoryDocumentStore } from "@shedkit/store";
import { Gate, ScriptedProvider } from "@shedkit/testing";
import { type Message, Messages, newId, newSessionId, type SessionRecord } from "@shedkit/types";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { asking, echoTool } from "../test/helpers.js";
import { ask, browserPath, closeBrowser, servePage, type VisitOptions, visit } from "./browser.js";
import { askingTool, filesTools } from "./tools.js";

afterAll(closeBrowser);

const changesAsk = {
  decide: async (call: { capabilities: { readOnly: boolean } }) =>
    call.capabilities.readOnly ? ("allow" as const) : ("ask" as const),
};

const usage = (n: number) => ({
  ...{ input: 90 * n, output: 12 * n, cacheRead: 200 * n, cacheWrite: 0, reasoning: 0, total: 302 * n },
  costUsd: 0.01 * n,
});

/** A question with a search, a read, an edit that asks, and an answer in Markdown. */
function wholeTask(gate: Gate): ScriptedProvider {
  return new ScriptedProvider(
    [
      {
        parts: [{ thinking: "A tool." }, { call: "shed", arguments: { description: "read a file" } }],
        usage: usage(1),
      },
      { parts: [{ call: "read", arguments: { path: "config.ini" } }], usage: usage(2) },
      {
        parts: [
          "I will change it.",
          { call: "edit", arguments: { path: "config.ini", old_string: "port = 8080", new_string: "port = 9090" } },
        ],
        usage: usage(3),
      },
      {
        parts: [
          "# Done\n\nThe port is **9090**",
          { wait: gate },
          " now:\n\n| key | value |\n|---|---|\n| port | 9090 |",
        ],
      },
      "Again.",
    ] as never,
    { chunkSize: 5 },
  );
}

const files = { "config.ini": "[server]\nport = 8080\n" };

async function noViolations(page: Page): Promise<void> {
  await page.evaluate(axe.source); // by the debugger's way in: the page's own policy would not let it
  const found = await page.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }
    ).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`);
  });
  expect(found).toEqual([]);
}

/** What a page has that a test looks with. */
interface PageGlobals {
  redrawn: number;
  document: { querySelectorAll(selector: string): Iterable<object> };
  MutationObserver: new (
    told: (changes: readonly object[]) => void,
  ) => { observe(target: object, options: { [what: string]: boolean }): void };
}

function answerOf(text: string): Message {
  const of = { id: newId(), turnId: newId(), stepId: newId() };
  return { type: "assistant", ...of, model: "m", output: { type: "text", text } };
}

const answers = (page: Page) => page.getByRole("article", { name: "Answer" });

describe.skipIf(browserPath === undefined)("the page", () => {
  it("shows how far a model on this machine has read the conversation", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([[{ evaluating: 64, total: 128 }, { wait: gate }, "All of it is read."]]);
    const { page } = await visit(await servePage(provider));
    await ask(page, "Read this");
    const bar = page.getByRole("progressbar", { name: "reading the conversation" });
    await bar.waitFor();
    expect(await bar.getAttribute("value")).toBe("0.5");
    await noViolations(page);
    gate.open();
    await answers(page).getByText("All of it is read.").waitFor();
    expect(await bar.count()).toBe(0);
  });

  it("goes through a whole task: search, read, an edit that is approved, a streamed answer", async () => {
    const gate = new Gate();
    const server = await servePage(wholeTask(gate), {
      ...{ tools: filesTools(files), permissions: changesAsk, pinned: false },
    });
    const { page } = await visit(server);
    expect(page.url()).not.toContain("token");
    await ask(page, "Set the port to 9090");
    const approval = page.getByRole("group", { name: "May edit run?" });
    await approval.waitFor();
    const edit = page.locator(".call", { hasText: "edit" });
    expect(await edit.locator(".diff").textContent()).toMatch(/- port = 8080\s+\+ port = 9090/);
    await approval.getByRole("button", { name: "Allow once" }).click();
    await gate.reached;
    await page.locator("article strong", { hasText: "9090" }).waitFor(); // formatted while it is written
    gate.open();
    await page.getByRole("cell", { name: "9090" }).waitFor();

    // The calls are folded, with arguments and results at hand.
    const read = page.locator(".call", { hasText: "read" }).filter({ hasText: "config.ini" }).first();
    expect(await read.locator(".result").isVisible()).toBe(false);
    await read.locator("summary").click();
    expect(await read.locator(".result").textContent()).toContain("port = 8080");

    // The shed: what the model was given, and what its search found.
    const panel = page.getByRole("complementary");
    const search = panel.locator(".searches li").first();
    expect(await search.textContent()).toContain("read a file");
    await search.locator("summary").click();
    await search.locator("meter").first().waitFor();
    expect(await search.locator(".hits li").first().textContent()).toMatch(/read ✓/);

    // The log and the cost.
    await panel.getByRole("tab", { name: "Log" }).click();
    const newest = panel.locator(".log li").first();
    expect(await newest.textContent()).toContain("summary");
    await newest.locator("summary").click();
    expect(await newest.locator("pre").textContent()).toContain('"messageCount"');
    await page.keyboard.press("Escape");
    await panel.getByRole("tab", { name: "Cost" }).click();
    await panel.getByRole("img").waitFor();
    expect(await panel.locator(".totals").textContent()).toContain("$0.06");
    expect(await panel.locator("rect").count()).toBe(3);
  });

  it("can be used by keyboard alone, and denies with a reason", async () => {
    const provider = new ScriptedProvider([[{ call: "echo", arguments: { text: "x" } }], "As you wish."]);
    const server = await servePage(provider, { tools: [echoTool()], permissions: asking });
    const { page } = await visit(server);
    let go = () => {};
    const written = new Promise<void>((resolve) => {
      go = resolve;
    });
    await page.route("**/api/sessions", (route) => written.then(() => route.continue()));
    await page.keyboard.press("Alt+n");
    await page.keyboard.type("Echo x");
    await page.keyboard.press("Enter"); // faster than the session is made
    go();
    await page.getByRole("group", { name: "May echo run?" }).waitFor();
    await page.keyboard.press("Alt+a");
    for (let i = 0; i < 2; i++) await page.keyboard.press("Tab");
    await page.keyboard.type("not now");
    await page.keyboard.press("Enter");
    await answers(page).getByText("As you wish.").waitFor();
    expect(await page.locator(".call.failed").textContent()).toContain("echo");
    const told = JSON.stringify(provider.requests[1]?.messages);
    expect(told).toContain("the user said: not now");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("message"); // the focus went on
    await page.keyboard.press("Alt+k");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("status").getByText("As you wish").waitFor(); // a screen reader is told
  });

  it("asks the questions of a call, each with its options, and agrees to a plan", async () => {
    const questions = [
      { question: "Which port?", options: [{ label: "8080" }, { label: "9090", description: "the new one" }] },
      { question: "Which files?", options: [{ label: "main" }, { label: "tests" }], multi_select: true },
      { question: "What name?" },
      { question: "Anything else?" },
    ];
    const provider = new ScriptedProvider([
      [{ call: "ask_user", arguments: { questions } }],
      [{ call: "exit_plan", arguments: { plan: "First look, then leap." } }],
      "Thanks.",
    ]);
    const server = await servePage(provider, { tools: [askingTool("ask_user"), askingTool("exit_plan")] });
    const { page } = await visit(server);
    await ask(page, "Set it up");
    await page.getByRole("group", { name: "Which port?" }).waitFor();
    await noViolations(page);
    await page.keyboard.press("Alt+a");
    await page.keyboard.press("Space"); // the first option has the focus
    await page.getByLabel("9090 the new one").check();
    await page.getByLabel("tests").check();
    await page.getByLabel("In your own words: Which files?").fill("and docs");
    await page.getByLabel("In your own words: What name?").fill("Anna");
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    const plan = page.getByRole("group", { name: "Do you agree to exit_plan?" });
    await plan.waitFor();
    await page.getByText("First look, then leap.").last().waitFor();
    expect(await plan.getByRole("button").allTextContents()).toEqual(["Yes", "No"]);
    await plan.getByRole("button", { name: "Yes" }).click();
    await answers(page).getByText("Thanks.").waitFor();
    const told = provider.requests[1]?.messages.find(({ type }) => type === "toolResult");
    expect(JSON.stringify(told)).toContain(
      JSON.stringify('answered: ["9090",["tests","and docs"],"Anna",null]').slice(1, -1),
    );
  });

  it("steers and stops while the model works", async () => {
    const gate = new Gate();
    const later = new Gate();
    const provider = new ScriptedProvider([
      ["Let me ", { wait: gate }],
      ["Blue, and ", { wait: later }],
    ]);
    const server = await servePage(provider);
    const { page } = await visit(server);
    await ask(page, "Colour?");
    await answers(page).getByText("Let me").waitFor();
    await ask(page, "Be short");
    await answers(page).getByText("Blue, and").waitFor();
    expect(await page.getByText("Let me").count()).toBe(0); // it was taken back
    await page.getByText("Be short").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Stopped.").waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
  });

  it("shows one session in two browsers, and goes on after a reload in the middle of an answer", async () => {
    const gate = new Gate();
    const server = await servePage(new ScriptedProvider([["One, two, ", { wait: gate }, "three."], "Four."]));
    const { page: first } = await visit(server);
    await ask(first, "Count");
    await answers(first).getByText("One, two,").waitFor();
    const { page: second } = await visit(server);
    await second.goto(first.url());
    await answers(second).getByText("One, two,").waitFor();
    await first.reload();
    await answers(first).getByText("One, two,").waitFor();
    gate.open();
    for (const page of [first, second]) {
      await answers(page).getByText("One, two, three.", { exact: true }).waitFor();
      expect(await page.getByText("One, two,").count()).toBeLessThanOrEqual(2); // the answer, and what is announced
    }
    await second.getByRole("button", { name: "Send" }).waitFor();
    await ask(second, "And?");
    for (const page of [first, second]) await answers(page).getByText("Four.", { exact: true }).waitFor();
  });

  it("goes on when the server was started again with its token", async () => {
    const first = await servePage(new ScriptedProvider(["Before."]));
    const { page } = await visit(first);
    await ask(page, "Hi");
    await answers(page).getByText("Before.", { exact: true }).waitFor();
    await first.close();
    await page.getByText(/Not connected/).waitFor();
    const { docStore, port } = first;
    await servePage(new ScriptedProvider(["After."]), { docStore, port });
    await page.getByText(/Not connected/).waitFor({ state: "detached" });
    await ask(page, "Still there?");
    await answers(page).getByText("After.", { exact: true }).waitFor();
    expect(await answers(page).getByText("Before.", { exact: true }).count()).toBe(1);
  });

  it("keeps up with a long session", async () => {
    const docStore = new MemoryDocumentStore();
    const session = newSessionId();
    const lease = await docStore.acquire(session);
    const said: SessionRecord[] = [];
    for (let i = 0; i < 2000; i++) {
      const message =
        i % 2 === 0 ? Messages.user(`Question ${i}`) : answerOf(`Answer **${i}** with a [link](https://a.b)`);
      said.push({ id: newId(), v: 1, at: Date.now(), type: "conversation", message });
    }
    await docStore.append(lease, said);
    await lease.release();
    const long = `${"word ".repeat(400)}the end`;
    const server = await servePage(new ScriptedProvider([long], { chunkSize: 5 }), { docStore });
    const { page } = await visit(server);
    await page.goto(`${server.url}/#/s/${session}`);
    await answers(page).getByText("Answer 1999 with a link", { exact: true }).waitFor();
    expect(await answers(page).count()).toBeLessThan(1000); // the newest; the earlier ones on demand
    while (await page.getByRole("button", { name: "Show what was said earlier" }).isVisible()) {
      const before = await page.getByRole("article").count();
      await page.getByRole("button", { name: "Show what was said earlier" }).click();
      await expect.poll(() => page.getByRole("article").count(), { timeout: 60_000 }).toBeGreaterThan(before);
    }
    expect(await answers(page).count()).toBe(1000);
    // An answer of 400 pieces behind them draws itself alone: no article before it is made again.
    await page.evaluate(() => {
      const page = globalThis as unknown as PageGlobals;
      page.redrawn = 0;
      const articles = page.document.querySelectorAll("article");
      const watch = new page.MutationObserver((changes) => {
        page.redrawn += changes.length;
      });
      for (const article of articles) watch.observe(article, { childList: true, characterData: true, subtree: true });
    });
    await ask(page, "Much");
    await answers(page).getByText("the end", { exact: false }).waitFor();
    await expect.poll(() => answers(page).count(), { timeout: 60_000 }).toBe(1001);
    expect(await page.evaluate(() => (globalThis as unknown as PageGlobals).redrawn)).toBe(0);
  });

  it("takes what models and tools write for text, never for a page", async () => {
    const evil = [
      "<img src=x onerror=alert(1)> <script>alert(2)</script>",
      "[click](javascript:alert(3)) ![pixel](https://evil.example/pixel.png) <https://ok.example/>",
      "<iframe src=https://evil.example></iframe>",
    ].join("\n\n");
    const provider = new ScriptedProvider([[{ call: "echo", arguments: { text: evil } }], evil]);
    const server = await servePage(provider, { tools: [echoTool()] });
    const { page } = await visit(server);
    await ask(page, evil);
    await answers(page).getByText("onerror=alert(1)").waitFor();
    await page.locator(".call summary").click();
    await page.locator(".result").getByText("onerror").waitFor();
    expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
    const links = await answers(page)
      .locator("a")
      .evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    expect(links).toEqual(["https://ok.example/"]);
  });

  it("lists, searches, renames, forks and deletes sessions, and changes the model", async () => {
    const server = await servePage(new ScriptedProvider(["About harbours.", "About ships.", "From the copy."]));
    const { page } = await visit(server);
    const list = page.getByRole("navigation", { name: "Sessions" });
    await ask(page, "Tell me of harbours");
    await list.getByText("Tell me of harbours").waitFor();
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByText("What would you like to know?").waitFor();
    await ask(page, "Tell me of ships");
    await list.getByText("Tell me of ships").waitFor();
    await page.keyboard.press("Alt+s");
    await page.keyboard.type("harbours");
    await list.getByText("Tell me of ships").waitFor({ state: "detached" });
    await list.getByText("Tell me of harbours").click();
    await answers(page).getByText("About harbours.").waitFor();
    await page.getByLabel("Search the sessions").fill("");

    const menu = page.locator(".menu summary");
    await menu.click();
    await page.getByRole("button", { name: "Rename" }).click();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("Harbours of the north");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Harbours of the north" }).waitFor();
    await list.getByText("Harbours of the north").waitFor();

    await menu.click();
    await page.getByRole("button", { name: "Fork" }).click();
    await page.getByText("This is a copy of another session.").waitFor();
    await page.getByLabel("Model", { exact: true }).selectOption("other");
    await ask(page, "And now?");
    await answers(page).getByText("From the copy.").waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();

    await menu.click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete for ever" }).click();
    await answers(page).getByText("From the copy.").waitFor({ state: "detached" });
    const { items } = await server.json<{ items: { title: string }[] }>("GET", "/api/sessions");
    expect(items.map(({ title }) => title).sort()).toEqual(["Harbours of the north", "Tell me of ships"]);
  });

  it("sends files along, and shows images that are in the log", async () => {
    const provider = new ScriptedProvider(["A dot."]);
    const server = await servePage(provider);
    const { page } = await visit(server);
    const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNg+M9QDwADgQGAwl3N+wAAAABJRU5ErkJggg==";
    await page.locator("input[type=file]").setInputFiles([
      { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(dot, "base64") },
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("notes") },
    ]);
    await page.getByRole("list", { name: "Attached files" }).getByText("notes.txt").waitFor();
    await ask(page, "What is this?");
    await answers(page).getByText("A dot.").waitFor();
    await page.getByRole("img", { name: "dot.png" }).waitFor();
    expect(await page.getByRole("article", { name: "You" }).textContent()).toContain("notes.txt");
    expect(JSON.stringify(provider.requests[0]?.messages)).toContain(dot);
  });

  it("reads a long answer the same in pieces as whole", async () => {
    const gate = new Gate();
    const parts = [
      "# One\r\n\r\nText *with*",
      " marks.\n\n- a\n\n  more of a\n- b\n\n```\ncode",
      "\n\n# no heading\n```\n\n| a |\n|---|\n| 1 |\n\nEnd",
    ];
    const server = await servePage(new ScriptedProvider([[...parts, { wait: gate }, "."]], { chunkSize: 2 }));
    const { page } = await visit(server);
    await ask(page, "Write");
    await answers(page).getByText("End", { exact: true }).waitFor();
    const growing = await answers(page).locator(".prose").innerHTML();
    gate.open();
    await answers(page).getByText("End.", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
    const whole = await answers(page).locator(".prose").innerHTML();
    expect(whole).toBe(growing.replace("End<", "End.<"));
    expect(whole).toContain("# no heading");
  });

  it("asks for the token where it has none, and says what is wrong", async () => {
    const server = await servePage(new ScriptedProvider([]));
    const { page, context } = await visit(server);
    await context.clearCookies();
    await page.reload();
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("not right").waitFor();
    await noViolations(page);
  });

  const looks = [
    ["light", {}],
    ["dark", { scheme: "dark" }],
    ["narrow", { width: 380 }],
  ] as const satisfies [string, VisitOptions][];
  it.each(looks)("has no barrier that axe finds, also in the middle of an approval: %s", async (_, look) => {
    const gate = new Gate();
    const server = await servePage(wholeTask(gate), {
      ...{ tools: filesTools(files), permissions: changesAsk, pinned: false },
    });
    const options: VisitOptions = look;
    const { page } = await visit(server, options);
    await noViolations(page);
    await ask(page, "Set the port to 9090");
    await page.getByRole("group", { name: "May edit run?" }).waitFor();
    await noViolations(page);
    await page.getByRole("button", { name: "Allow once" }).click();
    gate.open();
    await page.getByRole("cell", { name: "9090" }).waitFor();
    for (const summary of await page.locator(".column summary").all()) await summary.click();
    await noViolations(page);
    if (options.width) {
      const overflows = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      expect(overflows).toBe(false);
      await page.getByRole("button", { name: "Sessions" }).click();
      await noViolations(page);
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Panel" }).click();
    }
    for (const tab of ["Log", "Cost", "Shed"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("tabpanel").getByRole("heading").first().waitFor();
      await noViolations(page);
    }
  });
});
