import type { TSchema } from 'typebox';
import { indexOf } from '../platform/json/indexed-object.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import { compileCheckLater } from '../platform/schema/compile-check.ts';
import { compileIndexCheck } from '../platform/schema/compile-index-check.ts';
import type { IndexCheck } from '../platform/schema/index-check.ts';

/**
 * Creates the check of a request's body by its schema. A body with an index is checked on that, and parsed only if it
 * may be invalid. Both checks are compiled at their first use, because a process needs few of those that it has.
 */
export function createRequestCheck(schema: TSchema): (body: JsonObject) => boolean {
  const checkParsed = compileCheckLater(schema);
  let checkIndexed: IndexCheck | undefined;
  return (body) => {
    const index = indexOf(body);
    return (index !== undefined && (checkIndexed ??= compileIndexCheck(schema))(index, 0)) || checkParsed(body);
  };
}
