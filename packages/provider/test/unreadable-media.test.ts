import { type ContentPart, Messages, type UserMessage } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { unreadableMedium } from "../src/adapter.js";

const image = (data: string): ContentPart => ({
  type: "image",
  mediaType: "image/png",
  source: { type: "base64", data },
});
const shown = (id: string, ...data: string[]): UserMessage => ({
  ...Messages.user(id),
  id,
  content: [{ type: "text", text: "See" }, ...data.map(image)],
});
const messages = [shown("a", "b25l", "dHdv"), shown("b", "c2l4")];
const body = {
  messages: [
    { role: "user", content: [{ type: "image", source: { data: "b25l" } }] },
    {
      role: "user",
      content: [{ type: "tool_result", content: [{ type: "image", source: { data: "dHdv" } }] }, { type: "text" }],
    },
  ],
};
const refused = (message: string, more: object = {}): Error =>
  Object.assign(new Error(message), { status: 400, ...more });
const found = (error: Error, known: readonly string[] = []) => unreadableMedium(error, body, messages, new Set(known));

describe("an image that a server cannot read", () => {
  it.each([
    "Could not process image",
    "You uploaded an unsupported image. Please make sure your image is valid.",
    "The image data you provided does not represent a valid image.",
    "At least one of the image dimensions exceed max allowed size: 8000 pixels",
    "The PDF specified is password protected.",
    "Unable to process input image. Please retry.",
    "Error while downloading https://example.com/a.png.",
    "failed to process inputs: image: unknown format",
    "cannot identify image file <_io.BytesIO object>",
    "Failed to load image or audio file",
  ])("is known by %j: the newest that is not known yet", (message) => {
    expect(found(refused(message))).toBe("b#0");
    expect(found(refused(message), ["b#0"])).toBe("a#1");
    expect(found(refused(message), ["b#0", "a#1", "a#0"])).toBeUndefined();
  });

  it("is the one at the place that the server names", () => {
    expect(found(refused("messages.0.content.0.image.source.base64: image exceeds 5 MB maximum"))).toBe("a#0");
    const nested =
      "messages.1.content.0.tool_result.content.0.image.source.base64.media_type: Input should be 'image/png'";
    expect(found(refused(nested))).toBe("a#1");
    expect(found(refused("Invalid image data.", { param: "messages.[0].content.[0].image_url" }))).toBe("a#0");
  });

  it.each([
    "This model does not support image input.",
    "unknown variant `image_url`, expected `text`",
    "prompt is too long",
    "messages.0: roles must alternate",
    "Invalid schema for function 'read_image'",
  ])("is not meant by %j", (message) => {
    expect(found(refused(message))).toBeUndefined();
  });

  it("is not meant by errors of another status", () => {
    expect(found(refused("Could not process image", { status: 500 }))).toBeUndefined();
  });
});
