export type JsonValue = string | number | boolean | null | JsonArray | JsonObject;
type JsonArray = readonly JsonValue[];
export type JsonObject = { readonly [member: string]: JsonValue | undefined };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
