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

/** A request that its client has given a name. */
export type NamedRequest = {
  readonly keyId: string;
  /** What the client calls it. */
  readonly name: string;
  /** What tells it from other requests. */
  readonly digest: Uint8Array;
  /** The id of the call that it would be. */
  readonly requestId: string;
  /** Aborts when its client has left. */
  readonly signal: AbortSignal;
};

type Begun = { readonly claim: IdempotencyClaim } | { readonly kept: StoredReply };

export type Idempotency = {
  /**
   * Lets a request through that nobody has made before, or returns the answer that it was given. Waits for a while when it is just being answered.
   * @throws GatewayError `idempotency_conflict`, `idempotency_in_progress`, `idempotency_spent` (409) or `idempotency_unavailable` (503)
   */
  readonly begin: (request: NamedRequest) => Promise<Begun>;
  /** Resolves when no request is under way, or the time is over. */
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
  /** Processes whose name begins so are dead, but for this one: what they held is answered as spent at once. Undefined where nobody knows that of any. */
  readonly deadPrefix?: string;
};

/** How long others take it that a process lives after it has said so. */
const leaseMs = 30_000;
/** How often a key that another process holds is looked at. */
const lookEveryMs = 250;
const hourMs = 3_600_000;

/** Makes requests safe to repeat: what has the same name, of the same API key, is done once. */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const keys = new LocalKeys();
  const seal = createReplySeal(options.key);
  const budget = new ReplyBudget(options.settings);
  const upkeep = startKeyUpkeep({ ...options, deadPrefix: options.deadPrefix, leaseMs, budget });
  const begin = (request: NamedRequest): Promise<Begun> => {
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

type Asked = NamedRequest & KeyName & { readonly bodyHash: string; readonly endsMs: number };

/** One request on its way to its turn, or to the answer that is there already. */
class KeyedBeginning {
  readonly #parts: Parts;
  readonly #asked: Asked;

  constructor(parts: Parts, asked: Asked) {
    this.#parts = parts;
    this.#asked = asked;
  }

  async run(): Promise<Begun> {
    const { keys } = this.#parts;
    const { bodyHash, signal } = this.#asked;
    for (;;) {
      signal.throwIfAborted();
      const running = keys.holder(this.#asked);
      if (running === undefined) return await this.#lookHere();
      if (running.bodyHash !== bodyHash) throw conflict();
      await waitFor(running.ended, this.#leftMs(), signal).catch(() => {});
      // It may have ended with the time.
      if (this.#leftMs() <= 0 && keys.holder(this.#asked) !== undefined) throw inProgress();
    }
  }

  /** Milliseconds that it may still wait. */
  #leftMs(): number {
    return Math.max(0, this.#asked.endsMs - this.#parts.clock.monotonicMs());
  }

  /** Asks the store, for all requests of this process that have the same key. */
  async #lookHere(): Promise<Begun> {
    const { keys } = this.#parts;
    keys.take(this.#asked, this.#asked.bodyHash);
    let begun: Begun | undefined;
    try {
      begun = await this.#look();
      return begun;
    } finally {
      // A claim leaves when it ends.
      if (begun === undefined || 'kept' in begun) keys.leave(this.#asked);
    }
  }

  async #look(): Promise<Begun> {
    const { signal } = this.#asked;
    for (;;) {
      const holder = await this.#claim();
      if (holder === undefined) return { claim: this.#hold() };
      const reply = this.#read(holder);
      if (reply !== undefined) return { kept: reply };
      const leftMs = this.#leftMs();
      if (leftMs <= 0) throw inProgress();
      await waitFor(new Promise<never>(() => {}), Math.min(lookEveryMs, leftMs), signal).catch(() => {});
      signal.throwIfAborted();
    }
  }

  async #claim(): Promise<KeyHolder | undefined> {
    const { store, clock, owner, settings } = this.#parts;
    const { keyId, key, bodyHash, requestId } = this.#asked;
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
      // It may have been taken all the same.
      this.#parts.upkeep.tellLater(() => store.releaseIdempotencyKey({ keyId, key, requestId }));
      throw unavailable(error);
    }
  }

  /** What is given again; undefined while the answer may still come. @throws GatewayError where there is none, and will be none */
  #read(holder: KeyHolder): StoredReply | undefined {
    const { clock, store, seal } = this.#parts;
    const { keyId, key, bodyHash } = this.#asked;
    if (holder.bodyHash !== bodyHash) throw conflict();
    if (holder.state === 'spent') throw spent(holder.requestId);
    if (holder.state === 'kept') return openReply({ store, seal, holder: { ...holder, keyId, key } });
    if (holder.leaseUntilMs > clock.nowMs()) return undefined;
    // Its process has died over it: whether an upstream was asked is not known here.
    throw spent(holder.requestId);
  }

  #hold(): IdempotencyClaim {
    const { store, seal, settings, upkeep, keys, logger, budget } = this.#parts;
    const { keyId, key, requestId } = this.#asked;
    upkeep.took();
    return createClaim({
      store,
      seal,
      holder: { keyId, key, requestId },
      bytesMax: settings().replyBytesMax,
      budget,
      onEnded: (unwritten) => {
        if (unwritten !== undefined) {
          logger.warn({ callId: requestId }, 'storing an idempotent result deferred');
          upkeep.tellLater(unwritten);
        }
        upkeep.gaveBack();
        keys.leave(this.#asked);
      },
    });
  }
}
