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
  #string = ""; // that may be a key, as it came
  #key: string | undefined;
  #member: Member | undefined;

  /** Reads on: the next piece of a text that begins with the object's opening brace. What is behind the object is passed over. */
  read(piece: string): void {
    for (let i = 0; i < piece.length && this.end === undefined; i++) {
      this.#step(piece.charAt(i));
      this.#at++;
    }
  }

  #step(char: string): void {
    if (this.#inString) this.#inside(char);
    else if (char === '"') {
      this.#begin();
      this.#inString = true;
      this.#string = char;
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

  #inside(char: string): void {
    if (this.#depth === 1 && !this.#member) this.#string += char;
    if (this.#escaped) this.#escaped = false;
    else if (char === "\\") this.#escaped = true;
    else if (char === '"') {
      this.#inString = false;
      if (this.#depth !== 1) return;
      if (this.#member) this.#finish(this.#at + 1);
      else this.#key = unquoted(this.#string);
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
