import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { FnTool, type ToolArgs, ToolCallResult, type ToolImpl } from "@shedkit/tool";

const string = { type: "string" };

function tool(
  name: string,
  description: string,
  params: readonly string[],
  run: (args: ToolArgs) => Promise<ToolCallResult | string> | ToolCallResult | string,
): ToolImpl {
  const properties = Object.fromEntries(params.map((param) => [param, string]));
  const schema = { type: "object", properties, required: params, additionalProperties: false };
  return new FnTool(name, description, schema, async (args) => run(args));
}

/** Small tools that do what they say, under the names that the demonstration model knows; and what was remembered. */
export function demoTools(root: string): { tools: ToolImpl[]; notes: readonly string[] } {
  const notes: string[] = [];
  const tools = [
    tool("search_file", "Search for text in the files", ["query"], (args) => found(root, args.str("query"))),
    tool("bash", "Run a shell command", ["command"], async (args) => {
      const command = args.str("command");
      if (!/^(ls( [\w./-]+)?( \| wc -l)?|wc -l [\w./-]+|echo [\w .-]+)$/.test(command))
        return ToolCallResult.failure("this command is not allowed");
      return (await promisify(execFile)("sh", ["-c", command], { cwd: root })).stdout;
    }),
    tool("memory", "Remember or recall a fact", ["command", "text"], (args) => {
      if (args.str("command") !== "add") return notes.join("\n");
      notes.push(args.str("text"));
      return "ok";
    }),
    tool("calculate", "Calculate an expression", ["expression"], (args) => calculated(args.str("expression"))),
  ];
  return { tools, notes };
}

function found(root: string, query: string): string {
  const lines: string[] = [];
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    readFileSync(path, "utf8")
      .split("\n")
      .forEach((line, i) => {
        if (line.includes(query)) lines.push(`${relative(root, path)}:${i + 1}: ${line}`);
      });
  }
  return lines.length === 0 ? "No matches" : lines.join("\n");
}

function calculated(expression: string): ToolCallResult | string {
  const [, a = "", sign = "", b = ""] = /^(\d+) ([-+*/]) (\d+)$/.exec(expression.trim()) ?? [];
  const [x, y] = [Number(a), Number(b)];
  const values: { [sign: string]: number } = { "+": x + y, "-": x - y, "*": x * y, "/": x / y };
  return sign in values ? String(values[sign]) : ToolCallResult.failure("bad expression");
}
