import { ImportError } from './import-plan.ts';

/** An object of a file, whose members are not known to have any type. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object, or an empty one for everything else: optional sections of a file. */
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** The objects of a list; nothing for everything else. */
export const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** A text that is not empty. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string' && entry !== '') : [];

/** A finite number; databases and YAML files write some as text, and SQLite's whole numbers are bigint. */
export function numberOf(value: unknown): number | undefined {
  const isText = typeof value === 'string' && value.trim() !== '';
  const number = isText || typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A whole number from 1 to `most`; a larger one is `most`. */
export function limitOf(value: unknown, most: number): number | undefined {
  const number = numberOf(value);
  return number === undefined || number < 1 ? undefined : Math.min(Math.floor(number), most);
}

/** JSON that a column or member holds as text. An object passes as it is. */
export function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    // Such columns hold free text too.
    return undefined;
  }
}

/** @throws ImportError unless the value is an object */
export function requireFields(value: unknown, what: string): Fields {
  if (isFields(value)) return value;
  throw new ImportError(`${what} is not a mapping of names to values`);
}
