import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import { createClaim, type IdempotencyClaim } from './idempotency-claim.ts';
import { conflict, inProgress, spent, unavailable } from './idempotency-errors.ts';
import type { IdempotencySettings } from './idempotency-settings.ts';
import type { IdempotencyStore, KeyHolder, KeyName } from './idempotency-store.ts';
import { startKeyUpkeep } from './idempotency-upkeep.ts';
import { type StoredReply, openReply } from './stored-reply.ts';
import { LocalKeys } from './local-keys.ts';
import { ReplyBudget } from './reply-budget.ts';
import { createReplySeal, type ReplySeal } from './reply-seal.ts';

/** A request with an idempotency key. */
export type NamedRequest = {
  readonly keyId: string;
  /** The client's idempotency key. */
  readonly name: string;
  /** A digest that distinguishes it from other requests. */
  readonly digest: Uint8Array;
  /** The id of its call. */
  readonly requestId: string;
  /** Aborts when its client disconnects. */
  readonly signal: AbortSignal;
};

type BeginResult = { readonly claim: IdempotencyClaim } | { readonly kept: StoredReply };

export type Idempotency = {
  /**
   * Admits a request with a new key, or returns its stored answer. Waits for a while if the first request is running.
   * @throws GatewayError `idempotency_conflict`, `idempotency_in_progress`, `idempotency_spent` (409) or
   * `idempotency_unavailable` (503)
   */
  readonly begin: (request: NamedRequest) => Promise<BeginResult>;
  /** Resolves when no request is running, or after the time limit. */
  readonly settled: (withinMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type IdempotencyOptions = {
  readonly store: IdempotencyStore;
  /** The operator's 32 bytes. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: () => IdempotencySettings;
  /** A name that no other process has. */
  readonly owner: string;
  /**
   * Processes whose name has this prefix are dead, except this one: their keys are spent at once. Undefined if that is
   * unknown.
   */
  readonly deadPrefix?: string;
};

/** How long other processes assume that this one is running after a renewal. */
const leaseMs = 30_000;
/** How often a key of another process is checked. */
const pollEveryMs = 250;
const hourMs = 3_600_000;

/** Makes requests safe to repeat: requests of one API key with the same idempotency key are executed once. */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const keys = new LocalKeys();
  const seal = createReplySeal(options.key);
  const budget = new ReplyBudget(options.settings);
  const upkeep = startKeyUpkeep({ ...options, deadPrefix: options.deadPrefix, leaseMs, budget });
  const begin = (request: NamedRequest): Promise<BeginResult> => {
    const name = { keyId: request.keyId, key: seal.nameOf(request.keyId, request.name) };
    const bodyHash = seal.hashOf(request.keyId, request.digest);
    const endsMs = options.clock.monotonicMs() + options.settings().waitMs;
    return new KeyedBeginning({ ...options, keys, seal, upkeep, budget }, { ...request, ...name, bodyHash, endsMs }).run();
  };
  return {
    begin,
    settled: (withinMs) => waitFor(keys.allLeft(), withinMs).catch(() => {}),
    close: upkeep.close,
  };
}

type Parts = IdempotencyOptions & {
  readonly keys: LocalKeys;
  readonly seal: ReplySeal;
  readonly upkeep: ReturnType<typeof startKeyUpkeep>;
  readonly budget: ReplyBudget;
};

type KeyedRequest = NamedRequest & KeyName & { readonly bodyHash: string; readonly endsMs: number };

/** One request until it is admitted or answered. */
class KeyedBeginning {
  readonly #parts: Parts;
  readonly #request: KeyedRequest;

  constructor(parts: Parts, request: KeyedRequest) {
    this.#parts = parts;
    this.#request = request;
  }

  async run(): Promise<BeginResult> {
    const { keys } = this.#parts;
    const { bodyHash, signal } = this.#request;
    for (;;) {
      signal.throwIfAborted();
      const running = keys.holder(this.#request);
      if (running === undefined) return await this.#beginLocally();
      if (running.bodyHash !== bodyHash) throw conflict();
      await waitFor(running.ended, this.#leftMs(), signal).catch(() => {});
      // The key may have been released at the same moment.
      if (this.#leftMs() <= 0 && keys.holder(this.#request) !== undefined) throw inProgress();
    }
  }

  /** Milliseconds that the request may still wait. */
  #leftMs(): number {
    return Math.max(0, this.#request.endsMs - this.#parts.clock.monotonicMs());
  }

  /** Queries the store on behalf of all requests of this process with the same key. */
  async #beginLocally(): Promise<BeginResult> {
    const { keys } = this.#parts;
    keys.take(this.#request, this.#request.bodyHash);
    let result: BeginResult | undefined;
    try {
      result = await this.#beginInStore();
      return result;
    } finally {
      // A claim is removed when it ends.
      if (result === undefined || 'kept' in result) keys.leave(this.#request);
    }
  }

  async #beginInStore(): Promise<BeginResult> {
    const { signal } = this.#request;
    for (;;) {
      const holder = await this.#claim();
      if (holder === undefined) return { claim: this.#hold() };
      const reply = this.#read(holder);
      if (reply !== undefined) return { kept: reply };
      const leftMs = this.#leftMs();
      if (leftMs <= 0) throw inProgress();
      await waitFor(new Promise<never>(() => {}), Math.min(pollEveryMs, leftMs), signal).catch(() => {});
      signal.throwIfAborted();
    }
  }

  async #claim(): Promise<KeyHolder | undefined> {
    const { store, clock, owner, settings } = this.#parts;
    const { keyId, key, bodyHash, requestId } = this.#request;
    const nowMs = clock.nowMs();
    const expiresAtMs = nowMs + settings().retentionHours * hourMs;
    try {
      return await store.claimIdempotencyKey({
        keyId,
        key,
        bodyHash,
        requestId,
        owner,
        createdAtMs: nowMs,
        expiresAtMs,
        leaseUntilMs: nowMs + leaseMs,
      });
    } catch (error) {
      // The store may have recorded the claim although the call failed.
      this.#parts.upkeep.retryLater(() => store.releaseIdempotencyKey({ keyId, key, requestId }));
      throw unavailable(error);
    }
  }

  /** The stored answer; undefined while it may still come. @throws GatewayError if there will be none */
  #read(holder: KeyHolder): StoredReply | undefined {
    const { clock, store, seal } = this.#parts;
    const { keyId, key, bodyHash } = this.#request;
    if (holder.bodyHash !== bodyHash) throw conflict();
    if (holder.state === 'spent') throw spent(holder.requestId);
    if (holder.state === 'kept') return openReply({ store, seal, holder: { ...holder, keyId, key } });
    if (holder.leaseUntilMs > clock.nowMs()) return undefined;
    // Its process has died: whether it called an upstream is unknown.
    throw spent(holder.requestId);
  }

  #hold(): IdempotencyClaim {
    const { store, seal, settings, upkeep, keys, logger, budget } = this.#parts;
    const { keyId, key, requestId } = this.#request;
    upkeep.keyClaimed();
    return createClaim({
      store,
      seal,
      holder: { keyId, key, requestId },
      bytesMax: settings().replyBytesMax,
      budget,
      onEnded: (unwritten) => {
        if (unwritten !== undefined) {
          logger.warn({ callId: requestId }, 'storing an idempotent result deferred');
          upkeep.retryLater(unwritten);
        }
        upkeep.keyReleased();
        keys.leave(this.#request);
      },
    });
  }
}
