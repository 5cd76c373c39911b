import { randomFillSync } from 'node:crypto';

import type { Clock } from './clock.ts';

/** Crockford's alphabet: no letters that look alike, sorts by value. */
const alphabet = Buffer.from('0123456789abcdefghjkmnpqrstvwxyz');
const timeCharacters = 10;
const randomCharacters = 16;
const randomPoolBytes = randomCharacters * 256;

/**
 * Makes ids like `req_01jd8…`: 10 characters of time, so that they sort by creation, and 16 of randomness (80 bits), so
 * that they cannot be guessed. Randomness is drawn in blocks, because a system call for each id would cost more than
 * the rest. All characters are written into one buffer, because a flat string is faster as a key and in JSON.
 */
export function createIds(clock: Clock): (prefix: string) => string {
  const pool = Buffer.alloc(randomPoolBytes);
  /** The last id of each prefix. There are few prefixes. */
  const drafts = new Map<string, Buffer>();
  let position = randomPoolBytes;
  return (prefix) => {
    if (position === randomPoolBytes) {
      randomFillSync(pool);
      position = 0;
    }
    const draft = drafts.getOrInsertComputed(prefix, createDraft);
    const randomAt = draft.length - randomCharacters;
    let time = clock.nowMs();
    for (let at = randomAt - 1; at >= randomAt - timeCharacters; at--) {
      draft[at] = alphabet[time % 32] ?? 0;
      time = Math.floor(time / 32);
    }
    for (let at = randomAt; at < draft.length; at++) draft[at] = alphabet[(pool[position++] ?? 0) & 31] ?? 0;
    return draft.toString('latin1');
  };
}

const createDraft = (prefix: string): Buffer => Buffer.from(`${prefix}_${' '.repeat(timeCharacters + randomCharacters)}`, 'latin1');

/**
 * The creation time in an id, in Unix milliseconds; undefined if createIds cannot have made the id. Clients can forge
 * one.
 */
export function timeOfId(id: string): number | undefined {
  const time = /^[a-z]+_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id)?.[1];
  return time === undefined ? undefined : Buffer.from(time).reduce((sum, character) => sum * 32 + alphabet.indexOf(character), 0);
}

/**
 * The id, with another prefix, of an object that belongs to the object of `id`. Each can be derived from the other.
 * Undefined if createIds cannot have made `id`.
 */
export function siblingId(id: string, prefix: string): string | undefined {
  return /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/.test(id) ? `${prefix}${id.slice(id.indexOf('_'))}` : undefined;
}
