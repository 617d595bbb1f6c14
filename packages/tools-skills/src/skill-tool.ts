import { joinPath } from "@shedkit/fs";
import {
  defineTool,
  type Reminder,
  type StateHandle,
  stateOf,
  ToolCallResult,
  type TypedTool,
  type TypedToolContext,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { BadSkill } from "./frontmatter.js";
import { fitting, isFor } from "./match.js";
import { type Place, type Skill, type SkillScope, Skills } from "./skills.js";

/** The arguments of `skill`. */
export interface SkillInput {
  /** What is needed: looks for skills. */
  query?: string | undefined;
  /** Reads this one. */
  name?: string | undefined;
  /** Reads this file of it. */
  file?: string | undefined;
  /** What it is to be used on. */
  args?: string | undefined;
}

/** What `skill` gives beside its text. */
export interface SkillOutput {
  found?: { name: string; description: string; scope: string }[] | undefined;
  name?: string | undefined;
  text?: string | undefined;
}

/** Settings of `skill`. */
export interface SkillParams {
  /** How many skills a search gives. Default: 5. */
  maxResults: number;
}

/** Names of skills: those for certain files that were worked on, and those that the model was told of. */
interface SkillState {
  open: string[];
  told: string[];
  /** Folders of skills beside the files that were worked on. */
  places: Place[];
}

const STATE = stateOf("skills:skill");
const MOST_NAMES = 100;
const MOST_PLACES = 50;

const Input = Type.Object(
  {
    query: Type.Optional(Type.String({ description: "What you are about to do: finds skills for it." })),
    name: Type.Optional(Type.String({ description: "The name of a skill: reads it." })),
    file: Type.Optional(Type.String({ description: "With a name: a file of that skill, as the skill names it." })),
    args: Type.Optional(Type.String({ description: "With a name: what it is to be used on." })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  found: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), description: Type.String(), scope: Type.String() })),
  ),
  name: Type.Optional(Type.String()),
  text: Type.Optional(Type.String()),
});

/** Finds skills and reads them, a part at a time. */
export function skillTool(
  scopes: readonly SkillScope[],
  params: Partial<SkillParams> = {},
): TypedTool<SkillInput, SkillOutput> {
  const skills = new Skills(scopes);
  return defineTool({
    id: "skill",
    namespace: "skills",
    kind: "skill",
    category: "skill",
    description:
      "Look up how something is done here.\nSkills are instructions written for this place or this user. Look for one before " +
      "you begin something of its kind, then read it by its name and follow it.",
    input: Input,
    output: Output,
    params: {
      schema: Type.Object({ maxResults: Type.Integer({ minimum: 1, maximum: 50 }) }, { additionalProperties: false }),
      defaults: { maxResults: 5, ...params },
    },
    state: {
      schema: Type.Object({
        open: Type.Array(Type.String()),
        told: Type.Array(Type.String()),
        places: Type.Array(Type.Object({ scope: Type.String(), folder: Type.String() })),
      }),
      version: 2,
      initial: (): SkillState => ({ open: [], told: [], places: [] }),
      migrate: (old, version) =>
        version === 1 ? ({ ...(old as object), places: [] } as unknown as SkillState) : undefined,
    },
    capabilities: { readOnly: true },
    run: async (input, ctx) => {
      const { query = "", name = "" } = input;
      try {
        if (name.trim() !== "") return await read(skills, { ...input, name: name.trim() }, ctx);
        return await search(skills, query, ctx);
      } catch (error) {
        if (!(error instanceof BadSkill)) throw error;
        return ToolCallResult.failure("not readable", `It was not read: ${error.message}.`);
      }
    },
  });
}

/**
 * Tells the model once of a skill that is for a file it has just worked on. For a shed:
 * `shed.reminder(skillReminder(scopes))`, with the scopes of the tool.
 */
export function skillReminder(scopes: readonly SkillScope[]): Reminder {
  const skills = new Skills(scopes);
  return {
    id: "skills-discovered",
    requires: { kind: "skill" },
    collect: async (ctx, result) => {
      const paths = touched(result.output);
      const state = ctx.resources.get(STATE) as StateHandle<SkillState> | undefined;
      if (paths.length === 0 || !state) return [];
      const { open, told, places } = state.get();
      const there = await skills.placesFor(paths, ctx.signal);
      const found = there.filter(({ scope, folder }) => !places.some((p) => p.scope === scope && p.folder === folder));
      const known = [...places, ...found].slice(-MOST_PLACES);
      const all = (await skills.list(ctx.signal, known)).skills;
      const isNear = ({ paths, scope, base }: Skill) =>
        paths.length === 0 && found.some((p) => p.scope === scope.name && p.folder === joinPath(base, scope.folder));
      const news = all.filter(
        (skill) =>
          skill.forModel &&
          !told.includes(skill.name) &&
          (isFor(skill, paths) || isItself(skill, paths) || isNear(skill)),
      );
      if (news.length === 0 && found.length === 0) return [];
      const names = news.map(({ name }) => name);
      state.set({ open: [...new Set([...open, ...names])], told: [...told, ...names], places: known });
      const tool = ctx.names.toolOf("skill") ?? "skill";
      return news.map(({ name, description }) => ({
        key: name,
        text: `There is a skill for this, "${name}": ${description} Read it with ${tool} before you go on.`,
      }));
    },
  };
}

