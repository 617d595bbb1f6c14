import type { Answered, Listener } from "./answer.js";
import { openaiError } from "./error.js";
import { messageItem, type ResponseFacts, responseObject, textPart } from "./response-object.js";

/** Tells a turn as the events of the Responses API, in its order. */
export class ResponseEvents implements Listener {
  readonly #write: (data: unknown, event: string) => void;
  readonly #facts: ResponseFacts;
  #number = 0;
  #text: string | undefined;

  constructor(facts: ResponseFacts, write: (data: unknown, event: string) => void) {
    this.#facts = facts;
    this.#write = write;
    for (const type of ["response.created", "response.in_progress"])
      this.#tell(type, { response: responseObject(facts) });
  }

  text(delta: string): void {
    if (this.#text === undefined) {
      this.#text = "";
      this.#tell("response.output_item.added", {
        output_index: 0,
        item: messageItem(this.#facts, undefined, "in_progress"),
      });
      this.#tellPart("response.content_part.added", { part: textPart("") });
    }
    this.#text += delta;
    this.#tellPart("response.output_text.delta", { delta, logprobs: [] });
  }

  /** The Responses API shows no raw thoughts. */
  thinking(): void {}

  end({ usage, error, text }: Answered): void {
    if (this.#text !== undefined) {
      const said = this.#text;
      this.#tellPart("response.output_text.done", { text: said, logprobs: [] });
      this.#tellPart("response.content_part.done", { part: textPart(said) });
      this.#tell("response.output_item.done", { output_index: 0, item: messageItem(this.#facts, said, "completed") });
    }
    const facts: ResponseFacts = { ...this.#facts, usage, text: this.#text === undefined ? undefined : text };
    if (error) {
      const { message } = openaiError(error).error;
      const response = responseObject({ ...facts, status: "failed", error: { code: "server_error", message } });
      this.#tell("response.failed", { response });
    } else this.#tell("response.completed", { response: responseObject({ ...facts, status: "completed" }) });
  }

  #tellPart(type: string, data: object): void {
    this.#tell(type, { item_id: this.#facts.messageId, output_index: 0, content_index: 0, ...data });
  }

  #tell(type: string, data: object): void {
    this.#write({ type, sequence_number: this.#number++, ...data }, type);
  }
}
