import type { StreamFraming } from '../../platform/frames.ts';

/** A request's path and what its query says. Credentials in the query are taken out here and live nowhere else. */
export type RequestTarget = {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly queryKeys: readonly string[];
};

const noQuery = new URLSearchParams();

/** Splits an origin-form request target. Another form gives undefined, because a gateway is no forward proxy, and so does a fragment, which no client sends. */
export function readRequestTarget(url: string): RequestTarget | undefined {
  if (!url.startsWith('/') || url.includes('#')) return undefined;
  const mark = url.indexOf('?');
  if (mark === -1) return { path: url, query: noQuery, queryKeys: [] };
  const query = new URLSearchParams(url.slice(mark + 1));
  const queryKeys = query.getAll('key');
  query.delete('key');
  return { path: url.slice(0, mark), query, queryKeys };
}

export type GenerateContentPath = { readonly model: string; readonly action: string | undefined };

/**
 * Reads what follows `/v1beta/models/`: `gemini-x:generateContent`, the doubled `models/gemini-x:…` of some clients, a percent-encoded
 * colon, or a model alone. Returns undefined when the percent-encoding is broken.
 */
export function readGenerateContentPath(rest: string): GenerateContentPath | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(rest);
  } catch {
    // A broken percent-encoding names no model: the caller answers 404.
    return undefined;
  }
  const colon = decoded.lastIndexOf(':');
  const name = colon === -1 ? decoded : decoded.slice(0, colon);
  const model = name.startsWith('models/') ? name.slice('models/'.length) : name;
  return { model, action: colon === -1 ? undefined : decoded.slice(colon + 1) };
}

/** The framing that a streamGenerateContent request asks for: server-sent events with `alt=sse`, else one JSON array. */
export function readAltFraming(query: URLSearchParams): StreamFraming {
  return (query.get('alt') ?? query.get('$alt')) === 'sse' ? 'sse' : 'json-array';
}
