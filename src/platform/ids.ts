import { randomFillSync } from 'node:crypto';

import type { Clock } from './clock.ts';

/** Crockford's alphabet: no letters that look alike, sorts by value. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const randomPoolBytes = 16 * 256;

/**
 * Makes ids like `req_01jd8…`: 10 characters of time, so that they sort by creation, and 16 of randomness (80 bits), so that they cannot
 * be guessed. Randomness is drawn in blocks because a system call per id would cost more than the rest of it.
 */
export function createIds(clock: Clock): (prefix: string) => string {
  const pool = Buffer.alloc(randomPoolBytes);
  let position = randomPoolBytes;
  return (prefix) => {
    if (position === randomPoolBytes) {
      randomFillSync(pool);
      position = 0;
    }
    let time = clock.nowMs();
    let head = '';
    for (let digit = 0; digit < 10; digit++) {
      head = alphabet.charAt(time % 32) + head;
      time = Math.floor(time / 32);
    }
    let tail = '';
    for (let digit = 0; digit < 16; digit++) tail += alphabet.charAt((pool[position++] ?? 0) & 31);
    return `${prefix}_${head}${tail}`;
  };
}
