import { stripVTControlCharacters } from "node:util";
import { columnsOfGrapheme, graphemesOf } from "./columns.js";

/** A style, white space, or what is between them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with one
const PIECES = /\u001b\[[0-9;]*m|\n|[ \t]+|[^\u001b \t\n]+/g;
const BAR = "\u2502";
const MARKER = /^(?:[-*]|\d{1,3}[.)])$/;
/** Narrower than that, indents are in the way. */
const LEAST_ROOM = 20;

/**
 * Breaks lines between words where a terminal would break them anywhere; what goes on of a list's item or of a quotation
 * stands under its beginning. It holds back no more than the word that is being written.
 */
export class WordWrap {
  readonly #write: (text: string) => void;
  readonly #width: () => number;
  #column = 0;
  #spaces = "";
  #word = "";
  #wordColumns = 0;
  /** In front of a line that goes on. */
  #indent = "";
  /** Whether no word of the line says yet what is in front of it. */
  #isStart = true;
  /** What the line begins with: an item's marker, or the bar of a quotation. */
  #mark = "";

  constructor(write: (text: string) => void, width: () => number) {
    this.#write = write;
    this.#width = width;
  }

  push(text: string): void {
    for (const [piece] of text.matchAll(PIECES)) {
      if (piece === "\n") this.#newLine();
      else if (piece.startsWith("\u001b")) this.#word += piece;
      else if (piece.startsWith(" ") || piece.startsWith("\t")) this.#space(piece);
      else this.#letters(piece);
    }
  }

  /** Lines that stay as they are: code, tables. */
  pushWhole(text: string): void {
    this.flush();
    this.#write(text);
    const last = text.slice(text.lastIndexOf("\n") + 1);
    if (text.includes("\n")) this.#begin();
    if (last !== "") this.#isStart = false;
  }

  /** Writes the word that was held back. */
  flush(): void {
    this.#put();
    if (this.#spaces !== "") this.#write(this.#spaces);
    this.#column += this.#spaces.length;
    this.#spaces = "";
  }

  /** The text is complete: what follows begins a line. */
  end(): void {
    this.flush();
    this.#begin();
  }

  #letters(piece: string): void {
    for (const grapheme of graphemesOf(piece)) {
      const columns = columnsOfGrapheme(grapheme);
      // Between wide characters a line may be broken; a word that fills lines is.
      const isFull = this.#wordColumns + columns > this.#width() - this.#indent.length;
      if (isFull || (columns === 2 && this.#wordColumns > 0)) this.#put();
      this.#word += grapheme;
      this.#wordColumns += columns;
    }
  }

  #space(piece: string): void {
    this.#put();
    this.#spaces += piece;
  }

  #put(): void {
    if (this.#word === "") return;
    if (this.#isStart) this.#look(stripVTControlCharacters(this.#word));
    const isOver = this.#column + this.#spaces.length + this.#wordColumns > this.#width();
    if (isOver && this.#wordColumns > 0 && this.#column > this.#indent.length) {
      this.#write(`\n${this.#indent}`);
      this.#column = this.#indent.length;
    } else {
      this.#write(this.#spaces);
      this.#column += this.#spaces.length;
    }
    this.#spaces = "";
    this.#write(this.#word);
    this.#column += this.#wordColumns;
    this.#word = "";
    this.#wordColumns = 0;
  }

  /** The first words of a line say what stands in front of the lines that go on. */
  #look(word: string): void {
    if (word === "") return;
    if (this.#mark === "" && (MARKER.test(word) || word === BAR)) {
      this.#mark = word;
      return;
    }
    const columns = this.#column + this.#spaces.length;
    this.#indent = this.#mark === BAR ? `${BAR} ` : " ".repeat(columns);
    if (this.#indent.length > this.#width() - LEAST_ROOM) this.#indent = "";
    this.#isStart = false;
  }

  #newLine(): void {
    this.#put();
    this.#spaces = "";
    this.#write("\n");
    this.#begin();
  }

  #begin(): void {
    this.#column = 0;
    this.#indent = "";
    this.#isStart = true;
    this.#mark = "";
  }
}
