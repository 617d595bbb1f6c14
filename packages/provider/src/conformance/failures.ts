import { AgenticError } from "@shedkit/types";
import { type BackendReply, backendKey, type ProviderCase } from "./backend.js";
import { ask, collect, failureOf, holds, outputsOf, play, same } from "./check.js";

const overloaded = new AgenticError("generation", "busy", { kind: "overloaded", provider: "", model: "" });
const text = "0123456789".repeat(20);

function kindOf(error: AgenticError): string {
  return AgenticError.is(error, "generation") ? error.details.kind : error.code;
}

const STATUSES: readonly [number, string, string, boolean][] = [
  [400, "invalid_request_error", "badRequest", false],
  [401, "authentication_error", "auth", false],
  [403, "permission_error", "auth", false],
  [404, "not_found_error", "badRequest", false],
  [408, "timeout_error", "timeout", true],
  [413, "request_too_large", "contextOverflow", false],
  [429, "rate_limit_error", "rateLimit", true],
  [500, "api_error", "server", true],
  [503, "unavailable", "overloaded", true],
  [529, "overloaded_error", "overloaded", true],
];

/** What comes of an answer that does not go well: always a typed failure, never a throw, never a hang. */
export const failureCases: readonly ProviderCase[] = [
  ...STATUSES.map(
    ([status, code, kind, retryable]): ProviderCase => ({
      name: `HTTP ${status} is ${kind}`,
      async run(open) {
        const message = `It is ${code}, your key is ${backendKey}.`;
        const error = failureOf(await play(open, { status, error: { code, message } }));
        same([kindOf(error), error.status, error.retryable], [kind, status, retryable], "kind, status, retryable");
        holds(error.message.includes(code), `the message does not say what came: ${error.message}`);
        const shown = `${error.message}${error.stack}${JSON.stringify(error)}${String(error.cause)}`;
        holds(!shown.includes(backendKey), "the key shows in the failure");
      },
    }),
  ),
  {
    name: "a prompt that is too long is overflow",
    async run(open) {
      const error = { code: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" };
      same(kindOf(failureOf(await play(open, { status: 400, error }))), "contextOverflow", "kind");
    },
  },
  {
    name: "how long the server asks to wait is handed on",
    async run(open) {
      const error = { code: "rate_limit_error", message: "slow" };
      const failure = failureOf(await play(open, { status: 429, headers: { "retry-after": "7" }, error }));
      same(failure.retryAfterMs, 7000, "retryAfterMs");
    },
  },
  {
    name: "a request that failed before it began is repeated, and nobody sees the failure",
    async run(open) {
      const busy: BackendReply = { status: 529, error: { code: "overloaded_error", message: "busy" } };
      const slow: BackendReply = {
        status: 429,
        headers: { "retry-after-ms": "1" },
        error: { code: "rate_limit_error", message: "slow" },
      };
      const answer = { parts: ["Hello."] };
      const backend = await open([busy, { answer, cutAfter: -1 }, slow, { answer }], { maxRetries: 3 });
      try {
        const events = await collect(backend.provider.stream(ask(backend)));
        same(outputsOf(events), [{ type: "text", text: "Hello." }], "outputs");
        same(backend.requests().length, 4, "requests");
      } finally {
        await backend.close();
      }
    },
  },
  {
    name: "a stream that has begun is not repeated",
    async run(open) {
      const answer = { parts: [text, { fail: overloaded }] };
      const backend = await open([{ answer }, { answer }], { maxRetries: 3 });
      try {
        const events = await collect(backend.provider.stream(ask(backend)));
        same(kindOf(failureOf(events)), "overloaded", "kind");
        same(backend.requests().length, 1, "requests");
      } finally {
        await backend.close();
      }
    },
  },
  {
    name: "an error event ends the stream in a typed failure, behind what came",
    async run(open) {
      const events = await play(open, { answer: { parts: ["half of it", { fail: overloaded }] } });
      same(outputsOf(events), [{ type: "text", text: "half of it" }], "outputs");
      same([kindOf(failureOf(events)), failureOf(events).retryable], ["overloaded", true], "kind, retryable");
    },
  },
  {
    name: "a call that broke off is not handed on",
    async run(open) {
      const parts = [{ call: "read", arguments: { path: text } }];
      const whole = await play(open, { answer: { parts } });
      const bytes = JSON.stringify(whole).length;
      const events = await play(open, { answer: { parts }, cutAfter: Math.floor(bytes / 2) });
      same(outputsOf(events), [], "outputs");
      same(kindOf(failureOf(events)), "network", "kind");
    },
  },
  ...([-1, 0, 1, 900] as const).map(
    (cutAfter): ProviderCase => ({
      name:
        cutAfter < 0
          ? "a connection that breaks before the headers"
          : `a connection that breaks after ${cutAfter} bytes`,
      async run(open) {
        const error = failureOf(await play(open, { answer: { parts: [text] }, cutAfter }));
        same([kindOf(error), error.retryable], ["network", true], "kind, retryable");
      },
    }),
  ),
  {
    name: "a stream that ends early, in good order, is a failure all the same",
    async run(open) {
      for (const endAfter of [0, 700]) {
        const events = await play(open, { answer: { parts: [text] }, endAfter });
        same(kindOf(failureOf(events)), "network", `kind after ${endAfter} bytes`);
      }
    },
  },
  {
    name: "an error whose body stops keeps its status",
    async run(open) {
      const error = { code: "overloaded_error", message: text };
      const failure = failureOf(await play(open, { status: 529, error, stallAfter: 0 }, {}, { idleTimeoutMs: 60 }));
      same([kindOf(failure), failure.status], ["overloaded", 529], "kind, status");
    },
  },
  {
    name: "an error whose body breaks off keeps its status",
    async run(open) {
      const error = { code: "rate_limit_error", message: text };
      const failure = failureOf(await play(open, { status: 429, error, headers: { "retry-after": "3" }, cutAfter: 9 }));
      same(
        [kindOf(failure), failure.status, failure.retryAfterMs],
        ["rateLimit", 429, 3000],
        "kind, status, retryAfterMs",
      );
    },
  },
  {
    name: "an error with status 200 is a failure, with what it says",
    async run(open) {
      const error = { code: "rate_limit_error", message: "slow down" };
      const failure = failureOf(await play(open, { status: 200, error }));
      same(kindOf(failure), "rateLimit", "kind");
      holds(failure.message.includes("slow down"), `the message does not say what came: ${failure.message}`);
    },
  },
  {
    name: "a connection that breaks at any byte is a failure or the whole answer, and never an exception",
    async run(open) {
      const answer = { parts: ["Hi.", { call: "read", raw: "{}" }] };
      const whole = await play(open, { answer });
      for (let cutAfter = 0; cutAfter < 4000; cutAfter += 61) {
        const events = await play(open, { answer, cutAfter });
        const last = events.at(-1);
        if (last?.type === "finish") return same(events, whole, `events after ${cutAfter} bytes`);
        same(kindOf(failureOf(events)), "network", `kind after ${cutAfter} bytes`);
      }
      throw new Error("the answer never came whole");
    },
  },
  {
    name: "a stream that says nothing for too long is a timeout, pings or not",
    async run(open) {
      const stalled = { answer: { parts: [text] }, stallAfter: 700 };
      for (const reply of [stalled, { ...stalled, pingEveryMs: 5 }]) {
        const error = failureOf(await play(open, reply, {}, { idleTimeoutMs: 60 }));
        same([kindOf(error), error.retryable], ["timeout", true], "kind, retryable");
      }
    },
  },
];
