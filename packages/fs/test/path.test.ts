import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FsError, isFsError, joinPath, nameOf, parentOf, resolvePath } from "../src/index.js";

const posix = (path: string) => resolvePath(path, { roots: ["/home/me/project", "/real/project"] });
const windows = (path: string) => resolvePath(path, { roots: ["C:/Work/Project"], windows: true });

function reason(work: () => string): string {
  try {
    return `gave ${work()}`;
  } catch (error) {
    if (!isFsError(error)) throw error;
    return error.reason;
  }
}

describe("resolvePath", () => {
  it("cleans a path and makes it relative", () => {
    expect(posix("")).toBe(".");
    expect(posix(".")).toBe(".");
    expect(posix("./a//b/../c/")).toBe("a/c");
    expect(posix("/home/me/project")).toBe(".");
    expect(posix("/home/me/project/a")).toBe("a");
    expect(posix("/real/project/./a")).toBe("a");
    expect(posix("../project/a")).toBe("a");
    expect(posix("...")).toBe("...");
  });

  it("refuses what is outside by its text", () => {
    for (const path of [
      "..",
      "../projects",
      "/",
      "/home/me/project2",
      "/home/me/projec",
      "a/../../..",
      "~/../../x/../..",
    ]) {
      expect([path, reason(() => posix(path))]).toEqual([path, "outside"]);
    }
    for (const path of ["C:\\x", "c:/x", "\\\\server\\share"]) {
      expect([path, reason(() => posix(path))]).toEqual([path, "outside"]);
    }
  });

  it("names the folder and what to do", () => {
    expect(() => posix("../x")).toThrow(
      '"../x" is outside the folder /home/me/project. Only paths inside /home/me/project can be used; write them relative',
    );
  });

  it("knows what Windows makes of a name", () => {
    expect(windows("src\\a.ts")).toBe("src/a.ts");
    expect(windows("c:\\work\\PROJECT\\a.ts")).toBe("a.ts");
    for (const path of ["D:\\x", "C:x", "\\\\server\\share\\x", "\\\\?\\C:\\x", "/x", "..\\x"]) {
      expect([path, reason(() => windows(path))]).toEqual([path, "outside"]);
    }
    for (const path of ["con", "NUL.txt", "a/com1", "a.txt:stream", "a.", "a ", "b?", "lpt9.x", 'a"b']) {
      expect([path, reason(() => windows(path))]).toEqual([path, "invalidPath"]);
    }
    expect(windows("console/null.txt")).toBe("console/null.txt");
  });

  it("never gives a path that leads above the root, and is settled after one pass", () => {
    const part = fc.constantFrom("..", ".", "", "a", "b c", "ü", "work", "project", "~", "\\");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, absolute) => {
        const path = (absolute ? "/home/me/project/" : "") + parts.join("/");
        let out: string;
        try {
          out = posix(path);
        } catch (error) {
          expect(error).toBeInstanceOf(FsError);
          return;
        }
        expect(out.startsWith("/")).toBe(false);
        expect(out.split("/")).not.toContain("..");
        expect(posix(out)).toBe(out);
      }),
    );
  });
});

describe("the parts of a path", () => {
  it("come apart and together", () => {
    expect([parentOf("a/b/c"), nameOf("a/b/c")]).toEqual(["a/b", "c"]);
    expect([parentOf("a"), nameOf("a")]).toEqual([".", "a"]);
    expect([joinPath(".", "a"), joinPath("a", "b")]).toEqual(["a", "a/b"]);
  });
});
