import { quote } from "@shedkit/fs";
import {
  type Diagnostic,
  DiagnosticSeverity,
  type Hover,
  type MarkupContent,
  SymbolKind,
} from "vscode-languageserver-protocol/node";

const MAX_LINE = 200;
const MAX_HOVER = 4000;

/** A line of a result: not longer than fits, on one line. */
export function short(text: string, max = MAX_LINE): string {
  const line = text.trim().replace(/\s*[\r\n]+\s*/g, " ");
  return line.length <= max ? line : `${line.slice(0, max).replace(/[\uD800-\uDBFF]$/, "")}...`;
}

/** A path in a line of a result: one that could pass for more lines, or for another path, is quoted. */
export function shownPath(path: string): string {
  if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path)) return path;
  return quote(path).replace(
    /[\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Errors and warnings; hints are style. */
export function isGrave({ severity }: Diagnostic): boolean {
  return severity === undefined || severity <= DiagnosticSeverity.Warning;
}

/** `12:5 error TS2322: Type ...`, with the line and the column from 1. */
export function diagnosticLine({ range, severity, code, message }: Diagnostic): string {
  const { line, character } = range.start;
  const name = SEVERITIES[severity ?? DiagnosticSeverity.Error] ?? "error";
  const text = short(typeof message === "string" ? message : message.value, 400);
  return `${line + 1}:${character + 1} ${name}${code === undefined ? "" : ` ${code}`}: ${text}`;
}

/** Errors first, then by line. */
export function bySeverity(a: Diagnostic, b: Diagnostic): number {
  return (a.severity ?? 1) - (b.severity ?? 1) || a.range.start.line - b.range.start.line;
}

const SEVERITIES: { readonly [severity: number]: string } = { 1: "error", 2: "warning", 3: "information", 4: "hint" };

/** What a server says of a symbol, as text. */
export function hoverText({ contents }: Hover): string {
  const parts: readonly HoverPart[] = Array.isArray(contents) ? contents : [contents];
  const text = parts.map(partText).join("\n\n").trim();
  return text.length <= MAX_HOVER ? text : `${text.slice(0, MAX_HOVER).replace(/[\uD800-\uDBFF]$/, "")}...`;
}

type HoverPart = string | MarkupContent | { language: string; value: string };

function partText(part: HoverPart): string {
  if (typeof part === "string") return part;
  return "language" in part ? `\`\`\`${part.language}\n${part.value}\n\`\`\`` : part.value;
}

/** What the protocol calls a kind of symbol, in small letters: `class`, `enumMember`. */
export function kindName(kind: SymbolKind): string {
  const name = Object.entries(SymbolKind).find(([, value]) => value === kind)?.[0] ?? "symbol";
  return name.charAt(0).toLowerCase() + name.slice(1);
}
