import type { VendorField } from '../inference/inference-request.ts';
import { isJsonObject, type JsonValue } from '../platform/json/json-value.ts';

/** Whether a value has content. Null, false and empty lists and objects mean the same as an absent member. */
export function isSaid(value: JsonValue | undefined): value is JsonValue {
  if (value === undefined || value === null || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}

/**
 * The members of an object that the decoder did not read, as fields of the request. Members without content are not
 * listed, because nothing is lost with them.
 */
export function listUnread(
  value: JsonValue | undefined,
  path: string,
  read: ReadonlySet<string>,
  hints: ReadonlySet<string> = new Set(),
): readonly VendorField[] {
  if (!isJsonObject(value)) return [];
  const fields: VendorField[] = [];
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (read.has(name) || member === undefined || member === null) continue;
    const weight = !isSaid(member) ? 'harmless' : hints.has(name) ? 'hint' : 'matters';
    fields.push({ field: path === '' ? name : `${path}.${name}`, value: member, weight });
  }
  return fields;
}
