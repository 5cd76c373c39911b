import type { IncomingMessage } from 'node:http';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import { freeTogether } from '../../platform/http/body-memory.ts';
import { BodyError, contentCodings, decodeBody, readBody } from '../../platform/http/read-body.ts';
import { indexJson, indexJsonInSlices } from '../../platform/json/index-json.ts';
import { applyJsonEdits } from '../../platform/json/json-edits.ts';
import { editMembers } from '../../platform/json/edit-members.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { lazyObject, lazyObjectInSlices } from '../../platform/json/lazy-object.ts';
import { JsonProblemError } from '../../platform/json/json-problem-error.ts';
import { largeBodyBytes, WorkSlices, yieldIfLong } from '../../platform/yield-queue.ts';
import type { GatewayLimits } from '../settings/limits.ts';
import { readAzurePath } from './read-azure-path.ts';

/** A name or an address, and a port: nothing that could be read as a path, a query or a user. */
const hostPattern = /^(?:[A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;

/**
 * Refuses a request with two `Host` headers, of which Node hides the second, or with an invalid one. The gateway
 * decides nothing by it, but a proxy may decide by one of two and mean the other.
 * @throws GatewayError `invalid_host`
 */
export function checkHost({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  let seen = false;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (seen) throw new GatewayError('invalid_host', 'the request has two Host headers; send one');
    seen = true;
    if (!hostPattern.test(rawHeaders[index + 1] ?? ''))
      throw new GatewayError('invalid_host', 'the Host header must be a host name with an optional port');
  }
}

/** A request's path and query. Credentials in the query are removed here and exist nowhere else. */
export type RequestTarget = {
  /** Paths of Azure are here as the paths that they mean. */
  readonly path: string;
  /** The deployment that a path of Azure names, which replaces the model of the body. */
  readonly model?: string;
  /** Whether the path was that of a cloud for Messages, whose replies name the model as the client does. */
  readonly isOfCloud?: true;
  readonly query: URLSearchParams;
  readonly queryKeys: readonly string[];
};

const noQuery = new URLSearchParams();

/**
 * Splits an origin-form request target. Undefined for other forms, because a gateway is not a forward proxy, and for a
 * fragment, which no client sends.
 */
export function readRequestTarget(url: string): RequestTarget | undefined {
  if (!url.startsWith('/') || url.includes('#')) return undefined;
  const mark = url.indexOf('?');
  if (mark === -1) return { ...readAzurePath(url), query: noQuery, queryKeys: [] };
  const query = new URLSearchParams(url.slice(mark + 1));
  const queryKeys = query.getAll('key');
  query.delete('key');
  return { ...readAzurePath(url.slice(0, mark)), query, queryKeys };
}

export type GenerateContentPath = { readonly model: string; readonly action: string | undefined };

/**
 * Reads the path after `/v1beta/models/`: `gemini-x:generateContent`, the doubled `models/gemini-x:…` of some clients,
 * a percent-encoded colon, or only a model. Undefined if the percent-encoding is invalid.
 */
export function readGenerateContentPath(rest: string): GenerateContentPath | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(rest);
  } catch {
    // An invalid percent-encoding names no model: the caller answers 404.
    return undefined;
  }
  const colon = decoded.lastIndexOf(':');
  const name = colon === -1 ? decoded : decoded.slice(0, colon);
  const model = name.startsWith('models/') ? name.slice('models/'.length) : name;
  return { model, action: colon === -1 ? undefined : decoded.slice(colon + 1) };
}

/**
 * The framing that a streamGenerateContent request asks for: server-sent events with `alt=sse`, otherwise one JSON
 * array.
 */
export function readAltFraming(query: URLSearchParams): StreamFraming {
  return (query.get('alt') ?? query.get('$alt')) === 'sse' ? 'sse' : 'json-array';
}

export type ReadRequest = { readonly bytes: Buffer; readonly body: JsonObject };

function describeBodyError(error: BodyError, limits: GatewayLimits): GatewayError {
  switch (error.problem) {
    case 'too-large':
      return new GatewayError('request_too_large', `request body is too large: at most ${limits.requestBytesMax} bytes are accepted`);
    case 'no-room':
      return new GatewayError(
        'overloaded',
        'The gateway is overloaded: it holds as many request bodies as it can. Please try again in 1s.',
        {
          retryAfterSeconds: 1,
        },
      );
    case 'incomplete':
      return new GatewayError('body_incomplete', 'request body ended before its declared length');
    case 'unsupported-encoding':
      return new GatewayError('unsupported_content_encoding', `${error.message}; send one of ${contentCodings.join(', ')}`);
    case 'invalid-encoding':
      return new GatewayError('invalid_json', `${error.message}, although its content-encoding says so`);
  }
}

function describeJsonProblem(error: JsonProblemError): GatewayError {
  if (error.kind === 'duplicate-key') return new GatewayError('duplicate_key', error.message);
  if (error.kind === 'depth' || error.kind === 'tokens' || error.kind === 'part-length')
    return new GatewayError('body_too_deep', error.message);
  return new GatewayError('invalid_json', `invalid JSON: ${error.message}`);
}

