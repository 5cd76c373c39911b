/** Sends a request as the global `fetch` does. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Documents, keys and tokens of providers have some kilobytes. */
const bodyBytesMax = 1024 * 1024;

/**
 * Limits each request of `send` to `timeoutMs`, its body included, and to a body of 1 MiB. Redirects are not followed:
 * a client secret must not go elsewhere.
 */
export function limitFetch(send: Fetch, timeoutMs: number, signal: AbortSignal): Fetch {
  return async (url, init) => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const answer = await send(url, { ...init, redirect: 'manual', signal: limited });
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    const parts: AsyncIterable<Uint8Array> | readonly Uint8Array[] = answer.body ?? [];
    for await (const piece of parts) {
      bytes += piece.byteLength;
      if (bytes > bodyBytesMax) throw new RangeError(`The answer of ${new URL(url).host} has more than ${bodyBytesMax} bytes.`);
      pieces.push(piece);
    }
    const { status, headers } = answer;
    const hasBody = ![204, 205, 304].includes(status);
    return new Response(hasBody ? Buffer.concat(pieces) : null, { status, headers });
  };
}
