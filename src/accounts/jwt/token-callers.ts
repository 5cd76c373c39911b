import { hash } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';

import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { AccountsStore } from '../accounts-store.ts';
import type { RandomBytes } from '../api-key-format.ts';
import type { ApiKey } from '../api-key.ts';
import type { KeyDirectory } from '../key-directory.ts';
import type { Claims } from './claim-names.ts';
import { createIssuerKeys, type FetchDocument, type IssuerKeys } from './issuer-keys.ts';
import { ensureTokenKey, hashPrefixOf, identityOf, type TokenIdentity } from './token-identity.ts';
import { type TokenIssuer, tokenCharactersMax, tokenLeewaySeconds } from './token-issuer.ts';

/** Finds the callers of signed tokens. Both methods behave as those of KeyDirectory. */
export type TokenCallers = {
  /** The caller of a token that was verified before. Costs one hash and two look-ups. */
  readonly find: (token: string) => ApiKey | undefined;
  /**
   * Verifies a token, and creates its user and key if they do not exist. `unavailable`: the keys of the issuer or the
   * store cannot be read, or too many tokens are being verified. A token that is expired, but otherwise genuine and of
   * an existing key, is a caller that has expired.
   */
  readonly resolve: (token: string, signal: AbortSignal) => Promise<ApiKey | undefined | 'unavailable'>;
};

export type TokenCallersOptions = {
  /** The present configuration. The same array means: unchanged. */
  readonly issuers: () => readonly TokenIssuer[];
  readonly fetchDocument: FetchDocument;
  readonly directory: Pick<KeyDirectory, 'stored' | 'learn' | 'countStored'>;
  readonly store: AccountsStore;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly logger: Logger;
};

/** Verified tokens in memory, and tokens that were refused. The oldest make room for new ones. */
const verifiedMax = 20_000;
const refusedMax = 10_000;
/** A refused token is not verified again for this time, so that a client that repeats it costs one hash. */
const refusedMs = 5000;
/** Verifications at once. Each takes up to a millisecond of a processor. */
const verificationsMax = 64;
const storeTimeoutMs = 2000;

type IssuerState = { readonly issuer: TokenIssuer; readonly keys: IssuerKeys };

type Verified = {
  readonly state: IssuerState;
  readonly identity: TokenIdentity;
  /** The end of the token, the leeway included. */
  readonly endsAtMs: number;
  readonly generation: number;
  /** The key as it was loaded, and the caller that was made from it. */
  key: ApiKey;
  caller: ApiKey;
};

/** Whether a credential has the shape of a signed token: a JSON object in base64 begins this way. */
export function looksLikeToken(secret: string): boolean {
  return secret.startsWith('eyJ');
}

export function createTokenCallers(options: TokenCallersOptions): TokenCallers {
  const table = new TokenTable(options);
  return { find: (token) => table.find(token), resolve: (token, signal) => table.resolve(token, signal) };
}

/** Verified tokens and refused ones, in memory. */
class TokenTable {
  readonly #options: TokenCallersOptions;
  #configured: readonly TokenIssuer[] | undefined;
  #states = new Map<string, IssuerState>();
  readonly #verified = new Map<string, Verified>();
  readonly #refusedUntilMs = new Map<string, number>();
  readonly #resolving = new Map<string, Promise<ApiKey | undefined | 'unavailable'>>();

  constructor(options: TokenCallersOptions) {
    this.#options = options;
  }

