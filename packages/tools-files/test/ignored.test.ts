import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { applyPatchTool, deleteTool, editTool, multiEditTool, readTool, writeTool } from "../src/index.js";
import { content, failed, memoryFs, realFs, said } from "./helpers.js";

const FILES = {
  ".gitignore": "secret/\n*.env\n!kept.env\n",
  "a.env": "key\n",
  "kept.env": "key\n",
  "secret/deep/f": "key\n",
  "sub/.gitignore": "/g\n",
  "sub/g": "key\n",
  "sub/deep/g": "key\n",
};
const only = { gitignore: true };
const edit = (path: string) => ({ path, old_string: "key", new_string: "new" });

describe("files that a .gitignore names", () => {
  it("are read and changed like others unless told otherwise", async () => {
    const fs = memoryFs(FILES);
    expect(await said(readTool(fs), { path: "a.env" })).toContain("key");
    expect(await said(editTool(fs), edit("secret/deep/f"))).toContain("1 replacement");
  });

  it("are left alone where the setting says so, by every tool that reads or changes text", async () => {
    const fs = memoryFs(FILES);
    for (const path of ["a.env", "secret/deep/f", "sub/g"]) {
      const texts = [
        await failed(readTool(fs, only), { path }),
        await failed(editTool(fs, only), edit(path)),
        await failed(writeTool(fs, only), { path, content: "new" }),
        await failed(multiEditTool(fs, only), { edits: [edit(path)] }),
        await failed(applyPatchTool(fs, only), {
          patch: `*** Begin Patch\n*** Update File: ${path}\n@@\n-key\n+new\n*** End Patch`,
        }),
      ];
      for (const text of texts) expect(text).toContain("is left alone here: a .gitignore file names");
      expect(await content(fs, path)).toBe("key\n");
    }
    for (const path of ["kept.env", "sub/deep/g"]) {
      expect(await said(editTool(fs, only), edit(path))).toContain("1 replacement");
    }
  });

  it("are not deleted with a folder that is too deep to be looked through", async () => {
    const deep = Array.from({ length: 110 }, () => "d").join("/");
    const fs = memoryFs({ [`${deep}/.gitignore`]: "*.env\n", [`${deep}/a.env`]: "key" });
    const call = { path: "d", recursive: true };
    expect(await failed(deleteTool(fs, only), call)).toMatch(
      /is too deep, or too much is beside it.*Take it in parts\.$/,
    );
    expect(await content(fs, `${deep}/a.env`)).toBe("key");
    expect(await said(deleteTool(fs), call)).toBe('Deleted the folder "d".');
  });

  it("are not made either, nor reached through links", async () => {
    const fs = await realFs();
    for (const [path, text] of Object.entries(FILES)) {
      await fs.mkdir(join(path, ".."), { recursive: true });
      await fs.writeFile(path, text);
    }
    await symlink("secret/deep", join(fs.root, "link"));
    await symlink("a.env", join(fs.root, "plain"));
    const made = { old_string: "", new_string: "x" };
    for (const path of ["b.env", "secret/new", "link/new", "link/new/deep"]) {
      expect(await failed(writeTool(fs, only), { path, content: "x" })).toContain("left alone");
      expect(await failed(editTool(fs, only), { path, ...made })).toContain("left alone");
      const patch = `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`;
      expect(await failed(applyPatchTool(fs, only), { patch })).toContain("left alone");
    }
    for (const path of ["link/f", "plain"]) expect(await failed(readTool(fs, only), { path })).toContain("left alone");
    const move = "*** Begin Patch\n*** Update File: kept.env\n*** Move to: b.env\n@@\n-key\n+new\n*** End Patch";
    expect(await failed(applyPatchTool(fs, only), { patch: move })).toContain("left alone");
    expect(await content(fs, "kept.env")).toBe("key\n");
  });
});
