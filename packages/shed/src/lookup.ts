import type { ToolContext } from "@shedkit/tool";
import type { BoundTool } from "@shedkit/toolset";
import { type Embedder, functionSpec, type Tool } from "@shedkit/types";
import type { Access } from "./access.js";
import { wantsListing } from "./listing.js";
import type { Offer } from "./offer.js";
import { ToolDiscovery } from "./search/discovery.js";
import type { SessionTools } from "./session-tools.js";
import type { ShedHost } from "./shed-tool.js";
import type { ToolHit } from "./types.js";
import type { NamedTools } from "./use-tool.js";

/** Finds the tools of a session: all of them, and those that may be listed now. `shed` and `use_tool` look in it. */
export class ToolLookup implements ShedHost, NamedTools {
  readonly #tools: SessionTools;
  readonly #offer: Offer;
  readonly #access: Access;
  /** Made when it is first needed: most sessions of many look for nothing. */
  #discovery: ToolDiscovery | undefined;

  constructor(tools: SessionTools, offer: Offer, access: Access) {
    this.#tools = tools;
    this.#offer = offer;
    this.#access = access;
  }

  /** Why the embedder gave nothing when it was last asked. */
  get embedderFault(): string | undefined {
    return this.#discovery?.embedderFault;
  }

  add(tool: BoundTool): void {
    this.#discovery?.add(tool.definition);
  }

  remove(name: string): void {
    this.#discovery?.remove(name);
  }

  useEmbedder(embedder: Embedder, signal: AbortSignal | undefined): Promise<void> {
    return this.#whole().useEmbedder(embedder, signal);
  }

  /** The tools that fit, best first. */
  async search(query: string, limit: number, signal: AbortSignal | undefined): Promise<ToolHit[]> {
    const found = await this.#whole().search(query, limit, signal);
    return found.flatMap(({ name, score }) => {
      const tool = this.#tools.find(name); // it may have gone while the search ran
      return tool === undefined ? [] : [hitOf(tool, score)];
    });
  }

  /** The tools that fit and may be listed now, best first. */
  async find(description: string, limit: number, ctx: ToolContext): Promise<ToolHit[]> {
    // Tools that may not be listed must not push others off the list; most often there are none.
    for (let depth = limit; ; depth *= 4) {
      const found = await this.#whole().search(description, depth, ctx.signal);
      const listed = await this.#listed(found, ctx);
      if (listed.length >= limit || found.length < depth) return listed.slice(0, limit);
    }
  }

  /** Every tool that may be listed now. */
  catalog(ctx: ToolContext): Promise<{ name: string; category: string }[]> {
    const all = this.#tools.names().map((name) => ({ name, score: 0 }));
    return this.#listed(all, ctx);
  }

  activate(names: readonly string[], toolCallId: string): void {
    this.#offer.activate(names, { toolCallId });
  }

  get byName(): boolean {
    return this.#offer.byName;
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  isDeclared(name: string): boolean {
    return this.#offer.has(name);
  }

  #whole(): ToolDiscovery {
    if (this.#discovery === undefined) {
      this.#discovery = new ToolDiscovery();
      for (const name of this.#tools.names()) this.#discovery.add(this.#tools.require(name).definition);
    }
    return this.#discovery;
  }

  async #listed(found: readonly { name: string; score: number }[], ctx: ToolContext): Promise<ToolHit[]> {
    const context = { turnId: ctx.turnId, activeTools: [...this.#offer.names()] };
    const listed: ToolHit[] = [];
    for (const { name, score } of found) {
      const tool = this.#tools.find(name);
      if (tool === undefined || !wantsListing(tool.metadata, context)) continue;
      if (await this.#access.mayUse(name)) listed.push(hitOf(tool, score));
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
