import { AgenticError, type MessageLike, toMessage, type UserMessage } from "@shedkit/types";

/** What is said to a session, as a message. Throws AgenticError `session` where it is none that a user can say. */
export function userMessage(prompt: MessageLike): UserMessage {
  const message = toMessage(prompt);
  if (message.type !== "user") {
    throw sessionError(`A prompt is a user message, not one of type "${message.type}".`, "not a user message");
  }
  const empty = message.content.every((part) => part.type === "text" && part.text.trim() === "");
  if (empty) throw sessionError("The prompt is empty. Say something to the model.", "empty prompt");
  return message;
}

export function sessionError(text: string, reason: string): AgenticError {
  return new AgenticError("session", text, { reason });
}
