import type { JsonValue } from '../platform/json/json-value.ts';

/** A place of a request that names something which a vendor keeps. */
export type StoredId = {
  readonly param: string;
  /** What is kept there, in words. */
  readonly what: string;
  readonly instead: string;
};

export const isStoredId = (value: JsonValue | undefined): boolean => typeof value === 'string' && value !== '';
