import type { AnyAgentSession } from "@shedkit/agent";
import type { JsonValue } from "@shedkit/types";

/** Shows what a session remembers, or changes its facts. */
export async function runMemory(session: AnyAgentSession, argument: string): Promise<string> {
  const [, verb = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
  switch (verb) {
    case "":
      return memoryText(session);
    case "add":
      return rest === "" ? "Say what: /memory add The port is 8417" : add(session, rest);
    case "remove":
      return remove(session, rest);
    default:
      return `There is no /memory ${verb}; there are /memory, /memory add FACT and /memory remove NUMBER.`;
  }
}

async function memoryText(session: AnyAgentSession): Promise<string> {
  const facts = await session.memory.facts();
  const { observation, reflection } = await session.memoryStore.read(session.sessionId);
  const observations = observation?.observations ?? [];
  const reflections = reflection?.reflections ?? [];
  if (facts.length + observations.length + reflections.length === 0) {
    return "Nothing is remembered yet beyond the conversation. /memory add FACT adds a fact.";
  }
  return [
    ...section("Facts", facts, (i) => `${i + 1}  `),
    ...section("Observations", observations, () => "-  "),
    ...section("Reflections", reflections, () => "-  "),
  ].join("\n");
}

async function add(session: AnyAgentSession, fact: string): Promise<string> {
  await session.memory.edit((facts) => (facts.includes(fact) ? facts : [...facts, fact]));
  return `Remembered: ${fact}`;
}

async function remove(session: AnyAgentSession, number: string): Promise<string> {
  const place = /^\d+$/.test(number) ? Number(number) - 1 : -1;
  let removed: JsonValue | undefined;
  if (place < 0 || place >= (await session.memory.facts()).length) {
    return `There is no fact ${number}; /memory numbers them.`;
  }
  await session.memory.edit((facts) => {
    removed = facts[place];
    return facts.toSpliced(place, 1);
  });
  return `Forgotten: ${factText(removed ?? "")}`;
}

function section(title: string, entries: readonly JsonValue[], mark: (index: number) => string): string[] {
  return entries.length === 0 ? [] : [`${title}:`, ...entries.map((entry, i) => `${mark(i)}${factText(entry)}`)];
}

/** The words of a fact, an observation or a reflection. */
function factText(entry: JsonValue): string {
  if (typeof entry === "string") return entry;
  if (typeof entry === "object" && entry !== null && !Array.isArray(entry)) {
    const { fact, content, summary } = entry as { [key: string]: JsonValue | undefined };
    for (const text of [fact, content, summary]) if (typeof text === "string") return text;
  }
  return JSON.stringify(entry);
}
