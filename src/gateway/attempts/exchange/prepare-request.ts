import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { UpstreamDialectId } from '../../../dialects/dialect-id.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { compileHeaderList } from '../../../platform/http/header-list.ts';
import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import { spliceJson } from '../../../platform/json/json-edits.ts';
import type { TranslationNote } from '../../../inference/translation-notes.ts';
import type { JsonEdit } from '../../../platform/json/json-edits.ts';
import { changeHeaders, joinEdits, type ShapedRequest } from '../../../upstreams/reshape.ts';
import type { UpstreamRoute } from '../../../upstreams/upstream-route.ts';
import { identityHeaders } from '../../../upstreams/header-lists.ts';
import { locateAt, type Target } from '../routing/target.ts';

/** Joins the values of two names of one header, each value once. */
function joinValues(first: string | undefined, second: string): string {
  if (first === undefined) return second;
  const values = `${first},${second}`.split(',').map((value) => value.trim());
  return [...new Set(values)].filter((value) => value !== '').join(',');
}

/**
 * Headers that never pass, whatever is configured: callers' credentials and idempotency keys, those of one connection
 * or one encoding, and those that the exchange sets.
 */
const keptHere = compileHeaderList([
  ...identityHeaders.never,
  'host',
  'connection',
  'keep-alive',
  'content-*',
  'transfer-encoding',
  'te',
  'expect',
  'upgrade',
  'accept',
  'accept-encoding',
]);

/**
 * The headers of an upstream request: those of the client that may pass, those that the exchange needs, and the
 * operator's credential.
 * @param dialects those of the client and of the upstream
 */
export function createUpstreamHeaders(
  request: WireRequest,
  target: Target,
  dialects: { readonly client: UpstreamDialectId; readonly upstream: UpstreamDialectId },
  framing: StreamFraming | undefined,
): Record<string, string> {
  const { upstream } = target;
  const isTranslated = dialects.client !== dialects.upstream;
  const passes = isTranslated ? upstream.passesForeignHeader : upstream.passesRequestHeader;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: framing === 'sse' ? 'text/event-stream' : 'application/json',
    // Replies are read while they pass, so they must be uncompressed.
    'accept-encoding': 'identity',
  };
  for (const name in request.headers) {
    const value = request.headers[name];
    if (value !== undefined && passes(name) && !keptHere(name)) headers[name] = value;
  }
  const aliases = isTranslated ? undefined : upstream.vendor.headerAliases;
  for (const alias in aliases) {
    const name = aliases[alias];
    const value = request.headers[alias];
    if (name !== undefined && value !== undefined) headers[name] = joinValues(headers[name], value);
  }
  const required = upstream.vendor.requiredHeaders;
  for (const name in required) headers[name] ??= required[name] ?? '';
  if (upstream.apiKey !== undefined) Object.assign(headers, upstream.vendor.credentialHeaders(upstream.apiKey, dialects.upstream));
  return headers;
}

const noNotes: readonly TranslationNote[] = [];

/** A request for an upstream, with what the client should know about it. */
export type PreparedRequest = { readonly upstreamRequest: UpstreamRequest; readonly notes: readonly TranslationNote[] };

/**
 * Addresses a body to its upstream, with the changes that its vendor makes. Undefined if the upstream has no such
 * route.
 * @param own the edits of the dialect
 */
export function shapeRequest(
  { upstream, is }: Pick<Target, 'upstream' | 'is'>,
  addressed: Omit<UpstreamRoute, 'is'>,
  written: Pick<ShapedRequest, 'body' | 'bytes' | 'headers'>,
  own: readonly JsonEdit[],
): PreparedRequest | undefined {
  const { vendor, facts } = upstream;
  const route: UpstreamRoute = is === undefined ? addressed : { ...addressed, is };
  const path = locateAt(upstream, route);
  if (path === undefined) return undefined;
  const changes = vendor.reshape?.({ route, ...written }, facts);
  const { bytes, headers } = written;
  if (changes === undefined) return { upstreamRequest: { path, method: 'POST', headers, body: spliceJson(bytes, own) }, notes: noNotes };
  const body = spliceJson(bytes, joinEdits(own, changes.edits));
  const changed = changeHeaders(headers, changes.headers);
  return { upstreamRequest: { path, method: 'POST', headers: changed, body }, notes: changes.notes ?? noNotes };
}

/**
 * Fits a validated request to its target: the address, the headers that may pass, the operator's credential, and the
 * few bytes of the body that the dialect changes. Undefined if the upstream has no such route.
 */
export function prepareRequest(options: {
  readonly dialect: ChatDialect;
  readonly request: WireRequest;
  readonly bytes: Buffer;
  readonly facts: CallFacts;
  readonly target: Target;
  readonly framing: StreamFraming | undefined;
}): PreparedRequest | undefined {
  const { dialect, request, bytes, facts, target, framing } = options;
  const { upstream, upstreamModel } = target;
  const route = { dialect: dialect.id, operation: request.operation, upstreamModel };
  const { acceptsStreamOptions, takesOwnSpellings } = upstream;
  const fit = { requestedModel: facts.requestedModel, upstreamModel, acceptsStreamOptions, takesOwnSpellings };
  const headers = createUpstreamHeaders(request, target, { client: dialect.id, upstream: dialect.id }, framing);
  const written = { body: request.body, bytes, headers };
  return shapeRequest(target, framing === undefined ? route : { ...route, framing }, written, dialect.editRequest(request, bytes, fit));
}

/**
 * The idempotency keys of a call's attempts. They are derived from the call's id, never from a client's key: to the
 * upstream, two clients of this gateway are one client, and an equal key would give one of them the other's reply.
 *
 * An attempt repeats a key only if it repeats the request: at the same target, after an attempt without an answer.
 * After an answer the key changes, because some upstreams repeat the recorded answer, even if it is an error.
 */
export class AttemptKeys {
  readonly #callId: string;
  #number = 1;

  /** @param callId the id of the call, or of one round of its tool loop */
  constructor(callId: string) {
    this.#callId = callId;
  }

  /** The next attempt sends a new request. */
  renew(): void {
    this.#number += 1;
  }

  /** The request with its key, if the upstream accepts keys and the request has none. */
  sign({ upstream }: Target, request: UpstreamRequest): UpstreamRequest {
    if (!upstream.takesIdempotencyKeys || request.headers['idempotency-key'] !== undefined) return request;
    return { ...request, headers: { ...request.headers, 'idempotency-key': `${this.#callId}-${this.#number}` } };
  }
}
