import { createWriteStream } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { AnyAgentSession } from "@shedkit/agent";
import { addUsage, type SessionId, type Tool, textOfContent, toolName, type Usage } from "@shedkit/types";
import { clipped } from "./columns.js";
import { explain } from "./exit.js";
import type { Interrupts } from "./interrupts.js";
import { sessionLine } from "./kept-session.js";
import type { Mcp } from "./mcp.js";
import { runMemory } from "./memory.js";
import type { ModelChoice } from "./model-choice.js";
import type { Shelf } from "./shelf.js";
import { usageText } from "./text-renderer.js";
import { toolCallLine } from "./tool-line.js";

/** A conversation as the commands of the prompt see it. */
export interface Talk {
  session: AnyAgentSession;
  choice: ModelChoice;
  readonly root: string;
  readonly interrupts: Interrupts;
  /** Where sessions are kept; absent where they are not. */
  readonly shelf: Shelf | undefined;
  readonly mcp?: Mcp | undefined;
  /** Resolves when the session has all its tools, those of MCP servers too. */
  served(): Promise<void>;
  /** Goes on with another model. */
  change(model: string): Promise<void>;
  /** Goes on in another session. */
  goTo(session: SessionId): Promise<void>;
  /** Since the conversation began. */
  usage: Usage;
  questions: number;
}

export type CommandOutcome = { type: "said"; text: string } | { type: "leave" };

interface PromptCommand {
  readonly name: string;
  readonly argument?: string;
  readonly help: string;
  run(talk: Talk, argument: string): CommandOutcome | Promise<CommandOutcome>;
}

const said = (text: string): CommandOutcome => ({ type: "said", text });

const commands: readonly PromptCommand[] = [
  { name: "help", help: "what can be typed here", run: () => said(helpText()) },
  { name: "model", argument: "NAME", help: "which model answers; with a name, another one from now on", run: model },
  {
    name: "tools",
    argument: "accept NAME",
    help: "the tools, and which the model has been given; accept NAME lets a changed tool of an MCP server run",
    run: tools,
  },
  { name: "shed", argument: "WORDS", help: "what a search in the shed finds", run: searchShed },
  {
    name: "memory",
    argument: "add FACT",
    help: "what the session remembers; add FACT, or remove NUMBER",
    run: async ({ session }, argument) => said(await runMemory(session, argument)),
  },
  { name: "calls", argument: "NUMBER", help: "the tool calls so far, or one with all it returned", run: showCalls },
  { name: "cost", help: "tokens used so far", run: (talk) => said(costText(talk)) },
  { name: "compact", help: "put a summary in the place of the older part of the conversation", run: compact },
  {
    name: "sessions",
    argument: "WORDS",
    help: "the sessions about this folder, those with words in them",
    run: sessions,
  },
  { name: "resume", argument: "ID", help: "go on with another session", run: resume },
  { name: "title", argument: "TEXT", help: "give this session a title", run: title },
  { name: "fork", help: "go on in a copy of this session; this one stays as it is", run: fork },
  { name: "export", argument: "FILE", help: "write the conversation to a Markdown file", run: exportTalk },
  { name: "quit", help: "leave (also ctrl-D)", run: () => ({ type: "leave" }) },
];

/** Whether a line is meant for the program, not for the model. */
export function isCommand(line: string): boolean {
  return /^\/[a-z]*(\s|$)/i.test(line);
}

/** Whether a line is one of the commands there are. */
export function isKnownCommand(line: string): boolean {
  return names().some((name) => line === name || line.startsWith(`${name} `));
}

export async function runCommand(line: string, talk: Talk): Promise<CommandOutcome> {
  const [, name = "", argument = ""] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const command = commands.find((candidate) => candidate.name === name.toLowerCase());
  if (command === undefined) return said(`There is no /${name}. ${names().join(" ")}`);
  return command.run(talk, argument.trim());
}

/** The commands that a half-typed line may become. */
export function completeCommand(line: string): [string[], string] {
  return [names().filter((name) => name.startsWith(line)), line];
}

export function counted(talk: Talk, usage: Usage): void {
  talk.usage = addUsage(talk.usage, usage);
  talk.questions++;
}

function names(): string[] {
  return commands.map(({ name }) => `/${name}`);
}

function helpText(): string {
  const left = commands.map(({ name, argument }) => `/${name}${argument === undefined ? "" : ` ${argument}`}`);
  const width = Math.max(...left.map((text) => text.length));
  const lines = commands.map(({ help }, i) => `${(left[i] ?? "").padEnd(width)}   ${help}`);
  return [
    ...lines,
    "",
    "@notes.txt in a question sends that file along. A line that ends in \\ goes on in the next.",
    "Ctrl-C stops an answer; at the prompt twice it leaves.",
  ].join("\n");
}

async function tools(talk: Talk, argument: string): Promise<CommandOutcome> {
  await talk.served();
  if (argument !== "") return acceptTool(talk, argument);
  const { toolManager } = talk.session;
  const active = new Set(toolManager.activeDefinitions().map(toolName));
  const all = toolManager.names();
  const room = Math.max(...all.map((name) => name.length));
  const lines = all.map((name) => {
    return `${active.has(name) ? "*" : " "} ${name.padEnd(room)}   ${shortDescription(toolManager.getDef(name))}`;
  });
  const usesServers = talk.choice.groups === undefined;
  const servers = usesServers ? ((await talk.mcp?.lines()) ?? []) : [];
  return said(
    [
      ...lines,
      ...servers.map(({ name, text }) => `MCP server ${name}: ${text}`),
      "The model is given shed at first, and what it finds there from then on: those with a star.",
    ].join("\n"),
  );
}

