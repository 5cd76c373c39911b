import * as crypto from 'node:crypto';

import type { RandomBytes } from '../api-key-format.ts';
import { isCommonPassword } from './common-passwords.ts';
import { PeopleError } from './people-error.ts';

const charactersMin = 12;
/** Bounds the work of composing and hashing. */
const charactersMax = 1024;

/** What a hash costs: memory in KiB, passes over it, lanes. OWASP's first choice for Argon2id. */
type Cost = { readonly memory: number; readonly passes: number; readonly parallelism: number };
const costNow: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const hashBytes = 32;
/** A stored text that asks for more was not written by this program. */
const costMax: Cost = { memory: 262_144, passes: 16, parallelism: 16 };

/** How many hashes are made at once, and how many more may wait. One takes about 40 ms of a core and 19 MiB. */
const runningMax = 2;
const waitingMax = 4;

/** Argon2id of Node.js: the hash of a message with a salt. */
type Argon2 = (message: Uint8Array, salt: Uint8Array, cost: Cost, bytes: number) => Promise<Uint8Array>;

/** Hashes and checks passwords, a few at a time. */
export type Passwords = {
  /**
   * The text to store for a password: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`. Rejects with PeopleError `busy`
   * if too many passwords wait, and with Error if the runtime has no Argon2.
   */
  readonly hash: (password: string) => Promise<string>;
  /**
   * Whether a password is the one of a stored text. Without a text it takes the same time and is false. `isOutdated`:
   * it matches, and should be hashed again because today's parameters are others. Rejects as `hash` does.
   */
  readonly verify: (password: string, stored: string | undefined) => Promise<{ readonly matches: boolean; readonly isOutdated: boolean }>;
};

export function createPasswords(random: RandomBytes, argon2: Argon2 = argon2OfNode): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];
  /** The salt for persons who do not exist. */
  const nobody = random(saltBytes);

  async function inTurn(work: () => Promise<Uint8Array>): Promise<Uint8Array> {
    if (running >= runningMax) {
      if (waiting.length >= waitingMax) throw new PeopleError('busy', 'Too many passwords are being checked; try again in a second.');
      const turn = Promise.withResolvers<void>();
      waiting.push(turn.resolve);
      await turn.promise;
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The next one takes over the place.
      if (next === undefined) running -= 1;
      else next();
    }
  }

  const derive = (password: string, salt: Uint8Array, cost: Cost): Promise<Uint8Array> =>
    inTurn(() => argon2(Buffer.from(password.normalize('NFKC')), salt, cost, hashBytes));

  return {
    hash: async (password) => {
      const salt = random(saltBytes);
      return encode(costNow, salt, await derive(password, salt, costNow));
    },
    verify: async (password, stored) => {
      if (password.length > charactersMax) return { matches: false, isOutdated: false };
      const known = stored === undefined ? undefined : decode(stored);
      const found = await derive(password, known?.salt ?? nobody, known?.cost ?? costNow);
      if (known === undefined || !crypto.timingSafeEqual(found, known.hash)) return { matches: false, isOutdated: false };
      return { matches: true, isOutdated: stored !== encode(costNow, known.salt, known.hash) };
    },
  };
}

/**
 * Checks a password that a person chooses. Throws PeopleError `weak_password` unless it has 12 to 1024 characters, of
 * any kind, and is not one of the commonest.
 */
export function checkPassword(password: string): void {
  const characters = password.length > charactersMax ? password.length : Array.from(password.normalize('NFKC')).length;
  if (characters < charactersMin)
    throw new PeopleError('weak_password', `The password is too short: give at least ${charactersMin} characters of any kind.`);
  if (characters > charactersMax)
    throw new PeopleError('weak_password', `The password is too long: give at most ${charactersMax} characters.`);
  if (isCommonPassword(password.normalize('NFKC')))
    throw new PeopleError('weak_password', 'The password is one of the commonest, which are tried first; choose another one.');
}

const argon2OfNode: Argon2 = async (message, nonce, cost, tagLength) => {
  if (crypto.argon2 === undefined)
    throw new Error(`Node.js ${process.versions.node} has no Argon2 for passwords; run Weir with Node.js 24.7 or later, as weir.js does.`);
  const hashed = Promise.withResolvers<Uint8Array>();
  crypto.argon2('argon2id', { message, nonce, ...cost, tagLength }, (error, key) => {
    if (error === null) hashed.resolve(key);
    else hashed.reject(error);
  });
  return await hashed.promise;
};

const storedPattern = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

/** The form of the PHC string format, which other programs read too. */
function encode({ memory, passes, parallelism }: Cost, salt: Uint8Array, hash: Uint8Array): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`;
}

/** Throws Error if the text was not written by `encode`. */
function decode(stored: string): { readonly cost: Cost; readonly salt: Uint8Array; readonly hash: Uint8Array } {
  const [, m, t, p, salt = '', hash = ''] = storedPattern.exec(stored) ?? [];
  const cost: Cost = { memory: Number(m), passes: Number(t), parallelism: Number(p) };
  if (!(cost.memory <= costMax.memory && cost.passes <= costMax.passes && cost.parallelism <= costMax.parallelism))
    throw new Error('The stored hash of a password has a form or a cost that this program does not write.');
  return { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
