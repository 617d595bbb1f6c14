import type { ToolSetProblem } from "@shedkit/toolset";
import { AgenticError } from "@shedkit/types";

/** Something that keeps a shed from being built. */
export type ShedProblem =
  | { type: "duplicateTool" | "reservedName" | "needsSession"; name: string }
  | { type: "nameMismatch"; declared: string; built: string }
  | ({ type: "configuration" } & ToolSetProblem);

/** Everything that was wrong with a shed, at once. */
export class ToolShedError extends AgenticError<"toolShed"> {
  override readonly name = "ToolShedError";
  readonly problems: readonly ShedProblem[];

  constructor(problems: readonly ShedProblem[]) {
    super("toolShed", textsOf(problems).join("\n"), { problems: problems.map((problem) => ({ ...problem })) });
    this.problems = problems;
  }
}

/** A line for each problem; what is wrong with several tools alike is said once. */
function textsOf(problems: readonly ShedProblem[]): string[] {
  const alike = new Map<string, string[]>();
  for (const problem of problems) {
    if (problem.type !== "configuration") continue;
    alike.set(problem.message, [...(alike.get(problem.message) ?? []), problem.tool]);
  }
  const lines = problems.map((problem) =>
    problem.type === "configuration"
      ? `${alike.get(problem.message)?.join(", ")}: ${problem.message}`
      : problemText(problem),
  );
  return [...new Set(lines)];
}

function problemText(problem: Exclude<ShedProblem, { type: "configuration" }>): string {
  switch (problem.type) {
    case "duplicateTool":
      return `The tool "${problem.name}" was added twice. Names must be unique: remove or rename one.`;
    case "reservedName":
      return `A tool may not be named "${problem.name}": the name belongs to the shed itself.`;
    case "needsSession":
      return `The tool "${problem.name}" is made for a session and cannot be made without one.`;
    case "nameMismatch":
      return `The constructor of "${problem.declared}" made a tool named "${problem.built}". The names must agree.`;
  }
}
