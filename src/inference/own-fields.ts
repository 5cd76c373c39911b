import { isJsonObject, type JsonObject, type JsonValue } from '../platform/json/json-value.ts';
import type { VendorField } from './inference-request.ts';

/**
 * Puts fields without a neutral name back into a body of their own dialect: fields at the top, and fields of an object
 * at the top. Deeper fields belong to a tool or a part (see collectMembers).
 */
export function putBackFields(body: JsonObject, fields: readonly VendorField[]): JsonObject {
  const added: Record<string, JsonValue> = {};
  for (const { field, value } of fields) {
    const [name = '', member, ...deeper] = field.split('.');
    if (deeper.length > 0 || name.includes('[')) continue;
    if (member === undefined) added[name] = value;
    else if (/^[a-z_]+$/i.test(member)) {
      const existing = added[name] ?? body[name];
      added[name] = { ...(isJsonObject(existing) ? existing : {}), [member]: value };
    }
  }
  return { ...body, ...added };
}

/**
 * Members of tools and parts that have no neutral name, by the path of the tool or part. It remembers which of them
 * were read.
 */
export class OwnMembers {
  readonly #members = new Map<string, JsonObject>();
  readonly #readPaths = new Set<string>();

  constructor(fields: readonly VendorField[]) {
    for (const { field, value } of fields) {
      const holder = holderOf(field);
      if (holder !== undefined) this.#members.set(holder, { ...this.#members.get(holder), [field.slice(holder.length + 1)]: value });
    }
  }

  has(path: string | undefined): boolean {
    return path !== undefined && this.#members.has(path);
  }

  take(path: string | undefined): JsonObject | undefined {
    if (path === undefined || !this.#members.has(path)) return undefined;
    this.#readPaths.add(path);
    return this.#members.get(path);
  }

  /** Whether a field is back in its place. */
  hasRead({ field }: VendorField): boolean {
    const holder = holderOf(field);
    return holder !== undefined && this.#readPaths.has(holder);
  }
}

function holderOf(field: string): string | undefined {
  const end = field.lastIndexOf('.');
  return end === -1 ? undefined : field.slice(0, end);
}

/** Whether `putBackFields` puts a field back. */
export const isPutBack = ({ field }: VendorField): boolean => /^[a-z_]+(?:\.[a-z_]+)?$/i.test(field);
