import { AgenticError } from "@shedkit/types";
import type { ModelEvent } from "../contract.js";
import type { BackendPart, ProviderCase } from "./backend.js";
import { ask, collect, failureOf, holds, outputsOf, same } from "./check.js";

const parts: readonly BackendPart[] = [{ thinking: "Hm." }, "Some words.", { call: "read", arguments: { path: "a" } }];

/** An abort ends a generation at once, wherever it is. */
export const abortCases: readonly ProviderCase[] = [
  {
    name: "a request that was aborted before is not sent",
    async run(open) {
      const backend = await open([{ answer: { parts } }]);
      try {
        const events = await collect(backend.provider.stream(ask(backend, { signal: AbortSignal.abort("no") })));
        holds(AgenticError.is(failureOf(events), "cancelled"), "the failure is not cancelled");
        same(backend.requests().length, 0, "requests");
      } finally {
        await backend.close();
      }
    },
  },
  {
    name: "an abort while nothing comes closes the connection",
    async run(open) {
      const backend = await open([{ answer: { parts }, stallAfter: 0 }]);
      const controller = new AbortController();
      try {
        const events = collect(backend.provider.stream(ask(backend, { signal: controller.signal })));
        while (backend.requests().length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        controller.abort("enough");
        const failure = failureOf(await events);
        same(AgenticError.is(failure, "cancelled") && failure.details.reason, "enough", "reason");
        holds(await backend.left(0), "the connection stayed open");
      } finally {
        await backend.close();
      }
    },
  },
  {
    name: "an abort at any event ends in `cancelled`, with what came, and closes the connection",
    async run(open) {
      const length = await eventsOf(open, undefined);
      for (let at = 0; at < length; at++) await eventsOf(open, at);
    },
  },
  {
    name: "a reader that leaves closes the connection",
    async run(open) {
      const backend = await open([{ answer: { parts: ["Some words. ".repeat(100)] }, stallAfter: 3000 }]);
      try {
        for await (const event of backend.provider.stream(ask(backend))) if (event.type === "textDelta") break;
        holds(await backend.left(0), "the connection stayed open");
      } finally {
        await backend.close();
      }
    },
  },
];

/** Plays an answer that stalls before its end, aborts at an event, and returns how many events there were. */
async function eventsOf(open: Parameters<ProviderCase["run"]>[0], abortAt: number | undefined): Promise<number> {
  const backend = await open([{ answer: { parts } }]);
  const controller = new AbortController();
  const events: ModelEvent[] = [];
  try {
    for await (const event of backend.provider.stream(ask(backend, { signal: controller.signal }))) {
      if (events.push(event) - 1 === abortAt) controller.abort();
    }
    if (abortAt === undefined) return events.length;
    const last = events.at(-1);
    const late = events[abortAt]?.type === "finish";
    const cancelled = last?.type === "failure" && AgenticError.is(last.error, "cancelled");
    holds(cancelled || late, `aborted at event ${abortAt}, it ended in ${last?.type}`);
    const said = events.flatMap((event) => (event.type === "textDelta" ? [event.text] : [])).join("");
    const kept = outputsOf(events).flatMap((output) => (output.type === "text" ? [output.text] : []));
    same(kept.join(""), said, `text kept after an abort at event ${abortAt}`);
    return events.length;
  } finally {
    await backend.close();
  }
}
