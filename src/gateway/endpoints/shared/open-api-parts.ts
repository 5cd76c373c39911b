import type { JsonObject } from '../../../platform/json/json-value.ts';

/** A JSON Schema (2020-12), as plain data. */
export type Schema = JsonObject;

/** Schemas by name, for `components.schemas`. */
export type Schemas = Readonly<Record<string, Schema>>;

/** The places in which a caller may send its key. */
export const carriers = [{ bearer: [] }, { apiKeyHeader: [] }, { googleKeyHeader: [] }, { keyQuery: [] }];

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Content of one media type. */
export function content(type: string, schema: Schema): object {
  return { [type]: { schema } };
}

/** The header that makes a request safe to repeat. @param meaning how a repetition is answered */
export function idempotencyKey(meaning: string): object {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    description: `Makes the request safe to repeat for 24 hours: ${meaning}.`,
    schema: { type: 'string', maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
  };
}

/** An operation that runs once for each key. */
export function repeatable(operation: object): object {
  return { ...operation, parameters: [idempotencyKey('it runs once, and repetitions get the same answer')] };
}

/** Bytes of a media type that JSON Schema cannot describe. */
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

/** An object with these required members. */
export function object(properties: Schemas, required: readonly string[], more: Schema = {}): Schema {
  return { type: 'object', required: [...required], properties, ...more };
}

const statusMeanings: Readonly<Record<number, string>> = {
  400: 'A field of the request is invalid; `param` names it.',
  401: 'The key is missing, unknown, disabled or expired, or two different keys were sent.',
  402: 'The limits or the balance of the key and its user do not cover the highest cost of the call.',
  403: 'The key may not be used from this address, or the files of the user have reached their limit.',
  404: 'The object does not exist, or belongs to another user. Both get the same message.',
  408: 'The body came too slowly.',
  409: 'The `Idempotency-Key` was used for another request, or its request is still running or has no answer that can be repeated.',
  410: 'The file has expired and was deleted.',
  413: 'The body is too large.',
  415: 'The content type is not accepted by this route.',
  416: 'The requested range is outside the file; `Content-Range` has the length of the file.',
  429: 'A limit of the key, or of the upstream. `Retry-After` says when to retry.',
  500: 'The gateway failed.',
  502: 'The upstream failed, or the file is not available at the moment.',
  503: 'The gateway or the upstream cannot serve this at the moment. `Retry-After` says when to retry.',
  504: 'The upstream did not answer in time.',
};

/** The refusals of a route. Their codes are listed in docs/reference/errors.md. */
export function refusals(statuses: readonly number[], schemaName: string): object {
  const described = (status: number): object => ({
    description: statusMeanings[status] ?? '',
    content: content('application/json', ref(schemaName)),
  });
  return Object.fromEntries(statuses.map((status) => [status, described(status)]));
}

/** The header with the path of the receipt. */
export const receiptHeaders = {
  'x-weir-receipt': { description: 'The path of the receipt of this call.', schema: { type: 'string' } },
};
