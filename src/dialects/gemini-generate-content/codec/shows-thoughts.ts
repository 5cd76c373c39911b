import { objectOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { toSnakeCase } from '../canonicalize-request.ts';

const pick = (object: JsonValue | undefined, name: string): JsonValue | undefined =>
  objectOf(object)?.[name] ?? objectOf(object)?.[toSnakeCase(name)];

/** Whether the client, in either spelling, requested thoughts. */
export function showsThoughts(request: JsonObject): boolean {
  return pick(pick(pick(request, 'generationConfig'), 'thinkingConfig'), 'includeThoughts') === true;
}
