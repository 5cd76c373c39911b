import type { VideoResult } from '../../../../dialects/video-tasks/video-protocol.ts';
import { type JsonValue, isJsonObject } from '../../../../platform/json/json-value.ts';
import { type OpenedResult, ResultError } from '../../../../tasks/video-upstreams.ts';
import type { Upstream } from '../../../attempts/routing/target.ts';
import { discard, streamUpstream, type StreamTimeouts } from './stream-upstream.ts';
import { createVideoRequest, credentialOf } from './video-request.ts';

/**
 * Opens a file at an address that an upstream chose, without any credential, where its host is of the public internet; redirects too.
 * @throws ResultError
 */
export type OpenAddress = (url: string, signal: AbortSignal, isTrusted: (url: URL) => boolean) => Promise<OpenedResult>;

export type OpenResultOptions = {
  readonly upstream: Upstream;
  readonly timeouts: StreamTimeouts;
  readonly openAddress: OpenAddress;
  /** Origins that the operator has named: files may lie there wherever they stand. They are asked without a credential. */
  readonly isConfigured: (origin: string) => boolean;
  readonly signal: AbortSignal;
};

const redirectsMax = 3;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
/** Statuses by which a server says that it has no such file, and never will again. */
const goneStatuses = new Set([404, 410]);

/** A result as it is kept with its task. */
export function encodeResult(result: VideoResult): string {
  return JSON.stringify(result);
}

/** @throws ResultError for what is no result: nothing can be made of it */
export function decodeResult(text: string): VideoResult {
  let value: JsonValue | undefined;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // Told below, with what is no result for other reasons.
  }
  if (value !== undefined && isJsonObject(value)) {
    const { kind, url, path } = value;
    if (kind === 'url' && typeof url === 'string') return { kind, url };
    if (kind === 'path' && typeof path === 'string') return { kind, path };
  }
  throw new ResultError('what is kept of the result names no file', { isGone: true });
}

/**
 * Opens a finished file. What lies at the upstream's own origin is asked for with its credential, everything else without one, also after a redirect.
 * @throws ResultError
 */
export async function openResult(result: VideoResult, options: OpenResultOptions): Promise<OpenedResult> {
  const { upstream } = options;
  const base = `${upstream.origin}${upstream.basePath}`;
  let url = URL.parse(result.kind === 'path' ? `${base}${result.path}` : result.url);
  for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
    if (url === null) throw new ResultError('the address of the result is not valid', { isGone: true });
    if (url.origin !== upstream.origin)
      return await options.openAddress(url.href, options.signal, ({ origin }) => options.isConfigured(origin));
    const opened = await openOwn(url, options);
    if (!('location' in opened)) return opened;
    url = URL.parse(opened.location, url.href);
  }
  throw new ResultError(`the address of the result redirects more than ${redirectsMax} times`, { isGone: false });
}

/** Opens a file at the upstream's own origin, or says where it sends us. */
async function openOwn(url: URL, { upstream, timeouts, signal }: OpenResultOptions): Promise<OpenedResult | { readonly location: string }> {
  const headers = { accept: 'video/*, application/octet-stream', 'accept-encoding': 'identity', ...credentialOf(upstream) };
  const request = { ...createVideoRequest(upstream, { method: 'GET', path: '' }), path: `${url.pathname}${url.search}`, headers };
  const answer = await streamUpstream(upstream.client, request, { timeouts, signal }).catch((cause: unknown) => {
    throw new ResultError('the upstream does not send the result', { isGone: false, cause });
  });
  const { status, headers: answered, content } = answer;
  if (status === 200) return { mediaType: readType(answered['content-type']), bytes: readLength(answered['content-length']), content };
  await discard(content);
  const { location } = answered;
  if (redirectStatuses.has(status) && typeof location === 'string') return { location };
  throw new ResultError(`the upstream answers ${status} when asked for the result`, { isGone: goneStatuses.has(status) });
}

function readType(field: string | readonly string[] | undefined): string {
  const text = typeof field === 'string' ? field : (field?.[0] ?? '');
  return text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function readLength(field: string | readonly string[] | undefined): number | undefined {
  return typeof field === 'string' && /^\d{1,15}$/.test(field) ? Number(field) : undefined;
}
