import { isJsonObject, type JsonObject, type JsonValue } from '../../../../platform/json/json-value.ts';

/** A schema beyond these limits is not checked. Vendors have lower limits. */
const charactersMax = 200_000;
const depthMax = 200;

/**
 * A schema as JSON text for the thread that compiles it. Undefined if it is too large or too deep. It is read only up
 * to the limit, so that a schema of megabytes costs no more than one at the limit.
 */
export function writeSchema(schema: JsonObject): string | undefined {
  const left: { readonly value: JsonValue; readonly depth: number }[] = [{ value: schema, depth: 0 }];
  let characters = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, depth } = next;
    characters += typeof value === 'string' ? value.length + 2 : 2;
    if (characters > charactersMax || depth > depthMax) return undefined;
    if (Array.isArray(value)) {
      if (value.length > charactersMax) return undefined;
      for (const item of value as readonly JsonValue[]) left.push({ value: item, depth: depth + 1 });
    } else if (isJsonObject(value)) {
      for (const name in value) {
        const member = value[name];
        characters += name.length + 3;
        if (characters > charactersMax) return undefined;
        if (member !== undefined) left.push({ value: member, depth: depth + 1 });
      }
    }
  }
  const text = JSON.stringify(schema);
  return text.length > 2 * charactersMax ? undefined : text;
}
