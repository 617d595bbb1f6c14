/** Where a place in a command line is, besides commands themselves. */
type Inside = "quotes" | "substitution" | "backquotes" | "braces" | "arithmetic";

/**
 * Whether a command line puts something into the background with `&`, also where what it runs depends on variables. One
 * that ends with `wait` does not count. In time proportional to the text.
 */
export function hasAmpersand(text: string): boolean {
  let found = false;
  let code = ""; // without comments and the texts of here-documents
  let from = 0; // of what comes to it next
  const inside: Inside[] = [];
  let heredocs: { delimiter: string; tabs: boolean }[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? "";
    const within = inside.at(-1);
    const quoted = within === "quotes" || within === "braces" || within === "arithmetic";
    if (character === "\\") i++;
    else if (character === "'" && !quoted) i = endOf(text, i, text[i - 1] === "$");
    else if (character === '"') toggle(inside, "quotes");
    else if (character === "`") toggle(inside, "backquotes");
    else if (text.startsWith("$((", i)) {
      inside.push("arithmetic");
      i += 2;
    } else if (text.startsWith("$(", i)) {
      inside.push("substitution");
      i++;
    } else if (text.startsWith("${", i)) {
      inside.push("braces");
      i++;
    } else if (within === "braces" && character === "}") inside.pop();
    else if (within === "arithmetic" && text.startsWith("))", i)) {
      inside.pop();
      i++;
    } else if (quoted) continue;
    else if (within === "substitution" && character === ")") inside.pop();
    else if (character === "(" && text[i + 1] === "(") {
      inside.push("arithmetic");
      i++;
    } else if (character === "(") inside.push("substitution");
    else if (character === "#" && /^$|[\s;&|()]/.test(text[i - 1] ?? "")) {
      code += text.slice(from, i);
      i = lineEnd(text, i) - 1;
      from = i + 1;
    } else if (text.startsWith("<<<", i)) i += 2;
    else if (text.startsWith("<<", i)) {
      const [all = "", dash, word = ""] =
        /^<<(-?)[ \t]*((?:\\.|'[^']*'|"[^"]*"|[^\s;&|()<>'"\\])+)/.exec(text.slice(i, i + 300)) ?? [];
      if (word !== "") heredocs.push({ delimiter: word.replace(/['"\\]/g, ""), tabs: dash === "-" });
      i += Math.max(1, all.length - 1);
    } else if (character === "\n") {
      if (heredocs.length > 0) code += text.slice(from, i);
      for (const { delimiter, tabs } of heredocs) {
        i = heredocEnd(text, i + 1, delimiter, tabs);
        from = i;
      }
      heredocs = [];
    } else if (character === "&") {
      if (/[<>|;]/.test(text[i - 1] ?? "") || text[i + 1] === ">") continue; // of a redirection, a pipe, a case
      if (text[i + 1] !== "&") found = true;
      else i++;
    }
  }
  return found && !/[;&|\n][ \t]*wait(?:[ \t][^;&|\n]*)?\s*$/.test(code + text.slice(from));
}

function toggle(inside: Inside[], what: Inside): void {
  if (inside.at(-1) === what) inside.pop();
  else inside.push(what);
}

/** Where a text in single quotes ends. */
function endOf(text: string, start: number, escapes: boolean): number {
  for (let i = start + 1; i < text.length; i++) {
    if (escapes && text[i] === "\\") i++;
    else if (text[i] === "'") return i;
  }
  return text.length;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** The end of the line that closes a here-document. */
function heredocEnd(text: string, start: number, delimiter: string, tabs: boolean): number {
  let at = start;
  while (at < text.length) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    if ((tabs ? line.replace(/^\t+/, "") : line) === delimiter) return end;
    at = end + 1;
  }
  return text.length;
}
