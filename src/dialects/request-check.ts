import type { TSchema } from 'typebox';
import { indexOf } from '../platform/json/indexed-object.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import { compileCheck, compileCheckLater } from '../platform/schema/compile-check.ts';
import { compileIndexCheck } from '../platform/schema/compile-index-check.ts';
import type { IndexCheck } from '../platform/schema/index-check.ts';
import type { ValidationMode } from './dialect-id.ts';

/**
 * Creates the check of a request's body by its schema. A body with an index is checked on that, and parsed only if it
 * may be invalid.
 * @param mode checks of `documented` are compiled when they are first used, because most processes never need them
 */
export function createRequestCheck(schema: TSchema, mode: ValidationMode): (body: JsonObject) => boolean {
  const checkParsed = mode === 'compatible' ? compileCheck(schema) : compileCheckLater(schema);
  let checkIndexed: IndexCheck | undefined;
  return (body) => {
    const index = indexOf(body);
    return (index !== undefined && (checkIndexed ??= compileIndexCheck(schema))(index, 0)) || checkParsed(body);
  };
}
