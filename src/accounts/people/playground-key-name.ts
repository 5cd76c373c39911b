import type { ApiKey } from '../api-key.ts';
import { generateId, type RandomBytes } from '../api-key-format.ts';

/** The longest life of a key of the playground. */
export const playgroundLifeMs = 12 * 3_600_000;

const prefix = 'playground-';
const characters = 8;
const named = new RegExp(`^${prefix}[\\w-]{${characters}}$`);

/** Random at its end: a session has several such keys. */
export function playgroundKeyName(random: RandomBytes): string {
  return `${prefix}${generateId(characters, random)}`;
}

/**
 * Whether a key was made by the playground, for calls of one session. Such a key always has a bound and an end within
 * hours, so that neither is news to anybody. It is known by its name and its short life: gateways, which look for news
 * about keys, may not read the table of these keys, because it has their secrets.
 */
export function isPlaygroundKey({ name, createdAtMs, limits }: Pick<ApiKey, 'name' | 'createdAtMs' | 'limits'>): boolean {
  return named.test(name) && limits?.spendTotal !== undefined && (limits.expiresAtMs ?? Infinity) <= createdAtMs + playgroundLifeMs;
}
