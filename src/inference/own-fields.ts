import { isJsonObject, type JsonObject, type JsonValue } from '../platform/json/json-value.ts';
import type { VendorField } from './inference-request.ts';

/**
 * Puts fields without a neutral name back into a body of the dialect that they were read from: those at the top, and those in an object at
 * the top. What stands deeper belongs to a tool or a part (see collectMembers).
 */
export function putBackFields(body: JsonObject, fields: readonly VendorField[]): JsonObject {
  const added: Record<string, JsonValue> = {};
  for (const { field, value } of fields) {
    const [name = '', member, ...deeper] = field.split('.');
    if (deeper.length > 0 || name.includes('[')) continue;
    if (member === undefined) added[name] = value;
    else if (/^[a-z_]+$/i.test(member)) {
      const known = added[name] ?? body[name];
      added[name] = { ...(isJsonObject(known) ? known : {}), [member]: value };
    }
  }
  return { ...body, ...added };
}

/** Members of tools and parts that have no neutral name, by the path of the tool or part. */
export type OwnMembers = ReadonlyMap<string, JsonObject>;

/** Gathers the fields that are members of something with a path of its own. */
export function collectMembers(fields: readonly VendorField[]): OwnMembers {
  const members = new Map<string, JsonObject>();
  for (const { field, value } of fields) {
    const end = field.lastIndexOf('.');
    if (end === -1) continue;
    const path = field.slice(0, end);
    members.set(path, { ...members.get(path), [field.slice(end + 1)]: value });
  }
  return members;
}
