import type { JsonValue } from '../platform/json/json-value.ts';

/** A field of a request that refers to an object stored at a vendor. */
export type StoredId = {
  readonly param: string;
  /** The kind of object, in plain text. */
  readonly what: string;
  readonly instead: string;
};

export const isStoredId = (value: JsonValue | undefined): boolean => typeof value === 'string' && value !== '';
