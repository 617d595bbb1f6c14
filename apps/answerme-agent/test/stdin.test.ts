import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { readAll, readBeside } from "../src/stdin.js";

/** A stream that gives these pieces, and then ends or stays open. */
function stream(pieces: readonly (string | Buffer)[], open = false): PassThrough {
  const input = new PassThrough();
  for (const piece of pieces) input.write(piece);
  if (!open) input.end();
  return input;
}

const never = () => {
  throw new Error("gave up");
};

describe("standard input", () => {
  it("is read to its end", async () => {
    expect(await readAll(stream([" one", "\ntwo \n"]), never)).toBe("one\ntwo");
    expect(await readAll(stream([]), never)).toBe("");
  });

  it("may be cut inside a character", async () => {
    const euro = Buffer.from("€");
    expect(await readAll(stream([euro.subarray(0, 1), euro.subarray(1)]), never)).toBe("€");
  });

  it("is waited for, and that is said once", async () => {
    const input = stream([], true);
    let waited = 0;
    const text = await readAll(
      input,
      () => {
        waited++;
        input.end("late");
      },
      1,
    );
    expect([text, waited]).toEqual(["late", 1]);
  });
});

describe("standard input beside a question", () => {
  it("is read to its end once something came", async () => {
    expect(await readBeside(stream(["a log\n"]), never)).toBe("a log");
    expect(await readBeside(stream([]), never)).toBe("");
  });

  it("is left where nothing comes", async () => {
    const input = stream([], true);
    let gaveUp = 0;
    expect(await readBeside(input, () => gaveUp++, 1)).toBe("");
    expect(gaveUp).toBe(1);
    expect(input.destroyed).toBe(true);
  });
});
