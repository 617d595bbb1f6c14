// What a request costs: the prompt that a wire's server makes of it, piece by piece, in the order in which it is read, and how
// much of it a prompt cache holds. The rules are the vendors', as their documentation has them; README.md tells them.

/** A piece of the prompt: its text, and whether the request marks its end for the cache. */
const piece = (value, mark = false) => ({ text: typeof value === "string" ? value : JSON.stringify(value), mark });

const bare = ({ cache_control: _, ...rest }) => rest;

/** Anthropic: tools, system, messages. What is deferred stands where it is referred to. */
function anthropic(body) {
  const pieces = [];
  const tools = body.tools ?? [];
  const deferred = new Map(tools.filter((tool) => tool.defer_loading).map((tool) => [tool.name, tool]));
  const define = ({ defer_loading: _, ...tool }) => bare(tool);
  for (const tool of tools) if (!tool.defer_loading) pieces.push(piece(define(tool), tool.cache_control));
  const system = typeof body.system === "string" ? [{ type: "text", text: body.system }] : (body.system ?? []);
  for (const block of system) pieces.push(piece(block.text, block.cache_control));
  for (const { role, content } of body.messages) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    for (const block of blocks) {
      const inner = Array.isArray(block.content) ? block.content : [];
      const shown = inner.flatMap((part) => {
        const name = part.type === "tool_reference" ? part.tool_name : undefined;
        return name && deferred.has(name) ? [define(deferred.get(name))] : [part];
      });
      const { content: _, ...rest } = bare(block);
      const whole = Array.isArray(block.content) ? { ...rest, content: shown.map(bare) } : bare(block);
      const mark = block.cache_control ?? inner.some((part) => part.cache_control);
      pieces.push({ ...piece({ role, ...whole }, mark), block: true });
    }
  }
  // Automatic caching: the end of the last block.
  if (body.cache_control && pieces.length > 0) pieces.at(-1).mark = true;
  return pieces;
}

/** OpenAI Responses: tools, instructions, input; tools that come in the input stand where they come. */
function responses(body) {
  const tools = (body.tools ?? []).filter((tool) => !tool.defer_loading);
  const pieces = tools.map((tool) => piece(tool));
  if (body.instructions) pieces.push(piece(body.instructions));
  const input = typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input;
  for (const { id: _, status: __, ...item } of input) pieces.push(piece(item));
  return pieces;
}

/** OpenAI Chat Completions: tools, messages. */
function chat(body) {
  return [...(body.tools ?? []).map((tool) => piece(tool)), ...body.messages.map((message) => piece(message))];
}

const PIECES = { anthropic, responses, chat };
const LEAST = 1024; // tokens that a prompt must have to be cached
const LOOK_BACK = 20; // blocks before a mark, on Anthropic

/** The tokens of each piece, counted once. */
const counts = new Map();

/** Reads requests of one conversation after the other: their tokens, and those that come from the cache. */
export class PromptCache {
  #wire;
  #tokensOf;
  /** Anthropic: prefixes written at marks. OpenAI: all that was read, piece by piece. */
  #written = new Set();

  constructor(wire, tokensOf) {
    this.#wire = wire;
    this.#tokensOf = tokensOf;
  }

  #count(text) {
    let count = counts.get(text);
    if (count === undefined) {
      count = this.#tokensOf(text);
      counts.set(text, count);
    }
    return count;
  }

  read(body) {
    const pieces = PIECES[this.#wire](body);
    const sums = [];
    const prefixes = [];
    let sum = 0;
    let prefix = "";
    for (const { text } of pieces) {
      sum += this.#count(text);
      prefix = hash(prefix, text);
      sums.push(sum);
      prefixes.push(prefix);
    }
    const read = this.#wire === "anthropic" ? this.#marked(pieces, sums, prefixes) : this.#longest(sums, prefixes);
    return { input: sum, cacheRead: read, ...this.#write(pieces, sums, prefixes, read) };
  }

  /** The longest prefix that stands in the cache and ends at a mark, or a few blocks before one. */
  #marked(pieces, sums, prefixes) {
    let best = 0;
    for (let mark = pieces.length - 1; mark >= 0; mark--) {
      if (!pieces[mark].mark) continue;
      for (let at = mark; at >= Math.max(0, mark - LOOK_BACK); at--) {
        if (sums[at] < LEAST || !this.#written.has(prefixes[at])) continue;
        best = Math.max(best, sums[at]);
        break;
      }
    }
    return best;
  }

  /** The longest common beginning, in steps of 128 from 1,024 on. */
  #longest(sums, prefixes) {
    let at = prefixes.length - 1;
    while (at >= 0 && !this.#written.has(prefixes[at])) at--;
    const common = at < 0 ? 0 : sums[at];
    return common < LEAST ? 0 : common - (common % 128);
  }

  #write(pieces, sums, prefixes, read) {
    let cacheWrite = 0;
    for (const [at, prefix] of prefixes.entries()) {
      if (this.#wire === "anthropic") {
        if (!pieces[at].mark || sums[at] < LEAST) continue;
        if (!this.#written.has(prefix)) cacheWrite = Math.max(cacheWrite, sums[at] - read);
      }
      this.#written.add(prefix);
    }
    return { cacheWrite: Math.max(0, cacheWrite) };
  }
}

/** Of a prefix and the next piece: FNV-1a, 2 × 32 bits. */
function hash(prefix, text) {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (const part of [prefix, text]) {
    for (let i = 0; i < part.length; i++) {
      a = Math.imul(a ^ part.charCodeAt(i), 0x01000193);
      b = Math.imul(b ^ part.charCodeAt(i), 0x85ebca6b) ^ (b >>> 13);
    }
    a = Math.imul(a ^ 0x1f, 0x01000193);
  }
  return `${(a >>> 0).toString(36)}.${(b >>> 0).toString(36)}`;
}
