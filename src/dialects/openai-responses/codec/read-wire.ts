import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';

/** The value if it is a text. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The value if it is a text with something in it. */
export const filledText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The objects of a list; nothing for anything else. */
export const objectsOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

/** The texts of a list; nothing for anything else. */
export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];

const noMembers: JsonObject = {};

/** The value if it is an object, or one without members. */
export const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : noMembers);
