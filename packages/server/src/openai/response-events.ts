import type { Answered, Listener } from "./asking.js";
import type { ClientCall } from "./client-tools.js";
import { openaiError } from "./error.js";
import { callItem, messageItem, type ResponseFacts, responseObject, textPart, withAnswer } from "./response-object.js";

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

  end(answered: Answered): void {
    const { error, calls } = answered;
    if (this.#text !== undefined) {
      const said = this.#text;
      this.#tellPart("response.output_text.done", { text: said, logprobs: [] });
      this.#tellPart("response.content_part.done", { part: textPart(said) });
      this.#tell("response.output_item.done", { output_index: 0, item: messageItem(this.#facts, said, "completed") });
    }
    if (error) {
      this.broke(error, answered);
      return;
    }
    const before = this.#text === undefined ? 0 : 1;
    for (const [i, call] of calls.entries()) this.#tellCall(call, before + i);
    const facts = withAnswer(this.#facts, answered);
    const response = responseObject(this.#text === undefined ? { ...facts, text: undefined } : facts);
    this.#tell(facts.status === "incomplete" ? "response.incomplete" : "response.completed", { response });
  }

  /** The answer broke off. */
  broke(thrown: unknown, said?: Answered): void {
    const { message } = openaiError(thrown).error;
    const facts = { ...this.#facts, usage: said?.usage, text: this.#text === undefined ? undefined : said?.text };
    const response = responseObject({ ...facts, status: "failed", error: { code: "server_error", message } });
    this.#tell("response.failed", { response });
  }

  #tellCall(call: ClientCall, output_index: number): void {
    this.#tell("response.output_item.added", { output_index, item: callItem(call, "in_progress") });
    const of = { item_id: `fc_${call.id}`, output_index };
    this.#tell("response.function_call_arguments.delta", { ...of, delta: call.arguments });
    this.#tell("response.function_call_arguments.done", { ...of, name: call.name, arguments: call.arguments });
    this.#tell("response.output_item.done", { output_index, item: callItem(call, "completed") });
  }

  #tellPart(type: string, data: object): void {
    this.#tell(type, { item_id: this.#facts.messageId, output_index: 0, content_index: 0, ...data });
  }

  #tell(type: string, data: object): void {
    this.#write({ type, sequence_number: this.#number++, ...data }, type);
  }
}