  find(token: string): ApiKey | undefined {
    if (token.length > tokenCharactersMax || this.#issuers().size === 0) return undefined;
    const digest = digestOf(token);
    const entry = this.#verified.get(digest);
    if (entry === undefined) return undefined;
    entry.state.keys.refreshIfDue();
    return this.#callerOf(digest, entry);
  }

  async resolve(token: string, signal: AbortSignal): Promise<ApiKey | undefined | 'unavailable'> {
    signal.throwIfAborted();
    if (token.length > tokenCharactersMax || this.#issuers().size === 0) return undefined;
    const digest = digestOf(token);
    if (this.#options.clock.monotonicMs() < (this.#refusedUntilMs.get(digest) ?? -Infinity)) return undefined;
    return await (this.#resolving.get(digest) ?? this.#resolveOnce(token, digest, signal));
  }

  /** After a change of the configuration every token is verified again. */
  #issuers(): ReadonlyMap<string, IssuerState> {
    const now = this.#options.issuers();
    if (now !== this.#configured) {
      const before = this.#states;
      this.#states = new Map(now.map((issuer) => [issuer.issuer, this.#stateOf(issuer, before.get(issuer.issuer))]));
      this.#configured = now;
      this.#verified.clear();
      this.#refusedUntilMs.clear();
    }
    return this.#states;
  }

  #stateOf(issuer: TokenIssuer, before: IssuerState | undefined): IssuerState {
    const isKept = before !== undefined && before.issuer.jwksUrl === issuer.jwksUrl && before.issuer.name === issuer.name;
    return { issuer, keys: isKept ? before.keys : createIssuerKeys({ issuer, ...this.#options }) };
  }

  /** The caller of an entry, unless its key was disabled or deleted, or the issuer's keys have changed. */
  #callerOf(digest: string, entry: Verified): ApiKey | undefined {
    const key = this.#options.directory.stored(entry.identity.hash);
    if (key === undefined || this.#options.clock.nowMs() >= entry.endsAtMs || entry.generation !== entry.state.keys.generation()) {
      this.#verified.delete(digest);
      return undefined;
    }
    if (key !== entry.key) {
      entry.key = key;
      entry.caller = withLimits(key, entry.state.issuer, entry.endsAtMs);
    }
    return key.disabledAtMs === undefined ? entry.caller : undefined;
  }

  async #verify(token: string, digest: string, signal: AbortSignal): Promise<ApiKey | undefined | 'unavailable'> {
    const parsed = parseToken(token);
    const state = parsed === undefined ? undefined : this.#issuers().get(parsed.issuer);
    if (parsed === undefined || state === undefined || !state.issuer.algorithms.some((algorithm) => algorithm === parsed.algorithm))
      return undefined;
    const keys = await state.keys.forToken(parsed.kid, signal);
    if (keys === 'unavailable') return keys;
    const generation = state.keys.generation();
    const checked = await checkToken(token, state.issuer, keys.resolve, this.#options.clock.nowMs());
    if (checked === undefined) return undefined;
    const identity = identityOf(state.issuer, checked.claims);
    if (identity === undefined) return undefined;
    const key = checked.isExpired ? this.#options.directory.stored(identity.hash) : await this.#keyOf(state.issuer, identity);
    if (key === undefined || key === 'unavailable') return key;
    const caller = withLimits(key, state.issuer, checked.endsAtMs);
    if (!checked.isExpired)
      remember(this.#verified, verifiedMax, digest, { state, identity, endsAtMs: checked.endsAtMs, generation, key, caller });
    return key.disabledAtMs === undefined ? caller : undefined;
  }

  async #keyOf(issuer: TokenIssuer, identity: TokenIdentity): Promise<ApiKey | undefined | 'unavailable'> {
    const known = this.#options.directory.stored(identity.hash);
    if (known !== undefined) return known;
    if (this.#options.directory.countStored(hashPrefixOf(issuer)) >= issuer.keysMax) {
      this.#options.logger.warn({ issuer: issuer.name }, 'token refused because its issuer has too many keys');
      return undefined;
    }
    try {
      const parts = { ...this.#options, nowMs: this.#options.clock.nowMs() };
      const key = await this.#options.directory.learn(() => waitFor(ensureTokenKey(parts, issuer, identity), storeTimeoutMs));
      if (key === undefined)
        this.#options.logger.warn({ issuer: issuer.name, user: identity.userName }, 'token refused because the name of its key is in use');
      return key;
    } catch (error) {
      this.#options.logger.warn({ issuer: issuer.name, err: error }, 'creating the key of a token failed');
      return 'unavailable';
    }
  }

  async #resolveOnce(token: string, digest: string, signal: AbortSignal): Promise<ApiKey | undefined | 'unavailable'> {
    if (this.#resolving.size >= verificationsMax) return 'unavailable';
    const work = this.#verify(token, digest, signal);
    this.#resolving.set(digest, work);
    try {
      const found = await work;
      if (found === undefined) remember(this.#refusedUntilMs, refusedMax, digest, this.#options.clock.monotonicMs() + refusedMs);
      return found;
    } finally {
      this.#resolving.delete(digest);
    }
  }
}

const digestOf = (token: string): string => hash('sha256', token, 'base64url');

function remember<Value>(map: Map<string, Value>, most: number, name: string, value: Value): void {
  const [oldest] = map.keys();
  if (map.size >= most && oldest !== undefined) map.delete(oldest);
  map.set(name, value);
}

/** The members that are read before the signature is checked. They only choose the issuer and the key. */
function parseToken(token: string): { issuer: string; algorithm: string; kid: string | undefined } | undefined {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    const { iss } = decodeJwt(token);
    return typeof iss === 'string' && typeof alg === 'string' ? { issuer: iss, algorithm: alg, kid } : undefined;
  } catch {
    // Text that cannot be parsed is not a token.
    return undefined;
  }
}

type Checked = { readonly claims: Claims; readonly endsAtMs: number; readonly isExpired: boolean };

/** Verifies signature, issuer, audience and times. Undefined if anything but the expiry is wrong. */
async function checkToken(
  token: string,
  { issuer, audiences, algorithms }: TokenIssuer,
  keys: Parameters<typeof jwtVerify>[1],
  nowMs: number,
): Promise<Checked | undefined> {
  const rules = {
    issuer,
    audience: [...audiences],
    algorithms: [...algorithms],
    clockTolerance: tokenLeewaySeconds,
    requiredClaims: ['exp'],
    currentDate: new Date(nowMs),
  };
  try {
    const { payload } = await jwtVerify(token, keys, rules);
    return { claims: payload, endsAtMs: endOf(payload.exp), isExpired: false };
  } catch (error) {
    // The signature, the issuer and the audience are checked before the times.
    if (error instanceof errors.JWTExpired && error.claim === 'exp')
      return { claims: error.payload, endsAtMs: endOf(error.payload.exp), isExpired: true };
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** A day that no clock reaches would be no date. */
const latestMs = 8_640_000_000_000_000;

function endOf(exp: number | undefined): number {
  return Math.min(((exp ?? 0) + tokenLeewaySeconds) * 1000, latestMs);
}

/** The key with the limits of its issuer where it has none of its own. It ends with the token at the latest. */
function withLimits(key: ApiKey, { limits }: TokenIssuer, endsAtMs: number): ApiKey {
  return { ...key, limits: { ...limits, ...key.limits, expiresAtMs: Math.min(endsAtMs, key.limits?.expiresAtMs ?? Infinity) } };
}
