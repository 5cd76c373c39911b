import { createHmac, timingSafeEqual } from 'node:crypto';

const hourMs = 3_600_000;
/** For how long a link works, at least: as long as the vendors' own links do. */
const dayMs = 24 * hourMs;

/** Whose file a link is to open. */
type LinkedFile = {
  readonly id: string;
  readonly userName: string;
  /** When the file is deleted; undefined where it is kept. */
  readonly expiresAtMs?: number | undefined;
};

/** What a link says of itself, as it came. */
type GivenLink = { readonly id: string; readonly expires: number; readonly signature: string };

/** Links that open one file without a credential, for a time. */
export type SignedLinks = {
  /** The query of a link, without its question mark. It stays the same within an hour, so that a task that has not changed reads the same. */
  readonly sign: (file: LinkedFile, nowMs: number) => string;
  /** What a query has of a link that has not expired; undefined where it has none. Who signed it is not known yet. */
  readonly read: (id: string, query: URLSearchParams, nowMs: number) => GivenLink | undefined;
  /** Whether the link was signed here for a file of this user. Takes the same time whatever differs. */
  readonly isSigned: (link: GivenLink, userName: string) => boolean;
};

const secondsPattern = /^[1-9]\d{9,11}$/;
const signaturePattern = /^[\w-]{43}$/;

/**
 * @param key what deriveKey made for this purpose alone
 * @param linkMs for how long a link works, at least. Infinity: as long as the file is kept
 */
export function createSignedLinks(key: Uint8Array, linkMs = dayMs): SignedLinks {
  // A JSON array: no two files and times have the same text.
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
