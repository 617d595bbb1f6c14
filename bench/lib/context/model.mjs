// A model that does a task of ten steps: it calls the tool of a step where that is declared, looks for it where it is not, and
// goes on to the next step where three searches did not find it. Runs in the server; keeps what each request cost.
import { PromptCache } from "./prompt.mjs";

/** By their names: what a search of each is asked with. */
const SEARCHES = {
  shed: (text) => ({ description: text }),
  search: (text) => ({ query: text }),
  search_tools: (text) => ({ query: text }),
  __lazy__tool__discovery__: (_, name) => ({ toolNames: [name] }),
};

/** Calls a tool that was found by its name, where a session declares none later. */
const USE_TOOL = "use_tool";

export function make({ steps }, { tokensOf }) {
  const records = [];
  const caches = new Map();
  return {
    records: () => records,
    answer(wire, body) {
      if (!caches.has(wire)) caches.set(wire, new PromptCache(wire, tokensOf));
      const usage = caches.get(wire).read(body);
      const { calls, declared, search, shown } = READERS[wire](body);
      if (declared.size === 0 && search === undefined) {
        // No part of the task: the session asks for something of its own, a summary or notes.
        records.push({ ...usage, own: true, missed: 0 });
        return say(usage, ["[", "]"], []);
      }
      const byName = declared.has(USE_TOOL);
      const callable = byName ? shownOf(steps, shown) : declared;
      const { at, attempts, missed } = progress(steps, calls, callable);
      const next = steps[at];
      records.push({ ...usage, own: false, missed });
      const id = `call_${records.length}_${Math.abs(records.length * 7919).toString(36)}`;
      if (next === undefined) return say(usage, ["It", " is", " all", " done", "."], []);
      if (callable.has(next.tool)) {
        const made = byName
          ? call(id, USE_TOOL, { tool_name: next.tool, tool_input: next.args })
          : call(id, next.tool, next.args);
        return say(usage, ["I", " do", " the", " next", " thing", "."], [made]);
      }
      const text = [next.query, next.description, next.tool.replaceAll(/[_.-]/g, " ")][attempts];
      return say(
        usage,
        ["I", " look", " for", " a", " tool", "."],
        [{ ...call(id, search.name, SEARCHES[search.name](text, next.tool)), search: search.native }],
      );
    },
  };
}

const say = (usage, text, calls) => ({
  usage: { ...usage, output: text.length + calls.length * 20 },
  answer: { text, calls },
});
const call = (id, name, args) => ({ id, name, json: JSON.stringify(args).match(/.{1,12}/gs) ?? ["{}"] });

/** The tools of a task that results of a search have shown, each in a line `- name(arguments): ...`. */
function shownOf(steps, shown) {
  return new Set(steps.map(({ tool }) => tool).filter((tool) => shown.some((text) => text.includes(`- ${tool}(`))));
}

/** What a call is of. */
function calledBy(name, args) {
  if (name !== USE_TOOL) return name;
  return (typeof args === "string" ? JSON.parse(args) : args).tool_name;
}

/** How far the conversation has come: the step, how often its tool was looked for, and how many were not found. */
function progress(steps, calls, declared) {
  let at = 0;
  let attempts = 0;
  let missed = 0;
  for (const name of calls) {
    if (name === steps[at]?.tool) {
      at++;
      attempts = 0;
      continue;
    }
    if (attempts === 3) {
      at++;
      missed++;
      attempts = 0;
      if (name === steps[at]?.tool) {
        at++;
        continue;
      }
    }
    attempts++;
  }
  if (attempts === 3 && !declared.has(steps[at]?.tool)) return { at: at + 1, attempts: 0, missed: missed + 1 };
  return { at, attempts: attempts % 3, missed };
}

function searchOf(names) {
  const name = Object.keys(SEARCHES).find((each) => names.has(each));
  return name && { name, native: false };
}

function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("\n");
}

const calledIn = ({ function: { name, arguments: args } }) => calledBy(name, args);

const READERS = {
  anthropic({ tools = [], messages }) {
    const declared = new Set(tools.filter((tool) => !tool.defer_loading).map(({ name }) => name));
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const calls = blocks.filter(({ type }) => type === "tool_use").map(({ name, input }) => calledBy(name, input));
    const results = blocks.filter(({ type }) => type === "tool_result");
    for (const { content } of results) {
      for (const part of Array.isArray(content) ? content : [])
        if (part.type === "tool_reference") declared.add(part.tool_name);
    }
    return { calls, declared, search: searchOf(declared), shown: results.map(({ content }) => textOf(content)) };
  },
  responses({ tools = [], input }) {
    const declared = new Set(tools.filter((tool) => !tool.defer_loading && tool.name).map(({ name }) => name));
    const items = Array.isArray(input) ? input : [];
    for (const item of items) for (const { name } of item.tools ?? []) declared.add(name);
    const calls = items.flatMap(({ type, name, arguments: args }) =>
      type === "function_call" ? [calledBy(name, args)] : type === "tool_search_call" ? ["tool_search"] : [],
    );
    const native = tools.some(({ type }) => type === "tool_search");
    const shown = items.filter(({ type }) => type === "function_call_output").map(({ output }) => textOf(output));
    return { calls, declared, search: native ? { name: "shed", native: true } : searchOf(declared), shown };
  },
  chat({ tools = [], messages }) {
    const declared = new Set(tools.map((tool) => tool.function.name));
    const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(calledIn));
    const shown = messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
    return { calls, declared, search: searchOf(declared), shown };
  },
};
