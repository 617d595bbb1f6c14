import {
  type CapabilityHints,
  defineCommands,
  defineTool,
  type Reminder,
  ToolCallResult,
  type ToolConstructor,
  type ToolContext,
  type ToolImpl,
  toolFn,
} from "@shedkit/tool";
import { AgenticError, type AgentSpawner } from "@shedkit/types";
import * as Type from "@sinclair/typebox";
import { type AgentToolOptions, Fleet, inShort, inWords, type Roster, rosterOf, share, sharedFleet } from "./fleet.js";
import { follow } from "./follow.js";

const MAX_STEPS = 50;
const MAX_WAIT_MS = 600_000;

const Id = Type.String({ minLength: 1, description: "The sub-agent's id, e.g. agent-1." });
const OnlyId = Type.Object({ id: Id }, { additionalProperties: false });
const Status = Type.Object({ id: Type.String(), status: Type.String() });
const startInput = (model: string | undefined) =>
  Type.Object(
    {
      task: Type.String({
        minLength: 1,
        description: "All that it needs to know: it sees nothing of this conversation. Say what it is to answer.",
      }),
      resume: Type.Optional(
        Type.String({ description: "The id of a sub-agent that has ended: goes on in its conversation." }),
      ),
      model: Type.Optional(Type.String({ description: `A model's name. Default: ${model ?? "the same as yours"}.` })),
      system: Type.Optional(Type.String({ description: "What it is, in place of what you are." })),
      max_steps: Type.Optional(Type.Integer({ minimum: 1, description: "The most steps it may take." })),
    },
    { additionalProperties: false },
  );
const StartInput = startInput(undefined);
const RosterSchema = Type.Object({
  count: Type.Integer(),
  agents: Type.Array(Type.Object({ id: Type.String(), session: Type.String(), task: Type.String() })),
});

/** Tells the model once of each sub-agent that has ended. For a shed: `shed.reminder(agentReminder())`. */
export function agentReminder(): Reminder {
  return {
    id: "agents-ended",
    collect: async (ctx) =>
      (sharedFleet(ctx.resources)?.news() ?? []).map((live) => {
        live.told = true;
        const { id } = live.entry;
        const tool = ctx.names.toolOf("task");
        const how = tool === undefined ? "" : ` Its answer is there: ${tool} with the command result.`;
        return { key: id, text: `The sub-agent ${id} is ${inWords(live.child.status())}.${how}` };
      }),
  };
}

/**
 * Gives work to sub-agents: they work in sessions of their own, beside this one, on the same budget, and end with it at the
 * latest.
 */
