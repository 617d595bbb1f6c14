import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Gate, ScriptedServer } from "@shedkit/testing";
import { chromium } from "playwright-core";
import { describe, expect, it } from "vitest";
import { Program, run, temporaryFolder } from "../test/program.js";

const browserPath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (place) => place !== undefined && existsSync(place),
);

if (browserPath === undefined) {
  console.log("Skipped: there is no Chromium. Install one (apt-get install chromium), or name one in CHROMIUM.");
}

describe.skipIf(browserPath === undefined)("a session in the browser", () => {
  it("goes through a task with a real edit, and on in the terminal, while the page follows", async () => {
    await using folder = await temporaryFolder();
    const root = path.join(folder.path, "project");
    await mkdir(root);
    await writeFile(path.join(root, "config.ini"), "[server]\nport = 8080\n");
    const gate = new Gate();
    const edit = { path: "config.ini", old_string: "port = 8080", new_string: "port = 9090" };
    const model = await ScriptedServer.start([
      { answer: [{ call: "shed", arguments: { description: "read and edit a file" } }] },
      { answer: [{ call: "read", arguments: { path: "config.ini" } }] },
      { answer: [{ call: "edit", arguments: edit }] },
      { answer: ["The port is **9090**", { wait: gate }, " now."] },
      { answer: "From the terminal: it is 9090." },
    ]);
    const env = { OPENAI_BASE_URL: `${model.url}/v1`, ANSWERME_MODEL: "openai:scripted" };
    const home = folder.path;
    const program = new Program(["serve", "--port", "0", "--root", root], { home, env });
    await program.says(/token=\S+\n/, "stdout");

    const browser = await chromium.launch({ executablePath: browserPath as string, args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(program.output.trim());
      await page.getByLabel("Ask something").fill("Set the port to 9090");
      await page.keyboard.press("Enter");
      const approval = page.getByRole("group", { name: "May edit run?" });
      await approval.waitFor();
      expect(await readFile(path.join(root, "config.ini"), "utf8")).toContain("8080"); // not before it is allowed
      await approval.getByRole("button", { name: "Allow once" }).click();
      await page.locator("article strong", { hasText: "9090" }).waitFor();
      expect(await readFile(path.join(root, "config.ini"), "utf8")).toBe("[server]\nport = 9090\n");
      gate.open();
      await page.getByRole("button", { name: "Send" }).waitFor();

      // The session is let go of some time after the last answer; until then the terminal is told that it is busy.
      for (;;) {
        const { code, stdout, stderr } = await run(["--root", root, "--continue", "And now?"], { home, env });
        if (code === 0) {
          expect(stdout).toBe("From the terminal: it is 9090.\n");
          break;
        }
        expect(stderr).toContain("busy");
      }
      await page.getByRole("article", { name: "Answer" }).getByText("From the terminal: it is 9090.").waitFor();
    } finally {
      await browser.close();
    }
    program.child.kill("SIGINT");
    expect((await program.ended).code).toBe(0);
    await model.close();
  });
});
