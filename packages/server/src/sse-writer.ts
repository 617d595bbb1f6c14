const encoder = new TextEncoder();

/** A body of server-sent events with a bound: who writes sees when it is full, and waits until there is room. */
export class SseWriter {
  readonly body: ReadableStream<Uint8Array>;
  readonly #leaving = new AbortController();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #onRoom: (() => void) | undefined;

  constructor(maxBytes: number, heartbeatMs: number) {
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#onRoom?.(),
        cancel: () => this.#leave(),
      },
      { highWaterMark: maxBytes, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    this.#heartbeat = setInterval(() => {
      if (!this.full) this.#write(":\n\n");
    }, heartbeatMs);
  }

  /** Aborts when the reader has gone, or all was said. */
  get left(): AbortSignal {
    return this.#leaving.signal;
  }

  get full(): boolean {
    return (this.#controller?.desiredSize ?? 0) <= 0;
  }

  /** One event. JSON has no line feeds, so its data is one line. */
  send(event: string, data: unknown, id?: string): void {
    const place = id === undefined ? "" : `id: ${id}\n`;
    this.#write(`${place}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Resolves when there is room, or `stop` aborts. */
  async room(stop: AbortSignal): Promise<void> {
    while (this.full && !stop.aborted) {
      const wake = () => this.#onRoom?.();
      stop.addEventListener("abort", wake, { once: true });
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve;
      });
      stop.removeEventListener("abort", wake);
    }
  }

  end(): void {
    if (this.left.aborted) return;
    const controller = this.#controller;
    this.#leave();
    controller?.close();
  }

  #write(text: string): void {
    if (!this.left.aborted) this.#controller?.enqueue(encoder.encode(text));
  }

  #leave(): void {
    clearInterval(this.#heartbeat);
    this.#controller = undefined;
    this.#leaving.abort();
    this.#onRoom?.();
  }
}
