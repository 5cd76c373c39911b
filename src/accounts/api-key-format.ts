import { hash } from 'node:crypto';

/** A source of unpredictable bytes. */
export type RandomBytes = (size: number) => Uint8Array;

/**
 * `sk-weir` opens the gateway, `bt-weir` the monitor, `at-weir` the admin API. The prefix lets scanners recognise a
 * leaked secret.
 */
export type SecretKind = 'sk-weir' | 'bt-weir' | 'at-weir';

export type GeneratedSecret = {
  /** Identifies the key in lists and logs. It is not secret. */
  readonly id: string;
  readonly secret: string;
};

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 10;
/** 43 characters of an alphabet of 62 hold 256 bits. */
const secretLength = 43;
const checksumLength = 6;
const secretPattern = /^(sk-weir|bt-weir|at-weir)-([0-9A-Za-z]{10})_([0-9A-Za-z]{43})_([0-9A-Za-z]{6})$/;
const generatedLength = 'sk-weir-'.length + idLength + 1 + secretLength + 1 + checksumLength;

/**
 * Generates a secret: `<kind>-<10 characters of id>_<43 random characters>_<6 characters of checksum>`.
 * @param id the id of a key or token that gets a new secret; without it, a new id is generated
 */
export function generateSecret(kind: SecretKind, random: RandomBytes, id: string = generateId(idLength, random)): GeneratedSecret {
  const body = `${kind}-${id}_${randomText(secretLength, random)}`;
  return { id, secret: `${body}_${computeChecksum(body)}` };
}

/** A random id of letters and digits, for objects that have no secret of ours. */
export function generateId(length: number, random: RandomBytes): string {
  return randomText(length, random);
}

/**
 * The id in a secret that has this format and a correct checksum, otherwise undefined. It does not say whether the key
 * exists: it separates garbage and typing errors from keys without a query. The work is the same for every text of the
 * right shape.
 */
export function parseSecret(kind: SecretKind, secret: string): string | undefined {
  if (secret.length !== generatedLength) return undefined;
  const [, foundKind, id, , checksum] = secretPattern.exec(secret) ?? [];
  if (foundKind !== kind || id === undefined) return undefined;
  return computeChecksum(secret.slice(0, -checksumLength - 1)) === checksum ? id : undefined;
}

/**
 * 36 bits of SHA-256 as six characters. Anyone can compute it: it protects against accidents, not against attackers.
 */
function computeChecksum(body: string): string {
  let remainder = Number.parseInt(hash('sha256', body, 'hex').slice(0, 12), 16);
  let checksum = '';
  for (let digit = 0; digit < checksumLength; digit += 1) {
    checksum += alphabet.charAt(remainder % alphabet.length);
    remainder = Math.floor(remainder / alphabet.length);
  }
  return checksum;
}

/** Random characters, each equally likely. `characters` has at most 256 of them. */
export function randomText(length: number, random: RandomBytes, characters: string = alphabet): string {
  // Bytes in the last, incomplete run of the alphabet are discarded, so that every character is equally likely.
  const fairBytesMax = 256 - (256 % characters.length);
  let text = '';
  while (text.length < length) {
    for (const byte of random(length - text.length)) {
      if (byte < fairBytesMax) text += characters.charAt(byte % characters.length);
    }
  }
  return text;
}
