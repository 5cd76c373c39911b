import type { JsonObject } from '../platform/json/json-value.ts';
import type { OutputFormat } from './inference-request.ts';

/** Moves the description of an answer's schema into the schema, for dialects that have no other place for it. */
export function describeSchema({ schema, description }: Extract<OutputFormat, { kind: 'json-schema' }>): JsonObject {
  return description === undefined || schema.description !== undefined ? schema : { description, ...schema };
}