type Context = TypedToolContext<SkillParams, SkillState>;

/** Those that the model may have now: for any file, or for one that was worked on. */
async function offered(skills: Skills, ctx: Context): Promise<Skill[]> {
  const { open, places } = ctx.state.get();
  const all = (await skills.list(ctx.signal, places)).skills;
  return all.filter(({ name, paths, forModel }) => forModel && (paths.length === 0 || open.includes(name)));
}

async function search(skills: Skills, query: string, ctx: Context): Promise<ToolCallResult> {
  const all = await offered(skills, ctx);
  const hits = query.trim() === "" ? [] : fitting(all, query, ctx.params.maxResults);
  const found = hits.map(({ name, description, scope }) => ({ name, description, scope: scope.name }));
  const output = { found };
  if (all.length === 0) return new ToolCallResult([{ type: "text", text: "There are no skills here." }], { output });
  if (found.length === 0) {
    const names = all.slice(0, MOST_NAMES).map(({ name }) => name);
    const more = all.length > names.length ? `, and ${all.length - names.length} more` : "";
    const text = `${query.trim() === "" ? "" : "None fits. "}There are: ${names.join(", ")}${more}.`;
    return new ToolCallResult([{ type: "text", text }], { output });
  }
  const lines = found.map(({ name, description }) => `${name}: ${description}`);
  const text = `${lines.join("\n")}\n\nTo read one, give its ${ctx.names.param("name")}.`;
  return new ToolCallResult([{ type: "text", text }], { output });
}

async function read(skills: Skills, input: SkillInput & { name: string }, ctx: Context): Promise<ToolCallResult> {
  const all = await offered(skills, ctx);
  const skill = all.find(({ name }) => name.toLowerCase() === input.name.toLowerCase());
  if (!skill) {
    const near = fitting(all, input.name.replace(/[-_]/g, " "), 5).map(({ name }) => name);
    const hint =
      near.length === 0 ? ` Look for one with ${ctx.names.param("query")}.` : ` Near to it: ${near.join(", ")}.`;
    return ToolCallResult.failure(`no skill "${input.name}"`, `There is no skill "${input.name}".${hint}`);
  }
  const { name } = skill;
  const file = input.file?.trim() ?? "";
  if (file !== "") {
    const text = await skills.file(skill, file, ctx.signal);
    return new ToolCallResult([{ type: "text", text }], { output: { name, text } });
  }
  const body = await skills.body(skill, ctx.signal);
  const files = await skills.files(skill, ctx.signal);
  const args = input.args?.trim() ?? "";
  const filled = body.includes("$ARGUMENTS") ? body.replaceAll("$ARGUMENTS", () => args) : body;
  const notes = [
    ...(args !== "" && filled === body ? [`It is to be used on: ${args}`] : []),
    ...(skill.allowedTools.length > 0 ? [`It is written for these tools: ${skill.allowedTools.join(", ")}.`] : []),
    ...(files.length > 0 ? [`Its files, to be read with ${ctx.names.param("file")}: ${files.join(", ")}`] : []),
  ];
  const text = [filled === "" ? "(It says nothing.)" : filled, ...notes].join("\n\n");
  const state = ctx.state.get();
  if (!state.told.includes(name)) ctx.state.set({ ...state, told: [...state.told, name] });
  return new ToolCallResult([{ type: "text", text }], { output: { name, text } });
}

/** Whether the file that was worked on is the skill's own. */
function isItself({ folder, scope }: Skill, paths: readonly string[]): boolean {
  const own = folder === "." ? "SKILL.md" : `${folder}/SKILL.md`;
  return scope.folder !== "." && paths.some((path) => path.replace(/^(?:\.\/)+/, "") === own);
}

const MOST_PATHS = 100;

/** The paths that a result tells of: the file tools give them as `path`, alone or in a list. */
function touched(output: ToolCallResult["output"], depth = 0): string[] {
  if (typeof output !== "object" || output === null || depth > 2) return [];
  const found = Object.entries(output).flatMap(([key, value]): string[] =>
    (key === "path" || key === "to") && typeof value === "string" ? [value] : touched(value, depth + 1),
  );
  return found.slice(0, MOST_PATHS);
}
