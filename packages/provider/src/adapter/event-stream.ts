import { AgenticError } from "@shedkit/types";
import { type FailureContext, responseFailure } from "../failure.js";
import { htmlPage } from "../html-page.js";
import { factsOf } from "./sdk-failure.js";

/** One event of an event stream. */
export interface StreamEvent {
  /** Empty where the stream names none. */
  event: string;
  data: string;
}

/**
 * Splits the text of an event stream (the HTML standard's `text/event-stream`) into events, wherever the text was cut.
 * What follows the last blank line is no event yet.
 */
export class EventSplitter {
  /** The beginning of a line whose end has not come. */
  #line = "";
  #event = "";
  #data: string | undefined;
  #afterReturn = false;

  push(text: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#afterReturn = text.endsWith("\r");
    const plain = lines.includes("\r") ? lines.replace(/\r\n?/g, "\n") : lines;
    let from = 0;
    // Only what is new is searched: a long line in many pieces costs no more than its length.
    for (let at = plain.indexOf("\n"); at >= 0; at = plain.indexOf("\n", from)) {
      this.#take(this.#line + plain.slice(from, at), events);
      this.#line = "";
      from = at + 1;
    }
    this.#line += plain.slice(from);
    return events;
  }

  /** The stream is over: the event whose blank line never came, if there is one. It may be a part of one. */
  end(): StreamEvent[] {
    return this.push("\n\n");
  }

  #take(line: string, events: StreamEvent[]): void {
    if (line === "") {
      if (this.#data !== undefined) events.push({ event: this.#event, data: this.#data });
      this.#event = "";
      this.#data = undefined;
    } else if (line.startsWith("data:")) {
      const value = fieldValue(line, 5);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (line.startsWith("event:")) {
      this.#event = fieldValue(line, 6);
    }
  }
}

function fieldValue(line: string, from: number): string {
  return line.slice(line.charCodeAt(from) === 32 ? from + 1 : from);
}

/** What the reading of a response depends on. */
export interface ResponseReading<E> {
  context: FailureContext;
  /** Ends the reading when it aborts. */
  signal: AbortSignal;
  /** A whole answer as the events that would have brought it. */
  eventsOf(whole: never): Iterable<E>;
}

/**
 * The events of a response, in the batches that they come in. A response of JSON is a whole answer, whose events
 * `eventsOf` makes. An error, as an event or as the whole, is thrown as an AgenticError.
 *
 * The SDKs' own streams give one event a promise, behind two generators; a batch costs one, however much it holds.
 */
export async function responseEvents<E>(
  response: Response,
  { context, signal, eventsOf }: ResponseReading<E>,
): Promise<AsyncIterable<readonly E[]>> {
  if (!/json/.test(response.headers.get("content-type") ?? "")) {
    return response.body === null ? batches<E>() : new Batches<E>(response.body, { context, signal, eventsOf });
  }
  return batches(eventsOfWhole(await response.json(), { context, signal, eventsOf }));
}

/** The events of a whole answer. Throws its error as an AgenticError. */
function eventsOfWhole<E>(whole: unknown, { context, eventsOf }: ResponseReading<E>): E[] {
  if (isError(whole)) throw responseFailure({ status: 200, ...factsOf(whole) }, context);
  return [...eventsOf(whole as never)];
}

async function* batches<E>(...each: E[][]): AsyncGenerator<readonly E[], void, void> {
  yield* each;
}

/** The batches of a stream: an iterator by hand, since a generator's promises would cost as much as the reading. */
class Batches<E> implements AsyncIterableIterator<readonly E[], undefined, undefined> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #reading: ResponseReading<E>;
  readonly #decoder = new TextDecoder();
  readonly #splitter = new EventSplitter();
  /** What came as long as no event did: it may be no stream of events at all. Undefined from the first event on. */
  #head: string | undefined = "";
  /** What came behind the last batch: the end, or a fault. */
  #rest: "more" | "end" | { fault: unknown } = "more";
  // A `fetch` of one's own may not end its stream with the signal.
  readonly #cancel = (): void => void this.#reader.cancel().catch(() => {});

