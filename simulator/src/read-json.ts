/** JSON as the simulator reads and writes it. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json | undefined };
export type JsonRecord = { [member: string]: Json | undefined };

/** True for a JSON object: not an array, not null. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object in a body; undefined if it is anything else. */
export function parseRecord(body: Buffer | undefined): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(body?.toString() ?? '');
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The value if it is a string, otherwise the empty string. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The objects of a list; any other value has none. */
export function recordsOf(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
