import { AgenticError, type MessageLike, toMessage, type UserMessage } from "@shedkit/types";

/** What is said to a session, as a message. Throws AgenticError `session` where it is none that a user can say. */
export function userMessage(prompt: MessageLike): UserMessage {
  if (prompt === undefined || prompt === null) throw emptyPrompt();
  if (typeof prompt !== "string" && typeof prompt !== "object") {
    throw sessionError(`A prompt is a text or a message, not a ${typeof prompt}.`, "not a user message");
  }
  const message = toMessage(prompt);
  if (message.type !== "user") {
    throw sessionError(`A prompt is a user message, not one of type "${message.type}".`, "not a user message");
  }
  const empty = message.content.every((part) => part.type === "text" && part.text.trim() === "");
  if (empty) throw emptyPrompt();
  return message;
}

function emptyPrompt(): AgenticError {
  return sessionError("The prompt is empty. Say something to the model.", "empty prompt");
}

export function sessionError(text: string, reason: string): AgenticError {
  return new AgenticError("session", text, { reason });
}
