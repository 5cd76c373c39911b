import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { compileCheckLater } from '../../platform/schema/compile-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { ValidationMode } from '../dialect-id.ts';
import { createSchemaKit, nullable, orNull } from '../schema-builders.ts';
import { createItemListSchema } from './input-item-schemas.ts';
import { metadataSchema } from './request-schema.ts';
import { wordRequestProblem } from './word-request-problem.ts';

/** The requests of the conversations interface that have a body. */
export type ConversationBody = 'create' | 'update' | 'add-items';

/** The vendor's limit of items per request, from its API description of 2026-08-21. */
const itemsMax = 20;

function createSchema(kind: ConversationBody, mode: ValidationMode): TSchema {
  const kit = createSchemaKit(mode);
  const items = createItemListSchema(kit);
  switch (kind) {
    case 'create':
      return kit.object({ metadata: orNull(metadataSchema), items: orNull(items) });
    case 'update':
      return kit.object({ metadata: nullable(metadataSchema) });
    case 'add-items':
      return kit.object({ items });
  }
}

const kinds = ['create', 'update', 'add-items'] as const;
const schemas = new Map(
  kinds.flatMap((kind) => (['compatible', 'documented'] as const).map((mode) => [`${kind} ${mode}`, createSchema(kind, mode)])),
);
const checks = new Map([...schemas].map(([name, schema]) => [name, compileCheckLater(schema)]));

/**
 * Refuses an invalid body of the conversations interface, with the messages of the Responses interface.
 * @throws GatewayError missing_required_field, unknown_field or invalid_value
 */
export function validateConversationBody(kind: ConversationBody, body: JsonObject, mode: ValidationMode): void {
  const name = `${kind} ${mode}`;
  if (checks.get(name)?.(body) !== true) {
    const [problem] = describeProblems(schemas.get(name) ?? Type.Never(), body, 1);
    throw problem === undefined
      ? new GatewayError('invalid_value', 'The request body does not fit the interface.')
      : wordRequestProblem(problem);
  }
  const { items } = body;
  if (Array.isArray(items) && items.length > itemsMax) {
    const text = `Invalid 'items': array too long. Expected an array with maximum length ${itemsMax}, but got an array with length ${items.length} instead.`;
    throw new GatewayError('invalid_value', text, { param: 'items', details: { openai_code: 'array_above_max_length' } });
  }
}
