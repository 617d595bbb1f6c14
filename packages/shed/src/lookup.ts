import type { ToolContext } from "@shedkit/tool";
import type { BoundTool, ToolRegistry } from "@shedkit/toolset";
import { type Embedder, functionSpec, type Tool } from "@shedkit/types";
import { wantsListing } from "./hooks.js";
import { ToolDiscovery } from "./search/discovery.js";
import type { ToolHit } from "./types.js";

/** What decides of a tool that was found whether it may be told. */
export interface ListingRules {
  /** The tools that are active, by name. */
  active(): Iterable<string>;
  mayUse(tool: string): boolean | Promise<boolean>;
}

/** Finds the tools of a session: all of them, and those that may be listed now. */
export class ToolLookup {
  readonly #tools: ToolRegistry;
  readonly #rules: ListingRules;
  readonly #discovery = new ToolDiscovery();

  constructor(tools: ToolRegistry, rules: ListingRules) {
    this.#tools = tools;
    this.#rules = rules;
  }

  /** Why the embedder gave nothing when it was last asked. */
  get embedderFault(): string | undefined {
    return this.#discovery.embedderFault;
  }

  add(tool: BoundTool): void {
    this.#discovery.add(tool.definition);
  }

  remove(name: string): void {
    this.#discovery.remove(name);
  }

  useEmbedder(embedder: Embedder, signal: AbortSignal | undefined): Promise<void> {
    return this.#discovery.useEmbedder(embedder, signal);
  }

  /** The tools that fit, best first. */
  async search(query: string, limit: number, signal: AbortSignal | undefined): Promise<ToolHit[]> {
    const found = await this.#discovery.search(query, limit, signal);
    return found.flatMap(({ name, score }) => {
      const tool = this.#tools.find(name); // it may have gone while the search ran
      return tool === undefined ? [] : [hitOf(tool, score)];
    });
  }

  /** The tools that fit and may be listed now, best first. */
  async find(description: string, limit: number, ctx: ToolContext): Promise<ToolHit[]> {
    // Tools that may not be listed must not push others off the list; most often there are none.
    for (let depth = limit; ; depth *= 4) {
      const found = await this.#discovery.search(description, depth, ctx.signal);
      const listed = await this.#listed(found, ctx);
      if (listed.length >= limit || found.length < depth) return listed.slice(0, limit);
    }
  }

  /** Every tool that may be listed now. */
  catalog(ctx: ToolContext): Promise<{ name: string; category: string }[]> {
    const all = this.#tools.names().map((name) => ({ name, score: 0 }));
    return this.#listed(all, ctx);
  }

  async #listed(found: readonly { name: string; score: number }[], ctx: ToolContext): Promise<ToolHit[]> {
    const context = { turnId: ctx.turnId, activeTools: [...this.#rules.active()] };
    const listed: ToolHit[] = [];
    for (const { name, score } of found) {
      const tool = this.#tools.find(name);
      if (tool === undefined || !wantsListing(tool.metadata, context)) continue;
      if (await this.#rules.mayUse(name)) listed.push(hitOf(tool, score));
    }
    return listed;
  }
}

function hitOf({ name, definition }: BoundTool, score: number): ToolHit {
  const { description, parameters } = functionSpec(definition);
  return { name, category: categoryOf(definition), description, arguments: parameters, score };
}

function categoryOf(tool: Tool): string {
  return tool.type === "single" ? tool.definition.category : (tool.commands[0]?.category ?? "");
}
