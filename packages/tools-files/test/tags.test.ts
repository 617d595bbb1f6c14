import { Resources, wrapperTag } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { applyPatchTool, editTool, multiEditTool, writeTool } from "../src/index.js";
import { content, hosted, memoryFs } from "./helpers.js";

/** Runs a tool where results show the `<` of a tag as `&lt;`. */
function told(tool: Parameters<typeof hosted>[0], args: Parameters<typeof hosted>[1], tag = "system-reminder") {
  const resources = new Resources();
  resources.insert(wrapperTag, tag);
  return hosted(tool, args, { resources });
}

const TEXT = "one\n<system-reminder>two</ System-Reminder>\r\nthree\n";
const SHOWN = "&lt;system-reminder>two&lt;/ System-Reminder>";

describe("tags that are shown with &lt;", () => {
  it("are found by edit, and stay in the new text", async () => {
    const fs = memoryFs({ a: TEXT });
    const args = { path: "a", old_string: `one\n${SHOWN}`, new_string: `1\n${SHOWN}\n&lt;b>` };
    expect((await told(editTool(fs), args)).text).toBe('Edited "a": 1 replacement, line 1.');
    expect(await content(fs, "a")).toBe("1\n<system-reminder>two</ System-Reminder>\n&lt;b>\r\nthree\n");
  });

  it("are found by the settings of edit, and the tag of the session is the one that counts", async () => {
    const fs = memoryFs({ a: "if x:\n\t<hint>y</hint>\n", b: "<system-reminder>" });
    const args = {
      path: "a",
      old_string: "if x:\n  &lt;hint>y&lt;/hint>",
      new_string: "if z:\n  &lt;hint>y&lt;/hint>",
    };
    expect((await told(editTool(fs), args, "hint")).failed).toBe(false);
    expect(await content(fs, "a")).toBe("if z:\n\t<hint>y</hint>\n");
    const other = { path: "b", old_string: "&lt;system-reminder>", new_string: "c" };
    expect((await told(editTool(fs), other, "hint")).text).toContain("does not stand");
    expect((await hosted(editTool(fs), other)).text).toContain("does not stand");
  });

  it("are taken as they were given where they stand so, and are not put in the place of themselves", async () => {
    const fs = memoryFs({ a: `${SHOWN}\n${TEXT}` });
    const edit = editTool(fs);
    const args = { path: "a", old_string: SHOWN, new_string: "&lt;system-reminder>" };
    expect((await told(edit, args)).failed).toBe(false);
    expect(await content(fs, "a")).toBe(`&lt;system-reminder>\n${TEXT}`);
    const escaping = { path: "a", old_string: "<system-reminder>two", new_string: "&lt;system-reminder>two" };
    expect((await told(edit, escaping)).failed).toBe(false);
    expect(await content(fs, "a")).toContain("one\n&lt;system-reminder>two<");
    await fs.writeFile("b", TEXT);
    const back = { path: "b", old_string: "&lt;system-reminder>two", new_string: "<system-reminder>two" };
    expect((await told(edit, back)).text).toContain("The tag begins with < there already, which is shown as &lt;");
    expect(await content(fs, "b")).toBe(TEXT);
  });

  it("are found by multi_edit and apply_patch", async () => {
    const fs = memoryFs({ a: TEXT, b: `<system-reminder>\nx\n` });
    const edits = [{ path: "a", old_string: SHOWN, new_string: "&lt;system-reminder>2" }];
    expect((await told(multiEditTool(fs), { edits })).failed).toBe(false);
    expect(await content(fs, "a")).toBe("one\n<system-reminder>2\r\nthree\n");
    const patch = [
      ...["*** Begin Patch", "*** Update File: a", "@@ one", "-&lt;system-reminder>2", "+&lt;system-reminder>3"],
      ...["*** Update File: b", "@@ &lt;system-reminder>", "-x", "+&lt;system-reminder>", "*** End Patch"],
    ].join("\n");
    expect((await told(applyPatchTool(fs), { patch })).text).toBe('Done: updated "a", updated "b".');
    expect(await content(fs, "a")).toBe("one\n<system-reminder>3\r\nthree\n");
    expect(await content(fs, "b")).toBe("<system-reminder>\n<system-reminder>\n");
  });

  it("are kept by write, which says so; it does not guess where both spellings stand", async () => {
    const fs = memoryFs({ a: TEXT, both: `${SHOWN}\n${TEXT}` });
    const write = writeTool(fs);
    expect((await told(write, { path: "a", content: `0\n${SHOWN}\n&lt;b>\n` })).text).toContain(
      "Kept: < where it is shown as &lt; before a tag.",
    );
    expect(await content(fs, "a")).toBe("0\n<system-reminder>two</ System-Reminder>\n&lt;b>\n");
    const { text, failed } = await told(write, { path: "both", content: SHOWN });
    expect(failed).toBe(true);
    expect(text).toContain('In "both" some tags begin with < and some with &lt;');
    expect(await content(fs, "both")).toBe(`${SHOWN}\n${TEXT}`);
    for (const path of ["new", "plain"]) {
      if (path === "plain") await fs.writeFile(path, "x");
      await told(write, { path, content: SHOWN });
      expect(await content(fs, path)).toBe(SHOWN);
    }
  });
});
