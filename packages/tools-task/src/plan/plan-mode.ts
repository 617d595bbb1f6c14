import {
  callGates,
  defineTool,
  type Resources,
  type StateHandle,
  stateOf,
  ToolCallResult,
  type ToolConstructor,
  type TypedTool,
  toolFn,
  userAnswers,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { type PlanModeOptions, planGate } from "./gate.js";

interface PlanState {
  active: boolean;
}

const NOBODY_ASKED =
  "Nobody could be asked, so the plan is not agreed to, and nothing may be changed yet. End your answer with the plan.";

const STATE = stateOf("task:enter_plan");
const Active = Type.Object({ active: Type.Boolean() });

/**
 * `enter_plan` and `exit_plan`. While a plan is made, calls that change files (or more, see `holds`) are refused, whatever the
 * permissions; what was planned is carried out once a person has agreed. Both go into a shed:
 * `shed.tools(planModeTools())`.
 */
export function planModeTools(options: PlanModeOptions = {}): ToolConstructor[] {
  return [
    toolFn("enter_plan", ({ resources }) => {
      resources.getOrDefault(callGates, () => new Set()).add(planGate(() => planMode(resources).active, options));
      return enterPlanTool();
    }),
    toolFn("exit_plan", () => exitPlanTool()),
  ];
}

/**
 * Whether a plan is being made in the session of these resources, and the switch for it:
 * `session.toolManager.resources`.
 */
export function planMode(resources: Resources): PlanState {
  const state = resources.get(STATE) as StateHandle<PlanState> | undefined;
  return {
    get active() {
      return state?.get().active ?? false;
    },
    set active(active) {
      state?.set({ active });
    },
  };
}

function enterPlanTool(): TypedTool<Record<string, never>, PlanState> {
  return defineTool({
    id: "enter_plan",
    namespace: "task",
    kind: "enterPlan",
    category: "task",
    description:
      "Make a plan before anything is changed.\nNothing can be changed until the user has agreed to the plan: read, search, " +
      "and think first.",
    input: Type.Object({}, { additionalProperties: false }),
    output: Active,
    state: { schema: Active, version: 1, initial: (): PlanState => ({ active: false }) },
    requires: { kind: "exitPlan" },
    capabilities: { readOnly: true, idempotent: true, touches: () => ["plan"] },
    run: (_, ctx) => {
      const before = ctx.state.get().active;
      ctx.state.set({ active: true });
      const exit = ctx.names.toolOf("exitPlan");
      const next = exit === undefined ? "" : ` When the plan is ready, show it to the user with ${exit}.`;
      const text = `${before ? "A plan is being made already." : "Nothing is changed from now on."}${next}`;
      return new ToolCallResult([{ type: "text", text }], { output: { active: true } });
    },
  });
}

function exitPlanTool(): TypedTool<{ plan: string }, PlanState> {
  return defineTool({
    id: "exit_plan",
    namespace: "task",
    kind: "exitPlan",
    category: "task",
    description:
      "Show the user the plan, and carry it out if it is agreed to.\nWaits for the user. If the answer is no, the plan is to be " +
      "changed, and nothing else.",
    input: Type.Object(
      { plan: Type.String({ minLength: 1, maxLength: 50_000, description: "The whole plan, as Markdown." }) },
      { additionalProperties: false },
    ),
    output: Active,
    requires: { kind: "enterPlan" },
    capabilities: { readOnly: true, idempotent: false, touches: () => ["plan"] },
    asks: () => true,
    run: (_, ctx) => {
      const kept = ctx.resources.get(userAnswers);
      const remark = kept?.get(ctx.callId);
      if (remark === undefined) return ToolCallResult.failure("nobody was asked", NOBODY_ASKED);
      kept?.delete(ctx.callId);
      planMode(ctx.resources).active = false;
      const said = typeof remark === "string" && remark.trim() !== "" ? ` The user says: ${remark.trim()}` : "";
      const text = `The user agrees: carry the plan out. Things may be changed again.${said}`;
      return new ToolCallResult([{ type: "text", text }], { output: { active: false } });
    },
  });
}