export function agentTool(spawner: AgentSpawner<ToolImpl | ToolConstructor>, options: AgentToolOptions = {}): ToolImpl {
  const fleet = new Fleet(spawner, options);
  const capabilities: CapabilityHints = { destructive: false };
  const start = defineTool({
    id: "start",
    namespace: "agent",
    kind: "task",
    description: "Starts a sub-agent on a task and returns at once. Several may work at the same time.",
    input: options.model === undefined ? StartInput : startInput(options.model),
    output: Type.Object({ id: Type.String(), session: Type.String() }),
    params: {
      schema: Type.Object({ maxSteps: Type.Integer({ minimum: 1 }) }, { additionalProperties: false }),
      defaults: { maxSteps: options.maxSteps ?? MAX_STEPS },
    },
    state: { schema: RosterSchema, version: 1, initial: (): Roster => ({ count: 0, agents: [] }) },
    reminders: [agentReminder()],
    capabilities,
    run: async ({ task, resume, model, system, max_steps }, ctx) => {
      share(fleet, ctx.resources);
      if (task.trim() === "") return ToolCallResult.failure("no task", `${ctx.names.param("task")} is empty.`);
      const before = filled(resume);
      const entry = ctx.state.get().agents.find(({ id }) => id === before);
      if (before !== undefined && !entry) return unknown(before, ctx);
      if (entry && fleet.works(entry.id)) {
        const text = `${entry.id} still works. Wait for it, or stop it first.`;
        return ToolCallResult.failure("still running", text);
      }
      try {
        const steps = { asked: max_steps, most: ctx.params.maxSteps };
        const live = await fleet.start(
          { task, entry, model: filled(model), system: filled(system) },
          steps,
          ctx.state,
          ctx,
        );
        const { id, session } = live.entry;
        const text = `${id} has begun.\n${how("result", id, ctx)} gives its answer; go on with other work meanwhile.`;
        return new ToolCallResult([{ type: "text", text }], { output: { id, session } });
      } catch (error) {
        ctx.signal.throwIfAborted();
        // Too many, too deep, a model that is not there: the model can do something about it.
        if (!AgenticError.is(error)) throw error;
        return ToolCallResult.failure(`not started (${error.code})`, `No sub-agent was started: ${error.message}`);
      }
    },
  });
  const check = defineTool({
    id: "check",
    namespace: "agent",
    kind: "task",
    description: "Says how a sub-agent stands, or all of them.",
    input: Type.Object(
      { id: Type.Optional(Type.String({ description: "Of one alone. Default: all of them." })) },
      { additionalProperties: false },
    ),
    output: Type.Object({ agents: Type.Array(Status) }),
    capabilities: { ...capabilities, readOnly: true },
    run: ({ id: named }, ctx) => {
      const id = filled(named);
      const { agents } = rosterOf(ctx.resources);
      const asked = id === undefined ? agents : agents.filter((agent) => agent.id === id);
      if (id !== undefined && asked.length === 0) return unknown(id, ctx);
      const rows = asked.map((agent) => ({ id: agent.id, status: statusOf(agent.id) }));
      const lines = asked.map((agent, i) => `${agent.id}: ${rows[i]?.status} (${inShort(agent.task)})`);
      const text = lines.length === 0 ? "No sub-agent was started." : lines.join("\n");
      return new ToolCallResult([{ type: "text", text }], { output: { agents: rows } });
    },
  });
  const statusOf = (id: string): string => {
    const live = fleet.live(id);
    return live ? inWords(live.child.status()) : "ended earlier";
  };
  const result = defineTool({
    id: "result",
    namespace: "agent",
    kind: "task",
    description: "Gives the answer of a sub-agent. Does not wait unless it is told how long.",
    input: Type.Object(
      {
        id: Id,
        timeout_ms: Type.Optional(
          Type.Number({ minimum: 0, description: "Waits so long for it to end, in milliseconds; at most 600000." }),
        ),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({ id: Type.String(), answer: Type.String(), tokens: Type.Integer() }),
    capabilities: { ...capabilities, readOnly: true, timeoutMs: MAX_WAIT_MS + 60_000 },
    async *execute({ id: asked, timeout_ms = 0 }, ctx) {
      const id = asked.trim();
      const live = fleet.live(id);
      if (live) {
        for await (const status of follow(live.child, Math.min(timeout_ms, MAX_WAIT_MS), ctx.signal)) {
          yield { text: `${id}: ${inWords(status)}`, data: { id, ...status } };
        }
      }
      const entry = rosterOf(ctx.resources).agents.find((agent) => agent.id === id);
      const status = live ? live.child.status() : entry && (await fleet.ended(entry, ctx.signal));
      if (!status) return gone(id, ctx, "does not work any more, and there is no answer of it");
      switch (status.type) {
        case "running": {
          const text = `${id} is not done (${inWords(status)}). To wait for it, give ${ctx.names.param("timeout_ms")}.`;
          return ToolCallResult.failure("still running", text);
        }
        case "paused":
          return ToolCallResult.failure("paused", `${id} is paused. ${how("resume", id, ctx)} lets it go on.`);
        case "failed": {
          if (live) live.told = true;
          const text = `${id} ${inWords(status)}\nIts work so far is kept: start with ${ctx.names.param("resume")} "${id}" goes on.`;
          return ToolCallResult.failure(`${id} ${inWords(status)}`, text);
        }
        case "done": {
          if (live) live.told = true;
          const answer = status.summary === "" ? "(It answered nothing.)" : status.summary;
          const output = { id, answer, tokens: status.usage?.total ?? 0 };
          return new ToolCallResult([{ type: "text", text: answer }], { output });
        }
      }
    },
  });
  const gone = (id: string, ctx: ToolContext, why = "does not work any more"): ToolCallResult => {
    if (!rosterOf(ctx.resources).agents.some((agent) => agent.id === id)) return unknown(id, ctx);
    const text = `${id} ${why}. What it did is kept: start with ${ctx.names.param("resume")} "${id}" goes on in its conversation.`;
    return ToolCallResult.failure("ended earlier", text);
  };
  const acting = (
    command: "pause" | "resume" | "stop",
    description: string,
    act: (live: NonNullable<ReturnType<Fleet["live"]>>) => Promise<void> | void,
  ) =>
    defineTool({
      id: command,
      namespace: "agent",
      kind: "task",
      description,
      input: OnlyId,
      output: Status,
      capabilities: { ...capabilities, idempotent: true },
      run: async ({ id: asked }, ctx) => {
        const id = asked.trim();
        const live = fleet.live(id);
        if (!live) return gone(id, ctx);
        if (!live.over) await act(live);
        const status = inWords(live.child.status());
        const text = `${id}: ${status}.`;
        return new ToolCallResult([{ type: "text", text }], { output: { id, status } });
      },
    });
  const pause = acting("pause", "Holds a sub-agent before its next step.", ({ child }) => child.pause());
  const resume = acting("resume", "Lets a paused sub-agent go on.", ({ child }) => child.resume());
  const stop = acting("stop", "Ends a sub-agent at once.", async (live) => {
    live.told = true;
    await live.child.stop();
    await live.ended;
  });
  return defineCommands({
    name: "agent",
    namespace: "agent",
    description:
      "Give a task to a sub-agent.\nIt works by itself, with tools of its own, and answers when it is done: for work that can " +
      "be described in full and whose details you need not see.",
    commands: { start, check, result, pause, resume, stop },
  });
}

/** {@link agentTool} over what the session that it is built for may start. */
export function sessionAgentTool(options: AgentToolOptions = {}): ToolConstructor {
  return toolFn("agent", ({ spawn }) => {
    if (spawn) return agentTool(spawn, options);
    const text = "The session cannot start sub-agents: SessionParts has no `spawn`. Leave the agent tool out.";
    throw new AgenticError("session", text, { reason: "no spawner" });
  });
}

/** How a command of this tool is called, as the model must write it. */
function how(command: string, id: string, { names }: ToolContext): string {
  return `${names.tool} { ${names.param("command")}: "${command}", ${names.param("id")}: "${id}" }`;
}

function unknown(id: string, ctx: ToolContext): ToolCallResult {
  const ids = rosterOf(ctx.resources).agents.map((agent) => agent.id);
  const there = ids.length === 0 ? "None was started." : `There are: ${ids.slice(-20).join(", ")}.`;
  return ToolCallResult.failure(`no such sub-agent: ${id}`, `There is no sub-agent "${id}". ${there}`);
}

/** Models fill in what they leave open: that is the same as nothing. */
function filled(text: string | undefined): string | undefined {
  return text === undefined || /^(|null|none|undefined|default)$/i.test(text.trim()) ? undefined : text.trim();
}