/** The refusal of a body that is not JSON. */
function refuseType(contentType: string | undefined): GatewayError | undefined {
  if (contentType === 'application/json') return undefined;
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json' || (type?.startsWith('application/') === true && type.endsWith('+json'))) return undefined;
  const sent = type === undefined || type === '' ? 'none was sent' : `got "${type.slice(0, 80)}"`;
  return new GatewayError('unsupported_media_type', `content-type must be application/json, but ${sent}`);
}

/** @throws GatewayError for invalid or too large JSON */
function readSmallBody(bytes: Buffer, limits: GatewayLimits): JsonValue {
  try {
    const index = indexJson(bytes, { depthMax: limits.requestDepthMax, tokensMax: limits.requestTokensMax });
    freeTogether(bytes, index.memory);
    return lazyObject(index) ?? index.materialize(0);
  } catch (error) {
    throw error instanceof JsonProblemError ? describeJsonProblem(error) : error;
  }
}

/** A large body, in steps that yield to the event loop, also before and after. */
async function readLargeBody(bytes: Buffer, limits: GatewayLimits): Promise<JsonValue> {
  const before = yieldIfLong();
  if (before !== undefined) await before;
  try {
    const slices = new WorkSlices();
    const index = await indexJsonInSlices(bytes, { depthMax: limits.requestDepthMax, tokensMax: limits.requestTokensMax }, { slices });
    freeTogether(bytes, index.memory);
    return (await lazyObjectInSlices(index, { slices })) ?? index.materialize(0);
  } catch (error) {
    throw error instanceof JsonProblemError ? describeJsonProblem(error) : error;
  } finally {
    const after = yieldIfLong();
    if (after !== undefined) await after;
  }
}

/**
 * Reads a request's JSON object: its bytes, which are passed on, and the tree, which is only read. Large members of the
 * tree are parsed when they are read first. The structural scan comes before, so that hostile input never reaches the
 * parser: depth, size, duplicate keys and encoding are checked on the raw bytes.
 * @param mayHold whether this process has room for this many bytes of the body
 * @param model the model that the path names, which replaces that of the body
 */
export function readRequest(
  request: IncomingMessage,
  limits: GatewayLimits,
  mayHold?: (bytes: number) => boolean,
  model?: string,
): Promise<ReadRequest> {
  const refusal = refuseType(request.headers['content-type']);
  if (refusal !== undefined) return Promise.reject(refusal);
  return readBytes(request, limits, mayHold).then((bytes) => parseRequest(bytes, limits, model));
}

function parseRequest(bytes: Buffer, limits: GatewayLimits, model: string | undefined): ReadRequest | Promise<ReadRequest> {
  const body = readJsonObject(bytes, limits);
  const named = (parsed: JsonObject): ReadRequest | Promise<ReadRequest> =>
    model === undefined ? { bytes, body: parsed } : nameModel({ bytes, body: parsed }, model, limits);
  return body instanceof Promise ? body.then(named) : named(body);
}

/** The same request for another model. All other bytes stay. */
export async function nameModel({ bytes, body }: ReadRequest, model: string, limits: GatewayLimits): Promise<ReadRequest> {
  const named = applyJsonEdits(bytes, editMembers({ body, bytes }, { set: { model: JSON.stringify(model) } }));
  return { bytes: named, body: await readJsonObject(named, limits) };
}

/**
 * Reads a request's decoded body, whatever its type.
 * @param mayHold as in `readRequest`
 * @throws GatewayError
 */
export function readBytes(request: IncomingMessage, limits: GatewayLimits, mayHold?: (bytes: number) => boolean): Promise<Buffer> {
  const reading = readBody(request, limits.requestBytesMax, mayHold);
  const coding = request.headers['content-encoding'];
  const decoded = coding === undefined ? reading : reading.then((bytes) => decodeBody(bytes, coding, limits.requestBytesMax));
  return decoded.catch((error: unknown) => {
    throw error instanceof BodyError ? describeBodyError(error, limits) : error;
  });
}

/**
 * Parses a body as a JSON object: a small one at once, without a promise.
 * @throws GatewayError if it is not one, or too large
 */
export function readJsonObject(bytes: Buffer, limits: GatewayLimits): JsonObject | Promise<JsonObject> {
  if (bytes.length === 0) throw new GatewayError('invalid_json', 'request body is empty; send a JSON object');
  if (bytes.length > largeBodyBytes) return readLargeBody(bytes, limits).then(requireObject);
  return requireObject(readSmallBody(bytes, limits));
}

function requireObject(body: JsonValue): JsonObject {
  if (isJsonObject(body)) return body;
  throw new GatewayError('invalid_json', `request body must be a JSON object, but it is ${Array.isArray(body) ? 'an array' : typeof body}`);
}
