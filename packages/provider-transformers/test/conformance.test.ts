import type { ModelProvider, ModelRequest } from "@shedkit/provider";
import { type OpenProvider, providerCases } from "@shedkit/provider/conformance";
import { normalizeTranscript } from "@shedkit/provider/transcript";
import { localAnswer } from "@shedkit/testing";
import { it } from "vitest";
import { cpuProvider, tinyModel } from "./helpers.js";

/**
 * What needs no server: the others are about statuses, connections and bodies of requests, or give calls arguments that
 * no property declares, which the grammar does not let a model write.
 */
const LOCAL = new Set([
  "two requests at once do not mix",
  "what a model answered goes back to it, and the server takes it",
  "a conversation in any disorder is sent as one that the server takes",
  "an answer's schema is sent, and what was wrapped for the wire is unwrapped",
  "a request that was aborted before is not sent",
  "an abort at any event ends in `cancelled`, with what came, and closes the connection",
  "a reader that leaves closes the connection",
]);

const providers = new Map<string, ModelProvider>();

/** A model for each reply; all go by one name, as one model would. */
const open: OpenProvider = async (replies) => {
  const answering = replies.map((reply) => {
    const says = "answer" in reply ? localAnswer(reply.answer.parts) : [];
    const known = providers.get(says.join());
    if (known) return known;
    const model = tinyModel({ says, contextLength: 8192 });
    const provider = cpuProvider({ resolve: async () => ({ folder: model, dtype: "fp32", bytes: 400_000 }) });
    providers.set(says.join(), provider);
    return provider;
  });
  const sent: string[] = [];
  let next = 0;
  const provider: ModelProvider = {
    id: "local",
    serves: () => "yes",
    async *stream(request: ModelRequest) {
      for await (const event of (answering[next++] ?? answering[0])?.stream(request) ?? []) {
        if (event.type === "start")
          sent.push(JSON.stringify(normalizeTranscript(request.messages, { model: "local" })));
        if (event.type !== "loading") yield event; // only the first request of a model has them
      }
    },
  };
  return { provider, model: "local", requests: () => sent, left: async () => true, close: async () => undefined };
};

for (const { name, run } of providerCases.filter((one) => LOCAL.has(one.name))) it(name, () => run(open));
