import {
  type Attributes,
  context,
  type Histogram,
  type Meter,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { SessionObservation, SessionObserver } from "@shedkit/agent";
import { type AgenticError, textOfContent } from "@shedkit/types";
import {
  errorAttributes,
  finishName,
  inputTokens,
  json,
  metadataAttributes,
  requestAttributes,
  requestContents,
  usageAttributes,
} from "./attributes.js";
import { outputMessages } from "./messages.js";

/** Where spans and metrics go, and what they tell. */
export interface OtelOptions {
  /** Default: that of the globally registered provider, named `@shedkit/otel`. */
  tracer?: Tracer | undefined;
  /** Default: likewise. */
  meter?: Meter | undefined;
  /** `gen_ai.agent.name` of every turn. Default: none. */
  agentName?: string | undefined;
  /**
   * Whether spans carry what is said: prompts, answers, the arguments and results of tools, the texts of errors.
   * Default: false.
   */
  contents?: boolean | undefined;
}

type Seen<T extends SessionObservation["type"]> = Extract<SessionObservation, { type: T }>;

/** A span that has not ended, with what its duration is measured by. */
interface Open {
  span: Span;
  turn: string;
  at: number;
  measured: Attributes;
}

/** The bounds that the conventions advise. */
const TOKEN_BOUNDS = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
const SECOND_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/**
 * Makes spans and metrics of what sessions do, by the GenAI conventions: `invoke_agent` for a turn, in it `chat` for each
 * model call and `execute_tool` for each tool call. For `AgentSession.builder(...).withObserver`; one observer may serve
 * any number of sessions.
 */
export function otelObserver(options: OtelOptions = {}): SessionObserver {
  const writer = new Writer(options);
  return {
    observe: (observation) => writer.take(observation),
    within: ({ turnId, id }, work) => writer.within(`${turnId} ${id}`, work),
  };
}

class Writer {
  readonly #tracer: Tracer;
  readonly #tokens: Histogram;
  readonly #seconds: Histogram;
  readonly #agent: Attributes;
  readonly #name: string;
  readonly #contents: boolean;
  readonly #open = new Map<string, Open>();

  constructor({ tracer, meter, agentName, contents = false }: OtelOptions) {
    this.#tracer = tracer ?? trace.getTracer("@shedkit/otel");
    const from = meter ?? metrics.getMeter("@shedkit/otel");
    this.#tokens = from.createHistogram("gen_ai.client.token.usage", {
      unit: "{token}",
      description: "Tokens of a model call.",
      advice: { explicitBucketBoundaries: TOKEN_BOUNDS },
    });
    this.#seconds = from.createHistogram("gen_ai.client.operation.duration", {
      unit: "s",
      description: "How long an operation took.",
      advice: { explicitBucketBoundaries: SECOND_BOUNDS },
    });
    this.#agent = agentName === undefined ? {} : { "gen_ai.agent.name": agentName };
    this.#name = agentName === undefined ? "invoke_agent" : `invoke_agent ${agentName}`;
    this.#contents = contents;
  }

  take(observation: SessionObservation): void {
    switch (observation.type) {
      case "turnStarted":
        this.#turnStarted(observation);
        break;
      case "turnEnded":
        this.#turnEnded(observation);
        break;
      case "modelCallStarted":
        this.#modelCallStarted(observation);
        break;
      case "modelCallEnded":
        this.#modelCallEnded(observation);
        break;
      case "toolCallStarted":
        this.#toolCallStarted(observation);
        break;
      case "toolCallEnded":
        this.#toolCallEnded(observation);
        break;
    }
  }

  /** Runs work with the span of a call as the active one, where the application has a context manager. */
  within<T>(key: string, work: () => T): T {
    const open = this.#open.get(key);
    return open ? context.with(trace.setSpan(context.active(), open.span), work) : work();
  }

  #turnStarted(seen: Seen<"turnStarted">): void {
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.conversation.id": seen.sessionId,
      "shedkit.turn.id": seen.turnId,
      ...this.#agent,
    };
    const given = metadataAttributes(seen.metadata ?? {});
    const span = { name: this.#name, kind: SpanKind.INTERNAL, attributes: { ...given, ...attributes } };
    this.#start(seen.turnId, seen, span, attributes);
  }

  #turnEnded(seen: Seen<"turnEnded">): void {
    // What was left behind by an abort tells no end of its own.
    for (const [key, open] of this.#open) {
      if (open.turn === seen.turnId && key !== seen.turnId) this.#end(key, seen, {}, { type: "cancelled" });
    }
    this.#end(seen.turnId, seen, usageAttributes(seen.usage), seen.error && { error: seen.error });
  }

  #modelCallStarted(seen: Seen<"modelCallStarted">): void {
    const attributes = requestAttributes(seen);
    this.#tellTurn(seen.turnId, attributes);
    const contents = this.#contents ? requestContents(seen) : {};
    const name = `chat ${seen.request.model.name}`;
    const span = { name, kind: SpanKind.CLIENT, attributes: { ...attributes, ...contents } };
    this.#start(`${seen.turnId} ${seen.stepId}`, seen, span, attributes);
  }

  /** Which backend and model a turn asked first is known with its first call only. */
  #tellTurn(turnId: string, attributes: Attributes): void {
    const turn = this.#open.get(turnId);
    if (!turn || "gen_ai.request.model" in turn.measured) return;
    const first = metricAttributes({ ...attributes, "gen_ai.operation.name": undefined });
    turn.span.setAttributes(first);
    turn.measured = { ...turn.measured, ...first };
  }

  #modelCallEnded(seen: Seen<"modelCallEnded">): void {
    const { usage, outputs, finish, error } = seen;
    const key = `${seen.turnId} ${seen.stepId}`;
    const measured = this.#open.get(key)?.measured;
    for (const [type, tokens] of [
      ["input", inputTokens(usage)],
      ["output", usage.output],
    ] as const) {
      if (tokens > 0) this.#tokens.record(tokens, { ...measured, "gen_ai.token.type": type });
    }
    const attributes: Attributes = {
      ...usageAttributes(usage),
      "gen_ai.response.finish_reasons": [finishName(finish)],
    };
    if (this.#contents) attributes["gen_ai.output.messages"] = json(outputMessages(outputs, finishName(finish)));
    this.#end(key, seen, attributes, error && { error });
  }

  #toolCallStarted(seen: Seen<"toolCallStarted">): void {
    const { toolCallId, name, attempt } = seen;
    const key = `${seen.turnId} ${toolCallId}`;
    const running = this.#open.get(key);
    if (running) {
      running.span.addEvent("retry", { attempt }, seen.at);
      return;
    }
    const attributes: Attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.conversation.id": seen.sessionId,
      "gen_ai.tool.name": name,
      "gen_ai.tool.call.id": toolCallId,
      "gen_ai.tool.type": "function",
    };
    if (this.#contents) attributes["gen_ai.tool.call.arguments"] = json(seen.arguments);
    const span = { name: `execute_tool ${name}`, kind: SpanKind.INTERNAL, attributes };
    this.#start(key, seen, span, { ...attributes });
  }

  #toolCallEnded(seen: Seen<"toolCallEnded">): void {
    const attributes: Attributes = {};
    if (this.#contents) attributes["gen_ai.tool.call.result"] = textOfContent(seen.content);
    const failed = seen.outcome === "ok" ? undefined : { type: seen.outcome, text: seen.errorDetail };
    this.#end(`${seen.turnId} ${seen.toolCallId}`, seen, attributes, failed);
  }

  #start(
    key: string,
    { turnId, at }: SessionObservation,
    span: { name: string; kind: SpanKind; attributes: Attributes },
    measured: Attributes,
  ): void {
    const turn = this.#open.get(turnId)?.span;
    const parent = turn ? trace.setSpan(context.active(), turn) : context.active();
    const { name, ...options } = span;
    const started = this.#tracer.startSpan(name, { ...options, startTime: at }, parent);
    this.#open.set(key, { span: started, turn: turnId, at, measured: metricAttributes(measured) });
  }

  #end(
    key: string,
    { at }: SessionObservation,
    attributes: Attributes,
    failed: { error: AgenticError } | { type: string; text?: string | undefined } | undefined,
  ): void {
    const open = this.#open.get(key);
    if (!open) return;
    this.#open.delete(key);
    const { span, measured } = open;
    span.setAttributes(attributes);
    let why: Attributes = {};
    if (failed) {
      why = "error" in failed ? errorAttributes(failed.error) : { "error.type": failed.type };
      const message = "error" in failed ? failed.error.message : failed.text;
      span.setAttributes(why);
      span.setStatus({
        code: SpanStatusCode.ERROR,
        ...(this.#contents && message !== undefined && { message }),
      });
    }
    const ended = Math.max(at, open.at); // clocks may go backwards
    span.end(ended);
    const { "error.type": type } = why;
    this.#seconds.record((ended - open.at) / 1000, type === undefined ? measured : { ...measured, "error.type": type });
  }
}

/** The few that metrics are told apart by: never ids, of which there are too many. */
const MEASURED = new Set(["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.tool.name"]);

function metricAttributes(attributes: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([key, value]) => MEASURED.has(key) && value !== undefined),
  );
}
