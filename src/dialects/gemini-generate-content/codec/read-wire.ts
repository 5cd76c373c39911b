import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** A text that says something. */
export const filledText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

/** A count or index: proto leaves a zero out, and writes large ones as text. */
export function countOf(value: unknown): number {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : 0;
}

export const objectOf = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined);

/** What a word stands for, where the table has it as a word of its own. */
export const wordIn = <Meaning>(table: Readonly<Record<string, Meaning>>, word: unknown): Meaning | undefined =>
  typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;

/** The items of a list; none for anything else. */
export const itemsOf = (value: unknown): readonly JsonValue[] => (Array.isArray(value) ? (value as readonly JsonValue[]) : []);

export const objectsOf = (value: unknown): readonly JsonObject[] => itemsOf(value).filter(isJsonObject);

export const textsOf = (value: unknown): readonly string[] => itemsOf(value).filter((item) => typeof item === 'string');
