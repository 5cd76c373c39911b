import { Readable } from 'node:stream';

import type { S3Config } from 's3mini';
import { loadUndici } from '../../platform/http/load-undici.ts';

type Fetch = NonNullable<S3Config['fetch']>;

/**
 * Sends a request that s3mini has signed. Replaces the global `fetch`, which would follow redirects, request and unpack
 * compressed files, and copy bodies more often.
 * @param timeoutMs limit for silence before and within the answer
 */
export async function sendS3Request(
  input: Parameters<Fetch>[0],
  init: Parameters<Fetch>[1],
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Response> {
  const sent = init?.body ?? null;
  if (sent !== null && typeof sent !== 'string' && !(sent instanceof Uint8Array))
    throw new TypeError('The body of a request to the object store must be bytes or text.');
  const address = input instanceof Request ? input.url : input;
  const { request } = await loadUndici();
  const { statusCode, headers, body } = await request(address, {
    method: init?.method ?? 'GET',
    headers: { ...Object.fromEntries(new Headers(init?.headers)), 'accept-encoding': 'identity' },
    body: sent,
    signal,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const answer = { status: statusCode, headers: readHeaders(headers) };
  if (statusCode !== 204 && statusCode !== 304) return new Response(Readable.toWeb(body), answer);
  await body.dump();
  return new Response(null, answer);
}

function readHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const all = new Headers();
  for (const [name, values] of Object.entries(headers)) for (const value of [values ?? []].flat()) all.append(name, value);
  return all;
}
