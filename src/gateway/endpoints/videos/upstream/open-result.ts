import type { VideoResult } from '../../../../dialects/video-tasks/video-protocol.ts';
import { type JsonValue, isJsonObject } from '../../../../platform/json/json-value.ts';
import type { UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import { type OpenedResult, ResultError } from '../../../../tasks/video-upstreams.ts';
import type { Upstream } from '../../../attempts/routing/target.ts';
import { decodeBase64Member } from './decode-base64-member.ts';
import { discard, type StreamedAnswer, streamUpstream, type StreamTimeouts } from './stream-upstream.ts';
import { createVideoRequest, credentialOf } from './video-request.ts';

/**
 * Opens a file at an untrusted URL. Its host must be public, also after redirects.
 * @param headers for the origin of the URL only. Absent: no credential is sent
 * @throws ResultError
 */
export type OpenAddress = (
  url: string,
  signal: AbortSignal,
  isTrusted: (url: URL) => boolean,
  headers?: Readonly<Record<string, string>>,
) => Promise<OpenedResult>;

export type OpenResultOptions = {
  readonly upstream: Upstream;
  readonly timeouts: StreamTimeouts;
  readonly openAddress: OpenAddress;
  /** Origins that the operator configured. They may be private, and get no credential. */
  readonly isConfigured: (origin: string) => boolean;
  readonly signal: AbortSignal;
};

const redirectsMax = 3;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
/** Statuses of a file that no longer exists. */
const goneStatuses = new Set([404, 410]);

/** A result in its stored form. */
export function encodeResult(result: VideoResult): string {
  return JSON.stringify(result);
}

/** @throws ResultError if the text is not a result */
export function decodeResult(text: string): VideoResult {
  let value: JsonValue | undefined;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // The error below covers this case.
  }
  if (value !== undefined && isJsonObject(value)) {
    const { kind, url, uri, path, body, member } = value;
    if (kind === 'reply' && typeof path === 'string' && typeof body === 'string' && typeof member === 'string')
      return { kind, path, body, member };
    if (kind === 'url' && typeof url === 'string') return { kind, url };
    if (kind === 'object' && typeof uri === 'string') return { kind, uri };
    if (kind === 'path' && typeof path === 'string') return { kind, path };
  }
  throw new ResultError('the stored result names no file', { isGone: true });
}

/**
 * Opens a finished file. Only URLs of the upstream's origin get its credential, also after redirects.
 * @throws ResultError
 */
export async function openResult(result: VideoResult, options: OpenResultOptions): Promise<OpenedResult> {
  if (result.kind === 'reply') return await openReply(result, options);
  if (result.kind === 'object') return await openObject(result.uri, options);
  const { upstream } = options;
  const base = `${upstream.origin}${upstream.basePath}`;
  let url = URL.parse(result.kind === 'path' ? `${base}${result.path}` : result.url);
  for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
    if (url === null) throw new ResultError('the URL of the result is invalid', { isGone: true });
    if (url.origin !== upstream.origin)
      return await options.openAddress(url.href, options.signal, ({ origin }) => options.isConfigured(origin));
    const opened = await openOwn(url, options);
    if (!('location' in opened)) return opened;
    url = URL.parse(opened.location, url.href);
  }
  throw new ResultError(`the URL of the result redirects more than ${redirectsMax} times`, { isGone: false });
}

/** Opens a file in a bucket with the credential of the account, which goes to the service of buckets only. */
async function openObject(uri: string, { upstream, openAddress, signal }: OpenResultOptions): Promise<OpenedResult> {
  const { vendor, facts, credential, origin } = upstream;
  const address = vendor.locateObject?.(uri, facts);
  if (address === undefined || vendor.authorize === undefined)
    throw new ResultError('the result is in a bucket that this upstream cannot read', { isGone: true });
  const account = { apiKey: undefined, credential, origin, facts, nowMs: Date.now };
  const plain = { path: '', method: 'GET', headers: {}, body: undefined } as const;
  const authorized = await Promise.resolve(vendor.authorize(plain, account, signal)).catch((cause: unknown) => {
    throw new ResultError('there is no credential for the bucket with the result', { isGone: false, cause });
  });
  const { origin: trusted } = new URL(address);
  return await openAddress(address, signal, (url) => url.origin === trusted, authorized.headers);
}

/** Opens a file that is a member of a reply. */
async function openReply(
  { path, body, member }: Extract<VideoResult, { readonly kind: 'reply' }>,
  { upstream, timeouts, signal }: OpenResultOptions,
): Promise<OpenedResult> {
  const headers = { 'content-type': 'application/json' };
  const request = createVideoRequest(upstream, { method: 'POST', path, headers, body: Buffer.from(body) });
  const { status, content } = await send(upstream, request, { timeouts, signal });
  if (status === 200) return { mediaType: 'video/mp4', bytes: undefined, content: decodeBase64Member(content, member) };
  await discard(content);
  throw refused(status);
}

function refused(status: number): ResultError {
  return new ResultError(`the upstream answers ${status} to the request for the result`, { isGone: goneStatuses.has(status) });
}

function send(upstream: Upstream, request: UpstreamRequest, options: Parameters<typeof streamUpstream>[2]): Promise<StreamedAnswer> {
  return streamUpstream(upstream.client, request, options).catch((cause: unknown) => {
    throw new ResultError('the upstream does not send the result', { isGone: false, cause });
  });
}

/** Opens a file at the upstream's origin, or returns the target of its redirect. */
async function openOwn(url: URL, { upstream, timeouts, signal }: OpenResultOptions): Promise<OpenedResult | { readonly location: string }> {
  const headers = { accept: 'video/*, application/octet-stream', 'accept-encoding': 'identity', ...credentialOf(upstream) };
  const request = { ...createVideoRequest(upstream, { method: 'GET', path: '' }), path: `${url.pathname}${url.search}`, headers };
  const { status, headers: answered, content } = await send(upstream, request, { timeouts, signal });
  if (status === 200) return { mediaType: readType(answered['content-type']), bytes: readLength(answered['content-length']), content };
  await discard(content);
  const { location } = answered;
  if (redirectStatuses.has(status) && typeof location === 'string') return { location };
  throw refused(status);
}

function readType(field: string | readonly string[] | undefined): string {
  const text = typeof field === 'string' ? field : (field?.[0] ?? '');
  return text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function readLength(field: string | readonly string[] | undefined): number | undefined {
  return typeof field === 'string' && /^\d{1,15}$/.test(field) ? Number(field) : undefined;
}
