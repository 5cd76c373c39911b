import { isJsonObject, type JsonObject, type JsonValue } from './json-value.ts';

// Readers of unchecked members that should have one type. A value of another type counts as absent.

/** The value if it is a text. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The value if it is a text that is not empty. */
export const filledText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The value if it is a finite number. Parsing turns a literal that is too large into infinity. */
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

/** The value if it is a count: an exact integer from zero. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** The value if it is one of the words. */
export const wordOf = <Word extends string>(value: unknown, words: readonly Word[]): Word | undefined =>
  words.find((word) => word === value);

/** The meaning of a word, if the table itself contains the word. */
export const meaningOf = <Meaning>(word: unknown, table: Readonly<Record<string, Meaning>>): Meaning | undefined =>
  typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined;

/** The value if it is an object. */
export const objectOf = (value: unknown): JsonObject | undefined => (isJsonObject(value) ? value : undefined);

const noMembers: JsonObject = {};

/** The members of an object; none for anything else. */
export const membersOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : noMembers);

/** The items of a list; none for anything else. */
export const itemsOf = (value: unknown): readonly JsonValue[] => (Array.isArray(value) ? (value as readonly JsonValue[]) : []);

/** The objects of a list; none for anything else. */
export const objectsOf = (value: unknown): readonly JsonObject[] => itemsOf(value).filter(isJsonObject);

/** The texts of a list; none for anything else. */
export const textsOf = (value: unknown): readonly string[] => itemsOf(value).filter((item) => typeof item === 'string');
