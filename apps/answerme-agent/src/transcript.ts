import type { AnyAgentSession } from "@shedkit/agent";
import { type Message, textOfContent } from "@shedkit/types";

/** The conversation as Markdown. */
export async function transcript(session: AnyAgentSession): Promise<string> {
  const parts: string[] = [];
  for await (const message of session.messages()) {
    const part = partOf(message);
    if (part !== "") parts.push(part);
  }
  return `# Conversation ${session.sessionId}\n\n${parts.join("\n\n")}\n`;
}

function partOf(message: Message): string {
  switch (message.type) {
    case "user":
      return `## ${message.role === "user" ? "Question" : "Note"}\n\n${textOfContent(message.content)}`;
    case "toolResult":
      return fenced(textOfContent(message.content));
    case "assistant":
      if (message.output.type === "text") return message.output.text;
      if (message.output.type === "toolCall") {
        return `\`${message.output.name}\` was called:\n\n${fenced(JSON.stringify(message.output.arguments ?? {}, null, 2))}`;
      }
      return "";
  }
}

/** In a fence longer than any inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}
