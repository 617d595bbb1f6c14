import { SaxesParser } from "saxes";
import { Failure } from "./failure.js";

/** What is done with the elements of a document, by their names without a prefix. */
export interface Elements {
  open?(name: string, attribute: (name: string) => string | undefined): void;
  close?(name: string): void;
  text?(text: string): void;
}

const MAX_DEPTH = 500;

/** Reads XML piece by piece. Knows no entities but XML's own five. Rejects with Failure `damaged`. */
export async function readXml(pieces: AsyncIterable<string>, elements: Elements): Promise<void> {
  const parser = new SaxesParser();
  let depth = 0;
  parser.on("error", (fault) => {
    throw new Failure("damaged", `Its XML is damaged: ${fault.message}.`);
  });
  parser.on("opentag", ({ name, attributes }) => {
    if (++depth > MAX_DEPTH) throw new Failure("too large", "Its XML is nested too deeply.");
    elements.open?.(local(name), (wanted) => attributes[wanted]);
  });
  parser.on("closetag", ({ name }) => {
    depth--;
    elements.close?.(local(name));
  });
  if (elements.text) parser.on("text", (text) => elements.text?.(text));
  for await (const piece of pieces) parser.write(piece);
  parser.close();
}

function local(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
