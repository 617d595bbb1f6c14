import type { ToolImpl } from "@shedkit/tool";
import { externalName } from "@shedkit/toolset";
import type { Connection } from "./connection.js";
import { type ListedTool, type VettedTool, vetTool } from "./definition.js";
import { resourcesTool } from "./resources.js";
import { oneLine } from "./text.js";
import { mcpTool, type ToolStanding } from "./tool.js";

/** A server's tool under the name it is declared by. */
export interface CatalogEntry {
  readonly declared: string;
  vetted: VettedTool;
  tool: ToolImpl;
  readonly standing: ToolStanding;
}

/** What a new list came to. */
export interface CatalogChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Tools whose definition is another one than before. */
  readonly changed: readonly { readonly name: string; readonly what: readonly string[]; readonly held: boolean }[];
  /** Tools that were not taken, and why. */
  readonly refused: readonly { readonly name: string; readonly why: string }[];
}

/** The tools of one server: what it lists, held against what was known of them. */
export class Catalog {
  readonly #connection: Connection;
  readonly #approved: { readonly [declared: string]: string };
  readonly #entries = new Map<string, CatalogEntry>(); // by the server's name for it
  readonly #names = new Set<string>();
  #resources: ToolImpl | undefined;

  constructor(connection: Connection, approved: { readonly [declared: string]: string }) {
    this.#connection = connection;
    this.#approved = approved;
  }

  /** Takes a list over. */
  async update(listed: readonly ListedTool[]): Promise<CatalogChange> {
    const vetted = new Map<string, VettedTool>();
    const refused: { name: string; why: string }[] = [];
    for (const tool of listed) {
      const name = oneLine(tool.name, 100);
      if (vetted.has(tool.name)) refused.push({ name, why: "it is listed twice; the first one counts" });
      else {
        const result = await vetTool(tool);
        if ("refused" in result) refused.push({ name, why: result.refused });
        else vetted.set(tool.name, result);
      }
    }
    const change = {
      added: [] as string[],
      removed: [] as string[],
      changed: [] as CatalogChange["changed"][number][],
    };
    for (const entry of this.#entries.values()) {
      if (vetted.has(entry.vetted.name) || entry.standing.gone) continue;
      entry.standing.gone = true;
      change.removed.push(entry.declared);
    }
    // Those whose name needs no change get it; whoever looks like them gets another.
    const { name: server, acceptChanges } = this.#connection.settings;
    const news = [...vetted.values()].filter(({ name }) => !this.#entries.has(name));
    news.sort((a, b) => Number(isPlain(server, b.name)) - Number(isPlain(server, a.name)));
    for (const tool of news) {
      const entry = this.#add(tool);
      if (entry === undefined) {
        refused.push({ name: oneLine(tool.name, 100), why: "its name cannot be told from another one" });
        continue;
      }
      const approved = Object.hasOwn(this.#approved, entry.declared) ? this.#approved[entry.declared] : undefined;
      if (approved !== undefined && approved !== tool.fingerprint) {
        const what = ["since an earlier session"];
        if (!acceptChanges) entry.standing.changed = { tool, what };
        change.changed.push({ name: entry.declared, what, held: !acceptChanges });
      }
      change.added.push(entry.declared);
    }
    for (const tool of vetted.values()) {
      const entry = this.#entries.get(tool.name);
      if (entry === undefined || news.includes(tool)) continue;
      if (entry.standing.gone) {
        entry.standing.gone = false;
        change.added.push(entry.declared);
      }
      const known = entry.standing.changed?.tool ?? entry.vetted;
      if (known.fingerprint === tool.fingerprint) continue;
      if (entry.vetted.fingerprint === tool.fingerprint) {
        entry.standing.changed = undefined; // it is again what it was
        continue;
      }
      const what = differences(entry.vetted, tool);
      change.changed.push({ name: entry.declared, what, held: !acceptChanges });
      if (acceptChanges) this.#replace(entry, tool);
      else entry.standing.changed = { tool, what };
    }
    this.#addResources();
    return { ...change, refused };
  }

  /** Allows what the server made of a tool. False where there is nothing to allow. */
  accept(declared: string): boolean {
    for (const entry of this.#entries.values()) {
      if (entry.declared !== declared || entry.standing.changed === undefined) continue;
      this.#replace(entry, entry.standing.changed.tool);
      return true;
    }
    return false;
  }

  /** The tools that are there now. */
  tools(): ToolImpl[] {
    const tools = [...this.#entries.values()].flatMap(({ standing, tool }) => (standing.gone ? [] : [tool]));
    return this.#resources === undefined ? tools : [...tools, this.#resources];
  }

  entries(): Iterable<CatalogEntry> {
    return this.#entries.values();
  }

  #add(vetted: VettedTool): CatalogEntry | undefined {
    const { name: server } = this.#connection.settings;
    let declared = externalName(server, vetted.name);
    // "send.mail" beside "send_mail": told apart by what they are called, not by who came first.
    if (this.#names.has(declared)) declared = externalName(server, `${vetted.name}-${vetted.fingerprint.slice(0, 8)}`);
    if (this.#names.has(declared)) return undefined;
    this.#names.add(declared);
    const standing: ToolStanding = { gone: false };
    const entry = { declared, vetted, standing, tool: mcpTool(declared, vetted, this.#connection, standing) };
    this.#entries.set(vetted.name, entry);
    return entry;
  }

  #replace(entry: CatalogEntry, vetted: VettedTool): void {
    entry.vetted = vetted;
    entry.standing.changed = undefined;
    entry.tool = mcpTool(entry.declared, vetted, this.#connection, entry.standing);
  }

  #addResources(): void {
    if (this.#resources !== undefined || !this.#connection.hasResources) return;
    const declared = externalName(this.#connection.settings.name, "resources");
    if (this.#names.has(declared)) return; // the server has a tool of that name
    this.#names.add(declared);
    this.#resources = resourcesTool(declared, this.#connection);
  }
}

function isPlain(server: string, name: string): boolean {
  return externalName(server, name).endsWith(`__${name}`);
}

function differences(before: VettedTool, now: VettedTool): string[] {
  const differs = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);
  const what = [
    ...(before.description === now.description ? [] : ["its description"]),
    ...(differs(before.input, now.input) ? ["its arguments"] : []),
    ...(differs(before.output, now.output) ? ["its results"] : []),
    ...(differs(before.hints, now.hints) ? ["what it says it may do"] : []),
  ];
  return what.length > 0 ? what : ["what cannot be seen of it"];
}