  constructor(body: ReadableStream<Uint8Array>, reading: ResponseReading<E>) {
    this.#reader = body.getReader();
    this.#reading = reading;
    if (reading.signal.aborted) this.#cancel();
    else reading.signal.addEventListener("abort", this.#cancel, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly E[], undefined>> {
    return this.#rest === "more" ? this.#reader.read().then(this.#onBytes) : this.#over();
  }

  async return(): Promise<IteratorResult<readonly E[], undefined>> {
    this.#reading.signal.removeEventListener("abort", this.#cancel);
    this.#cancel(); // without waiting: whoever leaves has closed the connection already
    return { value: undefined, done: true };
  }

  readonly #onBytes = ({ value, done }: ReadableStreamReadResult<Uint8Array>) => {
    const batch: E[] = [];
    if (done) this.#rest = this.#atEnd(batch);
    else {
      const text = this.#decoder.decode(value, STREAM);
      const events = this.#splitter.push(text);
      if (this.#head !== undefined) this.#keepHead(text, events.length > 0);
      this.#rest = readBatch(events, batch, this.#reading.context);
    }
    return batch.length === 0 && this.#rest !== "more" ? this.#over() : { value: batch, done: false as const };
  };

  #keepHead(text: string, isStream: boolean): void {
    this.#head += text;
    if (isStream || /^\s*[^\s{<]/.test(this.#head ?? "")) this.#head = undefined;
  }

  /** What the end makes of what is left: an event without its blank line, or a body that was no stream. */
  #atEnd(batch: E[]): "end" | { fault: unknown } {
    const head = this.#head?.trim() ?? "";
    try {
      const page = htmlPage(head);
      if (page !== undefined) throw noStream(page, this.#reading.context);
      if (head.startsWith("{")) batch.push(...eventsOfWhole(JSON.parse(head), this.#reading));
    } catch (fault) {
      return { fault };
    }
    const [last] = this.#splitter.end();
    const rest = last && isJson(last.data) ? readBatch([last], batch, this.#reading.context) : "end";
    return rest === "more" ? "end" : rest;
  }

  async #over(): Promise<IteratorResult<readonly E[], undefined>> {
    const rest = this.#rest;
    this.#rest = "end";
    if (typeof rest === "object") throw rest.fault;
    return this.return();
  }
}

const STREAM = { stream: true };

/** A page in place of an answer comes from a gateway, or from a wrong address. */
function noStream(what: string, { provider, model }: FailureContext): AgenticError {
  return new AgenticError("generation", `${provider} answered with ${what}. Check the base URL.`, {
    kind: "other",
    provider,
    model,
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Fills the batch, up to the end of the stream or to a fault. */
function readBatch(
  events: readonly StreamEvent[],
  batch: unknown[],
  context: FailureContext,
): "more" | "end" | { fault: unknown } {
  for (const { event, data } of events) {
    if (data === "[DONE]") return "end";
    if (data === "" || event === "ping") continue;
    try {
      const parsed: unknown = JSON.parse(data);
      if (event === "error" || isError(parsed)) throw responseFailure(factsOf(parsed), context);
      // What is no object is no event of these wires; some gateways send such lines to keep a connection open.
      if (typeof parsed === "object" && parsed !== null && (parsed as { type?: unknown }).type !== "ping") {
        batch.push(parsed);
      }
    } catch (fault) {
      // An error event need not be JSON.
      return {
        fault: event === "error" && fault instanceof SyntaxError ? responseFailure(factsOf(data), context) : fault,
      };
    }
  }
  return "more";
}

/** Whether a body, or an event, is an error's. A response of OpenAI's has an `error` too, and a status in words. */
function isError(body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  const { type, object, error, status } = body as { [key: string]: unknown };
  return type === "error" || object === "error" || (Boolean(error) && typeof status !== "string");
}
