import type { ToolArguments } from "@shedkit/types";

/** A text, or a call. */
type Step = string | { call: string; arguments: ToolArguments };

/** What a call answered, as a model is told it. */
export interface Told {
  tool: string;
  text: string;
}

const OPERATORS = ["-", "+", "*"];

/**
 * A program in a model's place that mends a failing test. It knows nothing of the repository but what tools told it:
 * which files there are, what the test says, where the function stands, and whether a change helped.
 */
export function nextStep(told: readonly Told[]): Step {
  const last = told.at(-1);
  if (!last)
    return { call: "shed", arguments: { description: "run a command, read a file, edit a file, search files" } };
  const bash = (command: string): Step => ({
    call: "bash",
    arguments: { command, description: "Looks how it stands" },
  });
  if (last.tool === "shed") return last.text.includes("bash") ? bash("ls") : "There is nothing to work with.";
  const test = found(told, "bash", /^(\S+\.test\.mjs)$/m);
  if (!test) return "There is no test.";
  if (last.tool === "edit") return bash(`node ${test}`);
  if (last.tool === "bash") {
    if (told.filter(({ tool }) => tool === "bash").length === 1) return bash(`node ${test}`);
    if (last.text.startsWith("exit: 0")) return "The test passes now.";
    const line = lastText(told, "edit") === undefined ? undefined : changed(told);
    return line ?? { call: "read", arguments: { path: test } };
  }
  const name = found(told, "read", /\bequal\((\w+)\(/);
  if (!name) return "The test says nothing of a function.";
  if (last.tool === "read" && last.text.includes("assert")) {
    return { call: "search_file", arguments: { query: `function ${name}` } };
  }
  const [, path] = /^(\S+\.mjs)\n\d+:/m.exec(lastText(told, "search_file") ?? "") ?? [];
  if (path === undefined) return "There is no such function.";
  if (last.tool === "search_file") return { call: "read", arguments: { path } };
  return changed(told) ?? "There is nothing to change.";
}

/** The next operator in the line of the function that calculates, by what was read and what was tried. */
function changed(told: readonly Told[]): Step | undefined {
  const [, path = ""] = /^(\S+\.mjs)\n\d+:/m.exec(lastText(told, "search_file") ?? "") ?? [];
  const line = /^(?:\d+→)?(.*\breturn .* ([-+*/]) .*)$/m.exec(lastText(told, "read") ?? "");
  if (!line) return undefined;
  const [, text = "", was = ""] = line;
  const tried = told.filter(({ tool }) => tool === "edit").length;
  const options = OPERATORS.filter((operator) => operator !== was);
  const [before, after] = [[was, ...options][tried], options[tried]];
  if (before === undefined || after === undefined) return undefined;
  const with_ = (operator: string) => text.replace(` ${was} `, ` ${operator} `).trim();
  return { call: "edit", arguments: { path, old_string: with_(before), new_string: with_(after) } };
}

function lastText(told: readonly Told[], tool: string): string | undefined {
  return told.findLast((one) => one.tool === tool)?.text;
}

function found(told: readonly Told[], tool: string, pattern: RegExp): string | undefined {
  for (const one of told) if (one.tool === tool && pattern.test(one.text)) return pattern.exec(one.text)?.[1];
  return undefined;
}
