import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { Program, temporaryFolder, tour } from "./program.js";

/** A hub that takes requests and never answers: a download that hangs. */
async function silentHub() {
  let onAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const server = createServer(() => onAsked());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The process that a program tries the addon of llama.cpp in, once it is there. */
async function probeOf(program: Program): Promise<number> {
  const { pid } = program.child;
  for (;;) {
    if (program.child.exitCode !== null) throw new Error("ended without trying the addon");
    for (const child of read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean)) {
      if (read(`/proc/${child}/cmdline`).includes("testBindingBinary")) return Number(child);
    }
    await new Promise(setImmediate);
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // the process is gone
  }
}

describe("ctrl-C", () => {
  it.runIf(process.platform === "linux")("stops a model that is being loaded, and says nothing else", async () => {
    await using folder = await temporaryFolder();
    const program = new Program(["--root", tour, "What is the port in config.ini?"], { home: folder.path });
    const probe = await probeOf(program);
    // A terminal sends it to every process of the program.
    program.child.kill("SIGINT");
    process.kill(probe, "SIGINT");
    const { code, stdout, stderr } = await program.ended;
    expect(stderr).toMatch(/^Model: shed-demo, [^\n]+\nstopped\n$/);
    expect(stdout).toBe("");
    expect(code).toBe(130);
  });

  it("stops a turn that waits for a download, at once", async () => {
    await using folder = await temporaryFolder();
    await using hub = await silentHub();
    const program = new Program(["--root", tour, "--model", "owner/repo", "Why?"], {
      home: folder.path,
      env: { HF_ENDPOINT: hub.url },
    });
    await hub.asked;
    program.child.kill("SIGINT");
    const { code, stderr } = await program.ended;
    expect(code).toBe(130);
    expect(stderr).toContain("stopped\n");
    expect(stderr).not.toMatch(/answerme-agent: |^\s+at /m);
  });

  it("ends the program where it waits for a question", async () => {
    await using folder = await temporaryFolder();
    const program = new Program([], { home: folder.path, openStdin: true });
    await program.says("Reading the question from standard input");
    program.child.kill("SIGINT");
    expect((await program.ended).code).toBe(130);
  });
});

describe("a reader that leaves early", () => {
  it("ends the program without a complaint", async () => {
    await using folder = await temporaryFolder();
    const program = new Program(["--root", tour, "What is the port in config.ini?"], { home: folder.path });
    program.child.stdout?.destroy();
    const { stderr } = await program.ended;
    expect(stderr).not.toMatch(/EPIPE|^\s+at /m);
  });
});
