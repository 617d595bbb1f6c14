/** A member of the outermost object: where its value stands in the text. */
export interface Member {
  key: string;
  start: number;
  /** Behind the value's last character; undefined while it is still coming. */
  end?: number | undefined;
}

/**
 * Follows a JSON object as its text comes, one pass over the characters: where each member of the outermost object
 * begins and ends. It does not judge what is inside: parse the values.
 */
export class JsonScanner {
  readonly members: Member[] = [];
  /** Behind the brace that closes the object, once it came. */
  end: number | undefined;
  #at = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #stringStart = 0;
  #key: string | undefined;
  #member: Member | undefined;

  /** Reads on in `text`, which begins with the object's opening brace and only ever grows. */
  read(text: string): void {
    for (; this.#at < text.length && this.end === undefined; this.#at++) this.#step(text, text.charAt(this.#at));
  }

  #step(text: string, char: string): void {
    if (this.#inString) this.#inside(text, char);
    else if (char === '"') {
      this.#begin();
      this.#inString = true;
      this.#stringStart = this.#at;
    } else if (char === "{" || char === "[") {
      this.#begin();
      this.#depth++;
    } else if (char === "}" || char === "]") {
      if (this.#depth === 1) this.#finish(this.#at);
      this.#depth--;
      if (this.#depth === 1) this.#finish(this.#at + 1);
      if (this.#depth === 0) this.end = this.#at + 1;
    } else if (char === "," && this.#depth === 1) {
      this.#finish(this.#at);
    } else if (char === ":" && this.#depth === 1 && this.#member === undefined && this.#key !== undefined) {
      this.#member = { key: this.#key, start: -1 };
      this.#key = undefined;
    } else if (!/\s/.test(char)) this.#begin();
  }

  #inside(text: string, char: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (char === "\\") this.#escaped = true;
    else if (char === '"') {
      this.#inString = false;
      if (this.#depth !== 1) return;
      if (this.#member) this.#finish(this.#at + 1);
      else this.#key = unquoted(text.slice(this.#stringStart, this.#at + 1));
    }
  }

  /** The first character of a member's value. */
  #begin(): void {
    if (this.#depth !== 1 || this.#member === undefined || this.#member.start >= 0) return;
    this.#member.start = this.#at;
    this.members.push(this.#member);
  }

  #finish(end: number): void {
    if (this.#member !== undefined && this.#member.start >= 0) this.#member.end = end;
    this.#member = undefined;
  }
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text.slice(1, -1);
  }
}
