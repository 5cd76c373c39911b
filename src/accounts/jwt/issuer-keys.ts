import { createLocalJWKSet, type JSONWebKeySet, type JWK, type LocalJWKSet } from 'jose';

import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { TokenIssuer } from './token-issuer.ts';

/** The public keys of an issuer, and the names of the keys. */
type IssuerKeySet = { readonly resolve: LocalJWKSet; readonly kids: ReadonlySet<string> };

/** Keeps the public keys of one issuer. */
export type IssuerKeys = {
  /**
   * The keys in which a token's key is to be found. If it is not among those in memory, they are fetched again at once;
   * after a fetch that did not bring it, not for 30 s. `unavailable`: the issuer does not answer and there are no keys.
   * Rejects with the reason of the signal.
   */
  readonly forToken: (kid: string | undefined, signal: AbortSignal) => Promise<IssuerKeySet | 'unavailable'>;
  /** Fetches the keys in the background if they are ten minutes old. Never waits. */
  readonly refreshIfDue: () => void;
  /** Changes when a fetch brought other keys: a token that was accepted before is to be verified again. */
  readonly generation: () => number;
};

/** Fetches a JSON document. Rejects if there is none within the time that the implementation allows. */
export type FetchDocument = (url: string) => Promise<unknown>;

const refreshAfterMs = 600_000;
const unknownKidEveryMs = 30_000;
/** Calls never fetch more often than this. */
const retryEveryMs = 2000;
/** For how long keys are used while the issuer does not answer. */
const staleMs = 24 * 3_600_000;
const keysMax = 100;
/** 8192 bits in base64. A larger modulus makes each verification expensive. */
const modulusCharactersMax = 1366;

/** Keys are fetched when they are first needed, so that an issuer that is away delays no start. */
export function createIssuerKeys(options: {
  readonly issuer: Pick<TokenIssuer, 'name' | 'issuer' | 'jwksUrl'>;
  readonly fetchDocument: FetchDocument;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
}): IssuerKeys {
  const { issuer, fetchDocument, clock, logger } = options;
  let keys: IssuerKeySet | undefined;
  let text = '';
  let loadedMs = -Infinity;
  let triedMs = -Infinity;
  /** The last fetch for a token that did not bring its key: anybody can make up names of keys. */
  let fruitlessMs = -Infinity;
  let generation = 0;
  let running: Promise<void> | undefined;
  let isFailing = false;

  async function load(): Promise<void> {
    triedMs = clock.monotonicMs();
    try {
      const fetched = await fetchKeys(issuer, fetchDocument);
      const written = JSON.stringify(fetched);
      if (written !== text) {
        keys = { resolve: createLocalJWKSet(fetched), kids: new Set(fetched.keys.flatMap(({ kid }) => (kid === undefined ? [] : [kid]))) };
        text = written;
        generation += 1;
      }
      loadedMs = clock.monotonicMs();
      if (isFailing) logger.info({ issuer: issuer.name }, 'keys of a token issuer fetched after a failure');
      isFailing = false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!isFailing) logger.warn({ issuer: issuer.name, reason }, 'fetching the keys of a token issuer failed');
      isFailing = true;
    } finally {
      running = undefined;
    }
  }

  const refresh = (): Promise<void> => (running ??= load());
  const current = (): IssuerKeySet | undefined => (clock.monotonicMs() - loadedMs < staleMs ? keys : undefined);
  const isOver = (sinceMs: number, everyMs: number): boolean => clock.monotonicMs() - sinceMs >= everyMs;
  const mayTry = (): boolean =>
    running !== undefined || (isOver(triedMs, retryEveryMs) && (current() === undefined || isOver(fruitlessMs, unknownKidEveryMs)));

  return {
    forToken: async (kid, signal) => {
      const isMissing = (known: IssuerKeySet | undefined): boolean => known === undefined || (kid !== undefined && !known.kids.has(kid));
      if (isMissing(current()) && mayTry()) {
        await untilAborted(refresh(), signal);
        if (isMissing(current())) fruitlessMs = clock.monotonicMs();
      }
      return current() ?? 'unavailable';
    },
    refreshIfDue: () => {
      const nowMs = clock.monotonicMs();
      if (nowMs - loadedMs >= refreshAfterMs && nowMs - triedMs >= unknownKidEveryMs) void refresh();
    },
    generation: () => (current() === undefined ? -1 : generation),
  };
}

async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** @throws Error for the log */
async function fetchKeys(
  { issuer, jwksUrl }: Pick<TokenIssuer, 'issuer' | 'jwksUrl'>,
  fetchDocument: FetchDocument,
): Promise<JSONWebKeySet> {
  const document = await fetchDocument(jwksUrl ?? (await discover(issuer, fetchDocument)));
  const listed = memberOf(document, 'keys');
  if (!Array.isArray(listed)) throw new Error('its answer is not a list of keys');
  if (listed.length > keysMax) throw new Error(`it lists more than ${keysMax} keys`);
  const keys = listed.filter(isUsable);
  if (keys.length === 0) throw new Error('it lists no public key that signs');
  return { keys };
}

async function discover(issuer: string, fetchDocument: FetchDocument): Promise<string> {
  const document = await fetchDocument(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`);
  if (memberOf(document, 'issuer') !== issuer) throw new Error('its discovery document names another issuer');
  const url = memberOf(document, 'jwks_uri');
  if (typeof url !== 'string' || !isSafeAddress(url)) throw new Error('its discovery document names no https address of keys');
  return url;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Secret keys, keys for encryption and oversized ones are left out. */
function isUsable(value: unknown): value is JWK {
  const type = memberOf(value, 'kty');
  if (type !== 'RSA' && type !== 'EC' && type !== 'OKP') return false;
  if ((memberOf(value, 'use') ?? 'sig') !== 'sig' || memberOf(value, 'd') !== undefined) return false;
  const kid = memberOf(value, 'kid');
  if (kid !== undefined && typeof kid !== 'string') return false;
  const modulus = memberOf(value, 'n');
  return type !== 'RSA' || (typeof modulus === 'string' && modulus.length <= modulusCharactersMax);
}

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether keys may be fetched from an address: by https, or from this machine. */
export function isSafeAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.has(url.hostname));
}
