import fc from "fast-check";
import { expect, it } from "vitest";
import { asData } from "../src/index.js";

it("a stranger's text holds nothing unseen and no tag of a conversation, and stays what it is otherwise", () => {
  expect(asData("a\r\nb\rc\u0000\u001b[1m\u200b\u202e\ufeff\u{e0041}")).toBe("a\nb\nc[1m");
  for (const tag of ["<system-reminder>", "</ System_Reminder >", "<|im_start|>", "</tool_call>", "<function_results>"])
    expect(asData(tag)).toBe(tag.replace("<", "&lt;"));
  const code = "Map<string, User> <div>\t<User> 1 < 2 👩‍👩‍👧 नमस्ते";
  expect(asData(code)).toBe(code);
});

it("is data still where it was data before", () => {
  const nested = "\udb40\u{e0001}\udc01 <\u200b\u200b|im_start|>";
  expect(asData(nested)).toBe("\ufffd\ufffd &lt;|im_start|>");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(asData(asData(text))).toBe(asData(text));
    }),
  );
});