/** The first sentence of what a tool says of itself. */
function shortDescription(tool: Tool | undefined): string {
  const text = tool?.type === "single" ? tool.definition.description : (tool?.description ?? "");
  const [sentence = ""] = text.replace(/\s+/g, " ").split(/(?<=\.)\s/, 1);
  return clipped(sentence, 90);
}

async function acceptTool({ mcp, session }: Talk, argument: string): Promise<CommandOutcome> {
  const [, name] = /^accept\s+(\S+)$/.exec(argument) ?? [];
  if (name === undefined) return said("Say which: /tools accept NAME; /tools lists them");
  if (mcp === undefined) return said("There are no MCP servers.");
  try {
    await mcp.accept(name);
  } catch (error) {
    return said(explain(error));
  }
  const tool = session.toolManager.get(name)?.definition();
  const description = tool?.type === "single" ? tool.definition.description : tool?.description;
  return said(`${name} may run as it is now: ${description ?? ""}`);
}

async function model(talk: Talk, name: string): Promise<CommandOutcome> {
  try {
    if (name !== "") await talk.change(name);
  } catch (error) {
    return said(explain(error));
  }
  return said(talk.choice.notice.text);
}

async function compact({ session, interrupts }: Talk): Promise<CommandOutcome> {
  try {
    const compaction = () => session.compact();
    const { tokensBefore, tokensAfter } = await interrupts.during(() => session.abort("stopped by ctrl-C"), compaction);
    return said(`About ${Math.round(tokensBefore)} tokens became ${Math.round(tokensAfter)}.`);
  } catch (error) {
    return said(explain(error));
  }
}

async function sessions(talk: Talk, words: string): Promise<CommandOutcome> {
  return said(await sessionsText(talk, words));
}

async function sessionsText({ shelf, root }: Talk, words: string): Promise<string> {
  if (shelf === undefined) return "Sessions are not kept.";
  const found = await shelf.list({ root, text: words || undefined, limit: 20 });
  return found.length === 0 ? "There is none." : found.map((session) => sessionLine(session, false)).join("\n");
}

async function resume(talk: Talk, id: string): Promise<CommandOutcome> {
  if (talk.shelf === undefined) return said("Sessions are not kept.");
  if (id === "") {
    return said(`${await sessionsText(talk, "")}\nSay which: /resume ID; how the id begins is enough`);
  }
  try {
    const session = await talk.shelf.find(id);
    await talk.goTo(session.id);
    return said(`Going on with "${session.title ?? session.id}".`);
  } catch (error) {
    return said(explain(error));
  }
}

async function title({ shelf, session }: Talk, text: string): Promise<CommandOutcome> {
  if (shelf === undefined) return said("Sessions are not kept.");
  if (text === "") return said("Say which: /title The port of the server");
  await shelf.setTitle(session.sessionId, text);
  return said(`This session is "${text}" now.`);
}

async function fork(talk: Talk): Promise<CommandOutcome> {
  try {
    const copy = await talk.session.fork();
    await copy.end();
    await talk.goTo(copy.sessionId);
    return said(`This is a copy now, ${copy.sessionId}.`);
  } catch (error) {
    return said(explain(error));
  }
}

async function searchShed({ session }: Talk, words: string): Promise<CommandOutcome> {
  if (words === "") return said("Say what to look for: /shed read a file");
  const hits = await session.toolManager.searchTools(words, 5);
  if (hits.length === 0) return said(`Nothing is found for "${words}".`);
  return said(hits.map((hit) => `${hit.name}   ${hit.description}`).join("\n"));
}

function costText({ session, usage, questions }: Talk): string {
  const since = `${questions} question${questions === 1 ? "" : "s"}: ${usageText(usage)}`;
  return `${since}\nThe whole session, its memory included: ${usageText(session.usage)}`;
}

async function exportTalk({ session, root }: Talk, file: string): Promise<CommandOutcome> {
  if (file === "") return said("Name a file: /export talk.md (to read) or talk.jsonl (every record)");
  const target = path.resolve(root, file);
  const format = target.endsWith(".jsonl") ? "jsonl" : "markdown";
  try {
    await pipeline(session.export({ format }), createWriteStream(target, { flags: "wx" }));
    return said(`Written to ${target}`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return said(`${target} is there already; name another file.`);
    return said(`${target} cannot be written (${code}).`);
  }
}

/** The calls of the conversation, newest first; or one of them, whole. */
async function showCalls({ session }: Talk, number: string): Promise<CommandOutcome> {
  const calls: { line: string; arguments: string; result: string }[] = [];
  const byId = new Map<string, (typeof calls)[number]>();
  for await (const message of session.messages()) {
    if (message.type === "toolResult") {
      const call = byId.get(message.toolCallId);
      if (call) call.result = textOfContent(message.content);
    } else if (message.type === "assistant" && message.output.type === "toolCall") {
      const { id, name, arguments: args } = message.output;
      const line = toolCallLine(name, args, 100);
      const call = { line, arguments: JSON.stringify(args ?? {}, null, 2), result: "(no result yet)" };
      calls.unshift(call);
      byId.set(id, call);
    }
  }
  if (calls.length === 0) return said("No tool was called yet.");
  if (number === "")
    return said(
      calls
        .slice(0, 20)
        .map(({ line }, i) => `${i + 1}  ${line}`)
        .join("\n"),
    );
  const call = calls[Number(number) - 1];
  if (call === undefined) return said(`There is no call ${number}; /calls lists them.`);
  return said(`${call.line}\n${call.arguments}\n${call.result}`);
}
