import type { JsonObject } from '../platform/json/json-value.ts';
import type { OutputFormat } from './inference-request.ts';

/** The schema of an answer with the description that stood beside it, for dialects that have one only inside. */
export function describeSchema({ schema, description }: Extract<OutputFormat, { kind: 'json-schema' }>): JsonObject {
  return description === undefined || schema.description !== undefined ? schema : { description, ...schema };
}
