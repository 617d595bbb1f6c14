const encoder = new TextEncoder();

/** Writes server-sent events as they are made. `run` is told when the client leaves. */
export function streamed(
  run: (write: (data: unknown, event?: string) => void, left: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Response {
  const leaving = new AbortController();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (data: unknown, event?: string) => {
        if (leaving.signal.aborted) return;
        const text = typeof data === "string" ? data : JSON.stringify(data);
        controller.enqueue(encoder.encode(`${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`));
      };
      void run(write, AbortSignal.any([leaving.signal, signal])).finally(() => {
        if (!leaving.signal.aborted) controller.close();
      });
    },
    cancel: () => leaving.abort(new Error("the client left")),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}
