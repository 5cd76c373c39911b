import { hash } from 'node:crypto';

import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { AccountsStore } from '../accounts-store.ts';
import type { RandomBytes } from '../api-key-format.ts';
import type { ApiKey } from '../api-key.ts';
import type { KeyDirectory } from '../key-directory.ts';
import { createIssuerKeys, type FetchDocument, type IssuerKeys } from './issuer-keys.ts';
import { checkToken, parseToken } from './check-token.ts';
import { ensureTokenKey, hashPrefixOf, identityOf, type TokenIdentity } from './token-identity.ts';
import { isRefused, refuse, type TokenRefusal } from './token-refusal.ts';
import { type TokenIssuer, tokenCharactersMax } from './token-issuer.ts';

/** Finds the callers of signed tokens. Both methods behave as those of KeyDirectory. */
export type TokenCallers = {
  /** The caller of a token that was verified before. Costs one hash and two look-ups. */
  readonly find: (token: string) => ApiKey | undefined;
  /**
   * Verifies a token, and creates its user and key if they do not exist. `unavailable`: the keys of the issuer or the
   * store cannot be read, or too many tokens are being verified. A token that is expired, but otherwise genuine and of
   * an existing key, is a caller that has expired. Undefined: no issuer is configured.
   */
  readonly resolve: (token: string, signal: AbortSignal) => Promise<Resolved>;
};

type Resolved = ApiKey | TokenRefusal | undefined | 'unavailable';

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
  readonly #refused = new Map<string, { readonly untilMs: number; readonly refusal: TokenRefusal }>();
  readonly #resolving = new Map<string, Promise<Resolved>>();

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

  async resolve(token: string, signal: AbortSignal): Promise<Resolved> {
    signal.throwIfAborted();
    if (this.#issuers().size === 0) return undefined;
    if (token.length > tokenCharactersMax) return refuse(`it has more than ${tokenCharactersMax} characters`);
    const digest = digestOf(token);
    const before = this.#refused.get(digest);
    if (before !== undefined && this.#options.clock.monotonicMs() < before.untilMs) return before.refusal;
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
      this.#refused.clear();
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

  async #verify(token: string, digest: string, signal: AbortSignal): Promise<Exclude<Resolved, undefined>> {
    const parsed = parseToken(token);
    if (parsed === undefined) return refuse('it cannot be read');
    const state = this.#issuers().get(parsed.issuer);
    if (state === undefined) return refuse('its issuer (iss) is not configured here');
    const { issuer } = state;
    if (!issuer.algorithms.some((algorithm) => algorithm === parsed.algorithm))
      return refuse(`its algorithm (alg) must be ${issuer.algorithms.join(' or ')}`);
    const keys = await state.keys.forToken(parsed.kid, signal);
    if (keys === 'unavailable') return keys;
    const generation = state.keys.generation();
    const checked = await checkToken(token, issuer, keys.resolve, this.#options.clock.nowMs());
    if (isRefused(checked)) return checked;
    const identity = identityOf(issuer, checked.claims);
    if (isRefused(identity)) return identity;
    const key = checked.isExpired ? this.#options.directory.stored(identity.hash) : await this.#keyOf(issuer, identity);
    if (key === undefined) return refuse(`it expired at ${new Date(checked.endsAtMs).toISOString()}`);
    if (key === 'unavailable' || isRefused(key)) return key;
    const caller = withLimits(key, issuer, checked.endsAtMs);
    if (!checked.isExpired)
      remember(this.#verified, verifiedMax, digest, { state, identity, endsAtMs: checked.endsAtMs, generation, key, caller });
    return key.disabledAtMs === undefined ? caller : refuse(`its key ${key.userName}/${key.name} is disabled`);
  }

  async #keyOf(issuer: TokenIssuer, identity: TokenIdentity): Promise<ApiKey | TokenRefusal | 'unavailable'> {
    const known = this.#options.directory.stored(identity.hash);
    if (known !== undefined) return known;
    if (this.#options.directory.countStored(hashPrefixOf(issuer)) >= issuer.keysMax) {
      this.#options.logger.warn({ issuer: issuer.name }, 'token refused because its issuer has too many keys');
      return refuse(`its issuer has made ${issuer.keysMax} keys, and may make no more`);
    }
    try {
      const parts = { ...this.#options, nowMs: this.#options.clock.nowMs() };
      const key = await this.#options.directory.learn(() => waitFor(ensureTokenKey(parts, issuer, identity), storeTimeoutMs));
      if (key !== undefined) return key;
      this.#options.logger.warn({ issuer: issuer.name, user: identity.userName }, 'token refused because the name of its key is in use');
      return refuse(`its name ${identity.userName}/${identity.keyName} is that of a key with a secret`);
    } catch (error) {
      this.#options.logger.warn({ issuer: issuer.name, err: error }, 'creating the key of a token failed');
      return 'unavailable';
    }
  }

  async #resolveOnce(token: string, digest: string, signal: AbortSignal): Promise<Resolved> {
    if (this.#resolving.size >= verificationsMax) return 'unavailable';
    const work = this.#verify(token, digest, signal);
    this.#resolving.set(digest, work);
    try {
      const found = await work;
      if (isRefused(found))
        remember(this.#refused, refusedMax, digest, { untilMs: this.#options.clock.monotonicMs() + refusedMs, refusal: found });
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

/** The key with the limits of its issuer where it has none of its own. It ends with the token at the latest. */
function withLimits(key: ApiKey, { limits }: TokenIssuer, endsAtMs: number): ApiKey {
  return { ...key, limits: { ...limits, ...key.limits, expiresAtMs: Math.min(endsAtMs, key.limits?.expiresAtMs ?? Infinity) } };
}
