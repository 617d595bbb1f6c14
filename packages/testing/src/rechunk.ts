/**
 * A `fetch` whose response bodies arrive in pieces of the sizes given, in turn and over again: 1 cuts at every byte.
 * Everything else is as `inner` has it.
 */
export function rechunkFetch(sizes: readonly number[], inner: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const response = await inner(input, init);
    if (response.body === null) return response;
    const body = response.body.pipeThrough(rechunk(sizes));
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

function rechunk(sizes: readonly number[]): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let turn = 0;
  return new TransformStream({
    transform(bytes, controller) {
      for (let at = 0; at < bytes.length; ) {
        const size = Math.max(1, sizes[turn++ % sizes.length] ?? bytes.length);
        controller.enqueue(bytes.slice(at, at + size));
        at += size;
      }
    },
  });
}
