import type { JsonObject } from '../../../platform/json/json-value.ts';

/** A JSON Schema (2020-12), as plain data. */
export type Schema = JsonObject;

/** By name, for `components.schemas`. */
export type Schemas = Readonly<Record<string, Schema>>;

/** Where a caller's key may be: any of these. */
export const carriers = [{ bearer: [] }, { apiKeyHeader: [] }, { googleKeyHeader: [] }, { keyQuery: [] }];

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Content of one media type. */
export function content(type: string, schema: Schema): object {
  return { [type]: { schema } };
}

/** The header that makes a request safe to repeat. @param meaning what is the same when it is repeated */
export function idempotencyKey(meaning: string): object {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    description: `Makes the request safe to repeat for 24 hours: ${meaning}.`,
    schema: { type: 'string', maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  };
}

/** An operation that is made once for each key. */
export function repeatable(operation: object): object {
  return { ...operation, parameters: [idempotencyKey('it is made once, and answered the same')] };
}

/** Bytes of a media type, which JSON Schema cannot look into. */
export const bytes: Schema = { type: 'string', format: 'binary' };

export function text(description: string, more: Schema = {}): Schema {
  return { type: 'string', description, ...more };
}

export function count(description: string, more: Schema = {}): Schema {
  return { type: 'integer', minimum: 0, description, ...more };
}

export const unixSeconds = (description: string): Schema => count(`${description} Unix seconds.`);

/** The schema, or null. */
export function orNull(schema: Schema): Schema {
  const { description, ...own } = schema;
  return { anyOf: [own, { type: 'null' }], ...(description === undefined ? {} : { description }) };
}

/** An object in which these members are always there. */
export function object(properties: Schemas, required: readonly string[], more: Schema = {}): Schema {
  return { type: 'object', required: [...required], properties, ...more };
}

const statusMeanings: Readonly<Record<number, string>> = {
  400: 'A field of the request is wrong; `param` says which.',
  401: 'The key is missing, unknown, disabled or expired, or there are two different ones.',
  402: 'The limits or the balance of the key and its user do not cover what the call may cost.',
  403: 'The key may not be used from this address, or the files of the user fill the place that they may have.',
  404: "There is no such thing, or it is another user's: the same words for both.",
  408: 'The body came too slowly.',
  409: 'The `Idempotency-Key` has been used for another request, or that request is under way or has no answer that could be given again.',
  410: 'The file has expired and was deleted.',
  413: 'The body is larger than it may be.',
  415: 'The content type is not one that this route takes.',
  416: 'The part that was asked for does not exist; `Content-Range` tells the length of the file.',
  429: 'A limit of the key, or of the upstream. `Retry-After` says when to try again.',
  500: 'The gateway failed.',
  502: 'The upstream failed, or the file cannot be had at the moment.',
  503: 'The gateway or the upstream cannot serve this at the moment. `Retry-After` says when to try again.',
  504: 'The upstream did not answer in time.',
};

/** The refusals that a route answers with. Their codes are listed in docs/reference/errors.md. */
export function refusals(statuses: readonly number[], schemaName: string): object {
  const described = (status: number): object => ({
    description: statusMeanings[status] ?? '',
    content: content('application/json', ref(schemaName)),
  });
  return Object.fromEntries(statuses.map((status) => [status, described(status)]));
}

/** The header that leads from an answer to its receipt. */
export const receiptHeaders = {
  'x-weir-receipt': { description: 'The path of the receipt of this call.', schema: { type: 'string' } },
};
