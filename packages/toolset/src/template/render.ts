import { type Expression, isTrue, parseExpression, quiet, type TemplateContext } from "./expression.js";
import { TemplateFault } from "./fault.js";

type Node =
  | { type: "text"; text: string }
  | { type: "output"; value: Expression }
  | { type: "if"; branches: { condition: Expression | undefined; body: Node[] }[] }
  | { type: "for"; name: string; list: Expression; body: Node[] };

/**
 * Fills in a template: `${{ tools.by_kind.read }}`, `${% if x %} ... ${% elif y %} ... ${% else %} ... ${% endif %}`,
 * `${% for x in list %} ... ${% endfor %}`, `${# remark #}`; a `-` inside a marker eats the blanks on that side.
 * `{{ x }}` and `${x}` mean nothing here, and a marker that is not closed is text.
 *
 * Throws {@link TemplateFault}.
 */
export function renderTemplate(template: string, context: TemplateContext): string {
  if (!MARKER.test(template)) return template;
  return render(parse(template), context);
}

/** The text without any marker, for where a template cannot be filled in. */
export function stripTemplate(template: string): string {
  return piecesOf(template)
    .filter((piece) => piece.type === "text")
    .map((piece) => piece.text)
    .join("");
}

const MARKER = /\$\{[{%#]/;
const CLOSE: { readonly [open: string]: string } = { "${{": "}}", "${%": "%}", "${#": "#}" };

interface Piece {
  type: "text" | "output" | "statement";
  text: string;
}

function piecesOf(template: string): Piece[] {
  const pieces: Piece[] = [];
  let rest = 0;
  let from = 0;
  while (true) {
    const start = template.indexOf("${", from);
    const open = start < 0 ? "" : template.slice(start, start + 3);
    if (start < 0) break;
    const close = CLOSE[open];
    const end = close === undefined ? -1 : closeOf(template, start + 3, close);
    if (close === undefined || end < 0) {
      from = start + 2;
      continue;
    }
    let inner = template.slice(start + 3, end);
    let before = template.slice(rest, start);
    rest = end + close.length;
    if (inner.startsWith("-")) {
      inner = inner.slice(1);
      before = before.trimEnd();
    }
    if (inner.endsWith("-")) {
      inner = inner.slice(0, -1);
      while (rest < template.length && /\s/.test(template[rest] ?? "")) rest++;
    }
    pieces.push({ type: "text", text: before });
    if (open !== "${#") pieces.push({ type: open === "${{" ? "output" : "statement", text: inner.trim() });
    from = rest;
  }
  pieces.push({ type: "text", text: template.slice(rest) });
  return pieces.filter((piece) => piece.type !== "text" || piece.text !== "");
}

/** Where the marker ends; a close inside a text of it does not count. */
function closeOf(template: string, from: number, close: string): number {
  if (close === "#}") return template.indexOf(close, from);
  let quote = "";
  for (let i = from; i < template.length; i++) {
    const c = template[i] ?? "";
    if (quote !== "") {
      if (c === "\\") i++;
      else if (c === quote) quote = "";
    } else if (c === '"' || c === "'") quote = c;
    else if (template.startsWith(close, i)) return i;
  }
  // An apostrophe is no quote where that leaves the marker open.
  return quote === "" ? -1 : template.indexOf(close, from);
}

function parse(template: string): Node[] {
  const root: Node[] = [];
  const open: { node: Extract<Node, { type: "if" | "for" }>; outer: Node[] }[] = [];
  let body = root;
  for (const piece of piecesOf(template)) {
    if (piece.type === "text") body.push({ type: "text", text: piece.text });
    else if (piece.type === "output") body.push({ type: "output", value: parseExpression(piece.text) });
    else body = statement(piece.text, body, open);
  }
  if (open.length > 0) throw new TemplateFault(`"${open.at(-1)?.node.type}" is not ended`);
  return root;
}

/** Takes one statement; returns the body that what follows belongs to. */
function statement(
  text: string,
  body: Node[],
  open: { node: Extract<Node, { type: "if" | "for" }>; outer: Node[] }[],
): Node[] {
  const [, word = "", rest = ""] = /^(\w+)\s*([\s\S]*)$/.exec(text) ?? [];
  const inner: Node[] = [];
  const current = open.at(-1);
  if (word === "if") {
    const node: Node = { type: "if", branches: [{ condition: parseExpression(rest), body: inner }] };
    body.push(node);
    open.push({ node, outer: body });
    return inner;
  }
  if (word === "for") {
    const [, name, list] = /^(\w+)\s+in\s+([\s\S]+)$/.exec(rest) ?? [];
    if (name === undefined || list === undefined) throw new TemplateFault(`cannot read "for ${rest}"`);
    const node: Node = { type: "for", name, list: parseExpression(list), body: inner };
    body.push(node);
    open.push({ node, outer: body });
    return inner;
  }
  if ((word === "elif" || word === "else") && current?.node.type === "if") {
    if (current.node.branches.at(-1)?.condition === undefined) throw new TemplateFault(`"${word}" follows "else"`);
    current.node.branches.push({ condition: word === "elif" ? parseExpression(rest) : undefined, body: inner });
    return inner;
  }
  if ((word === "endif" && current?.node.type === "if") || (word === "endfor" && current?.node.type === "for")) {
    open.pop();
    return current.outer;
  }
  throw new TemplateFault(`cannot read "${text}"`);
}

function render(nodes: readonly Node[], context: TemplateContext): string {
  let out = "";
  for (const node of nodes) {
    if (node.type === "text") out += node.text;
    else if (node.type === "output") out += textOf(node.value(context));
    else if (node.type === "if") {
      const branch = node.branches.find(
        ({ condition }) => condition === undefined || isTrue(quiet(condition, context)),
      );
      if (branch !== undefined) out += render(branch.body, context);
    } else {
      const list = quiet(node.list, context);
      if (Array.isArray(list)) for (const item of list) out += render(node.body, { ...context, [node.name]: item });
    }
  }
  return out;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? (JSON.stringify(value) ?? "") : String(value);
}
