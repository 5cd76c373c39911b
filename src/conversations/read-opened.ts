import { GatewayError } from '../inference/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../platform/json/json-value.ts';
import type { ResponseKeeper } from './response-store.ts';

// Readers of opened bodies. Another version of this program may have written them.

/** Refuses an opened body that has an unknown form. */
function refuse(what: string): never {
  const internal = `a stored ${what} could be opened, but has another form than this version writes`;
  throw new GatewayError('responses_unavailable', 'the object stored under this id cannot be read', { internal });
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

/** @throws GatewayError `responses_unavailable` */
export const readOpenedObject = (what: string, value: JsonValue): JsonObject => (isJsonObject(value) ? value : refuse(what));

/** @throws GatewayError `responses_unavailable` */
export const readOpenedObjects = (what: string, value: JsonValue): readonly JsonObject[] =>
  isList(value) && value.every(isJsonObject) ? value : refuse(what);

/** @throws GatewayError `responses_unavailable` */
export const readOpenedTexts = (what: string, value: JsonValue): readonly string[] =>
  isList(value) && value.every((item) => typeof item === 'string') ? value : refuse(what);

/** The stored parts of a response besides its items. */
export type ResponseHead = { readonly response: JsonObject; readonly keeper?: ResponseKeeper };

/** @throws GatewayError `responses_unavailable` */
export function readOpenedHead(value: JsonValue): ResponseHead {
  const { response, keeper } = readOpenedObject('response', value);
  if (!isJsonObject(response)) return refuse('response');
  if (keeper === undefined) return { response };
  const { upstream, credential } = readOpenedObject('response', keeper);
  if (typeof upstream !== 'string' || typeof credential !== 'string') return refuse('response');
  return { response, keeper: { upstream, credential } };
}
