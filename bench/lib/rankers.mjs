import { ToolSearchProcessor } from "@mastra/core/processors";
import { createTool } from "@mastra/core/tools";
import { ToolDiscovery } from "@shedkit/shed";
import { generateText, isStepCount, jsonSchema, tool, toolSearch } from "ai";
import MiniSearch from "minisearch";
import { stemmer } from "stemmer";

/** Each takes tools and gives a search, or a promise of one: from a query and a limit to names, best first. */
export const RANKERS = {
  "@shedkit/shed": (tools) => {
    const discovery = new ToolDiscovery();
    for (const tool of tools) discovery.add(tool);
    return async (query, limit) => (await discovery.search(query, limit)).map(({ name }) => name);
  },
  "plain BM25": plainBm25,
  regex,
  MiniSearch: miniSearch,
  "ai, toolSearch": aiToolSearch,
  "@mastra/core, ToolSearchProcessor": mastraToolSearch,
};

/** Theirs runs inside a generation alone, so a model that only asks for the search stands around it: its time is no search's. */
function aiToolSearch(tools) {
  const deferred = Object.fromEntries(
    tools.map(({ definition: { name, description } }) => [
      name,
      tool({ description, inputSchema: jsonSchema({ type: "object" }), execute: async () => "", deferLoading: true }),
    ]),
  );
  return async (query, limit) => {
    const call = { type: "tool-call", toolCallId: "1", toolName: "tool__search", input: JSON.stringify({ query }) };
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const model = {
      ...{ specificationVersion: "v4", provider: "scripted", modelId: "m", supportedUrls: {} },
      doGenerate: async () => ({ content: [call], finishReason: { unified: "tool-calls" }, usage, warnings: [] }),
    };
    const search = toolSearch({ maxResults: limit });
    const { toolResults } = await generateText({
      model,
      tools: { ...deferred, tool__search: search },
      stopWhen: isStepCount(1),
      prompt: "?",
    });
    return toolResults[0].output.tools.map(({ name }) => name);
  };
}

/** Their search tool, called as an agent calls it. */
async function mastraToolSearch(tools) {
  const made = Object.fromEntries(
    tools.map(({ definition: { name, description } }) => [
      name,
      createTool({ id: name, description, inputSchema: { type: "object" }, execute: async () => "" }),
    ]),
  );
  const processors = new Map();
  return async (query, limit) => {
    if (!processors.has(limit)) {
      const processor = new ToolSearchProcessor({ tools: made, search: { topK: limit, minScore: 0 } });
      const step = await processor.processInputStep({
        tools: {},
        messages: [],
        messageList: NO_MESSAGES,
        stepNumber: 0,
      });
      processors.set(limit, step.tools.search_tools);
    }
    const { results } = await processors.get(limit).execute({ query }, {});
    return results.map(({ name }) => name);
  };
}

/** What their processor writes its hint to. */
const NO_MESSAGES = { addSystem: () => {}, getAllSystemMessages: () => [], get: { all: { db: () => [] } } };

/** Our search with an embedder beside the words. */
export function withEmbedder(embedder) {
  return async (tools) => {
    const discovery = new ToolDiscovery();
    for (const tool of tools) discovery.add(tool);
    await discovery.useEmbedder(embedder);
    return async (query, limit) => {
      const found = await discovery.search(query, limit);
      if (discovery.embedderFault !== undefined) throw new Error(discovery.embedderFault);
      return found.map(({ name }) => name);
    };
  };
}

const wordsOf = (text) =>
  text
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? [];
const textOf = ({ name, description, arguments: schema }) => `${name} ${name} ${description} ${argumentsText(schema)}`; // the name counts twice

function argumentsText({ properties = {} }) {
  return Object.entries(properties)
    .map(([key, property]) => `${key} ${property?.description ?? ""}`)
    .join(" ");
}

/** Over stemmed words of all texts as one, k1 = 1.2, b = 0.75. */
function plainBm25(tools) {
  const documents = tools.map(({ definition }) => wordsOf(textOf(definition)).map(stemmer));
  const mean = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const postings = new Map();
  for (const [i, document] of documents.entries()) {
    for (const word of document) {
      if (!postings.has(word)) postings.set(word, new Map());
      postings.get(word).set(i, (postings.get(word).get(i) ?? 0) + 1);
    }
  }
  return async (query, limit) => {
    const scores = new Map();
    for (const word of new Set(wordsOf(query).map(stemmer))) {
      const list = postings.get(word);
      if (!list) continue;
      const rarity = Math.log(1 + (documents.length - list.size + 0.5) / (list.size + 0.5));
      for (const [i, count] of list) {
        const saturated = (count * 2.2) / (count + 1.2 * (0.25 + (0.75 * documents[i].length) / mean));
        scores.set(i, (scores.get(i) ?? 0) + rarity * saturated);
      }
    }
    return [...scores]
      .sort((a, b) => b[1] - a[1])
      .slice(0, limit)
      .map(([i]) => tools[i].definition.name);
  };
}

/** Any word of four letters or more of the query, anywhere in the text; more of them first. */
function regex(tools) {
  const documents = tools.map(({ definition }) => textOf(definition));
  return async (query, limit) => {
    const words = [...new Set(wordsOf(query).filter(({ length }) => length >= 4))];
    const patterns = words.map((word) => new RegExp(word, "i"));
    return documents
      .map((text, i) => ({ i, hits: patterns.filter((pattern) => pattern.test(text)).length }))
      .filter(({ hits }) => hits > 0)
      .sort((a, b) => b.hits - a.hits)
      .slice(0, limit)
      .map(({ i }) => tools[i].definition.name);
  };
}

/** With prefixes, fuzziness and the name boosted, as its documentation advises. */
function miniSearch(tools) {
  const index = new MiniSearch({
    fields: ["name", "description", "args"],
    searchOptions: { boost: { name: 2 }, prefix: true, fuzzy: 0.2 },
  });
  index.addAll(
    tools.map(({ definition }, id) => ({
      id,
      name: wordsOf(definition.name).join(" "),
      description: definition.description,
      args: argumentsText(definition.arguments),
    })),
  );
  return async (query, limit) =>
    index
      .search(query)
      .slice(0, limit)
      .map(({ id }) => tools[id].definition.name);
}
