import { type AssistantMessage, type ContentPart, type JsonValue, newId, type UserMessage } from "@shedkit/types";
import { isObject } from "../body.js";
import { ParamError } from "./error.js";

/** A conversation that a client brought: what was said, and what the agent is asked now. */
export interface Brought {
  history: (UserMessage | AssistantMessage)[];
  prompt: UserMessage;
}

/** The messages of a request. The last one must be the user's. Throws ParamError. */
export function broughtMessages(items: readonly JsonValue[], param: string, model: string): Brought {
  const history = items.map((item, i) => messageOf(item, `${param}[${i}]`, model));
  const prompt = history.pop();
  if (prompt?.type === "user" && prompt.role === "user") return { history, prompt };
  throw new ParamError(param, `The last of "${param}" must be a message of the user.`);
}

export function systemMessage(text: string): UserMessage {
  return { type: "user", id: newId(), role: "system", content: [{ type: "text", text }] };
}

export function userText(text: string): UserMessage {
  return { type: "user", id: newId(), role: "user", content: [{ type: "text", text }] };
}

function messageOf(item: JsonValue, param: string, model: string): UserMessage | AssistantMessage {
  const { type = "message", role, content } = isObject(item) ? item : {};
  if (type !== "message") throw new ParamError(`${param}.type`, `Items of type "${String(type)}" are not taken here.`);
  const parts = contentOf(content, `${param}.content`);
  switch (role) {
    case "user":
      return { type: "user", id: newId(), role: "user", content: parts };
    case "system":
    case "developer":
      return { type: "user", id: newId(), role: "system", content: parts };
    case "assistant": {
      const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
      const output = { type: "text" as const, text };
      return { type: "assistant", id: newId(), turnId: newId(), stepId: newId(), model, output };
    }
    default:
      throw new ParamError(
        `${param}.role`,
        `Messages of the role "${String(role)}" are not taken here: the agent runs its own tools.`,
      );
  }
}

function contentOf(content: JsonValue | undefined, param: string): ContentPart[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw new ParamError(param, `"${param}" must be a text or a list of parts.`);
  return content.map((part, i) => partOf(part, `${param}[${i}]`));
}

function partOf(part: JsonValue, param: string): ContentPart {
  const { type, text, image_url: image } = isObject(part) ? part : {};
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
      if (typeof text === "string") return { type: "text", text };
      throw new ParamError(`${param}.text`, `"${param}.text" must be a text.`);
    case "image_url":
    case "input_image": {
      const url = isObject(image) ? image.url : image;
      if (typeof url !== "string") throw new ParamError(`${param}.image_url`, "An image must have a URL.");
      const data = /^data:([\w/+.-]+);base64,([A-Za-z0-9+/=]+)$/.exec(url);
      if (data) return { type: "image", source: { type: "base64", data: data[2] ?? "" }, mediaType: data[1] ?? "" };
      return { type: "image", source: { type: "url", url }, mediaType: "image/*" };
    }
    default:
      throw new ParamError(`${param}.type`, `Parts of type "${String(type)}" are not taken here.`);
  }
}
