import { AgentSession } from "@shedkit/agent";
import { Secret } from "@shedkit/provider";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";
import { ResponsesProvider } from "@shedkit/provider-openai-responses";
import { ToolShed } from "@shedkit/shed";
import { defineTool } from "@shedkit/tool";

const PROVIDERS = { chat: OpenAIProvider, responses: ResponsesProvider, anthropic: AnthropicMessagesProvider };

/** `native`: the server takes tools that are loaded later, as the vendor's own does; `declareAll`: all tools declared from the start; `byName`: none is later. */
export async function open({
  wire,
  url,
  model = "m",
  script,
  tools = [],
  steps = 20,
  system,
  declareAll,
  stores,
  native,
  byName,
}) {
  const provider = script ? scripted(script) : cloud({ wire, url, native });
  let shed = new ToolShed().tools(tools.map(toolOf));
  if (declareAll) shed = shed.pin(...tools.map(({ name }) => name));
  if (byName) shed = shed.callByName();
  const begin = (id) => {
    let builder = AgentSession.builder(provider).withModel(model).withToolshed(shed);
    if (system) builder = builder.withSystemPrompt(system);
    if (id) builder = builder.withSessionId(id);
    return stores ? stores(builder) : builder;
  };
  return {
    async converse(id) {
      const session = await begin(id).build();
      return {
        async ask(text) {
          let said = "";
          for await (const event of session.runTurnStream(text, { maxSteps: steps + 2 }).events()) {
            if (event.type === "text") said += event.delta;
            else if (event.type === "failed") throw event.error;
          }
          return said;
        },
        end: () => session.end(),
      };
    },
    close: async () => {},
  };
}

function cloud({ wire, url, native }) {
  const baseUrl = wire === "anthropic" ? url : `${url}/v1`;
  // The vendor's own address decides what a wire can do; here a fetch leads it to the scripted server.
  if (!native) return PROVIDERS[wire].withConfig({ apiKey: new Secret("k"), baseUrl });
  const fetchThere = (input, init) => {
    const { pathname } = new URL(typeof input === "string" ? input : (input.url ?? `${input}`));
    return fetch(`${url}${pathname}`, init);
  };
  return PROVIDERS[wire].withConfig({ apiKey: new Secret("k"), fetch: fetchThere });
}

/** Tools that only read run side by side, as the peers run all of theirs; ours must say that they do. */
function toolOf({ name, description, parameters, run }) {
  return defineTool({
    id: name,
    kind: "search",
    category: "custom",
    description,
    input: parameters,
    run: (args) => run(args),
  });
}

/** A model backend that costs nearly nothing. */
function scripted(script) {
  return {
    id: "scripted",
    serves: () => "yes",
    async *stream({ messages }) {
      const { text, calls } = script(messages.length);
      yield { type: "start", warnings: [] };
      yield { type: "textDelta", block: 0, text };
      yield { type: "output", block: 0, output: { type: "text", text } };
      for (const [i, { id, name, args }] of calls.entries()) {
        yield { type: "toolCallStart", block: i + 1, id, name };
        yield { type: "toolCallDelta", block: i + 1, json: JSON.stringify(args) };
        yield { type: "output", block: i + 1, output: { type: "toolCall", id, name, arguments: args } };
      }
      yield { type: "usage", usage: { input: 1, output: 1, cacheRead: 100, cacheWrite: 0, reasoning: 0, total: 102 } };
      yield { type: "finish", reason: calls.length > 0 ? "toolUse" : "stop" };
    },
  };
}
