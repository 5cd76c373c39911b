import { createHmac, timingSafeEqual } from 'node:crypto';

const hourMs = 3_600_000;
/** The least time for which a link works: as long as the vendors' own links. */
const dayMs = 24 * hourMs;

/** The file that a link opens, and its owner. */
type LinkedFile = {
  readonly id: string;
  readonly userName: string;
  /** When the file is deleted; undefined if it is not. */
  readonly expiresAtMs?: number | undefined;
};

/** The parts of a link, as received. */
type ReceivedLink = { readonly id: string; readonly expires: number; readonly signature: string };

/** Links that open one file without a credential, for a time. */
export type SignedLinks = {
  /**
   * The query of a link, without its question mark. It stays the same within an hour, so that an unchanged task does
   * too.
   */
  readonly sign: (file: LinkedFile, nowMs: number) => string;
  /** Reads the link from a query; undefined if it is missing or expired. The signature is not checked yet. */
  readonly read: (id: string, query: URLSearchParams, nowMs: number) => ReceivedLink | undefined;
  /** Whether this gateway signed the link for a file of this user. Takes constant time. */
  readonly isSigned: (link: ReceivedLink, userName: string) => boolean;
};

const secondsPattern = /^[1-9]\d{9,11}$/;
const signaturePattern = /^[\w-]{43}$/;

/**
 * @param key a key that was derived for this purpose alone
 * @param linkMs the least time for which a link works. Infinity: as long as the file is stored
 */
export function createSignedLinks(key: Uint8Array, linkMs = dayMs): SignedLinks {
  // A JSON array is unambiguous: different files and times never have the same text.
  const signatureOf = (id: string, userName: string, expires: number): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([id, userName, expires]))
      .digest('base64url');
  return {
    sign: ({ id, userName, expiresAtMs }, nowMs) => {
      const untilMs = Math.min(Math.ceil(nowMs / hourMs) * hourMs + linkMs, expiresAtMs ?? Number.POSITIVE_INFINITY);
      const expires = Math.ceil(untilMs / 1000);
      return `expires=${expires}&signature=${signatureOf(id, userName, expires)}`;
    },
    read: (id, query, nowMs) => {
      const [expires, more] = query.getAll('expires');
      const [signature, another] = query.getAll('signature');
      if (expires === undefined || signature === undefined || more !== undefined || another !== undefined) return undefined;
      if (!secondsPattern.test(expires) || !signaturePattern.test(signature)) return undefined;
      return Number(expires) * 1000 > nowMs ? { id, expires: Number(expires), signature } : undefined;
    },
    isSigned: ({ id, expires, signature }, userName) =>
      timingSafeEqual(Buffer.from(signatureOf(id, userName, expires)), Buffer.from(signature)),
  };
}
