import type { Clock } from '../../platform/clock.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import { waitFor } from '../../platform/wait-for.ts';
import { CredentialError, type CredentialSource, type SourceState, type SourceWatch } from './credential-source.ts';

/** A credential as its service returned it. */
export type FetchedCredential<Credential> = {
  readonly credential: Credential;
  /** Absent: it does not end by itself. It is fetched again after `recheckMs`. */
  readonly expiresAtMs?: number;
  /** How soon this one is fetched again if it does not end. Default: the `recheckMs` of the source. */
  readonly recheckMs?: number;
  readonly identity?: string;
  readonly origin?: string;
};

export type RefreshOptions<Credential> = {
  readonly fetch: (signal: AbortSignal) => Promise<FetchedCredential<Credential>>;
  readonly clock: Clock;
  /** The longest that one fetch may take. Default: 10 seconds. */
  readonly timeoutMs?: number;
  /** How long before its end a credential is renewed, at most a quarter of its life. Default: 5 minutes. */
  readonly refreshBeforeMs?: number;
  /** How often a credential without an end is fetched again. Default: a minute. */
  readonly recheckMs?: number;
  /** The pause after a failure, which doubles with each further one. Default: a second, at most 30. */
  readonly pauseMs?: { readonly first: number; readonly most: number };
  /**
   * How long a new credential is not fetched again although it is refused. Default: a second, because services issue
   * one that is valid. 0 for secrets, which may be replaced at any time.
   */
  readonly trustedMs?: number;
  /** Default: failures are not reported. */
  readonly watch?: SourceWatch | undefined;
};

/** The pause before the next fetch if a refused credential comes back. It doubles each time. */
const sameAgainMs = { first: 1_000, most: 60_000 };

/** The times of a held credential are on the monotonic clock, so that a jump of the time of day ends none. */
type Held<Credential> = {
  readonly fetched: FetchedCredential<Credential>;
  readonly fetchedAtMs: number;
  readonly fetchedMs: number;
  readonly refreshMs: number;
  readonly endsMs: number;
  isRefused: boolean;
};

/**
 * Makes a source of a function that fetches a credential. One fetch runs at a time. A valid credential is used while
 * its renewal runs or fails; failures are repeated after growing pauses. Nothing is fetched while nobody asks.
 */
export function refreshCredentials<Credential>(options: RefreshOptions<Credential>): CredentialSource<Credential> {
  return new RefreshedSource(options).asSource();
}

class RefreshedSource<Credential> {
  readonly #options: RefreshOptions<Credential>;
  readonly #closing = new AbortController();
  #held: Held<Credential> | undefined;
  #running: Promise<Credential> | undefined;
  #failure: (NonNullable<SourceState['failure']> & { readonly error: CredentialError; readonly isUsable: boolean }) | undefined;
  /** How often in a row the same credential came back after its refusal. */
  #refusedInVain = 0;
  /** Whether the credential was refused after the running fetch had begun, which may then return it. */
  #refusedMeanwhile = false;
  /** No fetch begins before this time. */
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: RefreshOptions<Credential>) {
    this.#options = options;
  }

  asSource(): CredentialSource<Credential> {
    return {
      current: (signal) => this.#current(signal),
      refused: (credential) => this.#refuse(credential),
      describe: () => this.#describe(),
      close: async () => {
        this.#closing.abort(new CredentialError('the source of credentials was closed'));
        await this.#running?.catch(() => {});
      },
    };
  }

  #current(signal: AbortSignal): Credential | Promise<Credential> {
    const nowMs = this.#options.clock.monotonicMs();
    const held = this.#held;
    if (held !== undefined && nowMs < held.refreshMs && !held.isRefused) return held.fetched.credential;
    const isUsable = held !== undefined && nowMs < held.endsMs && !held.isRefused;
    if (nowMs >= this.#pausedUntilMs) this.#running ??= this.#start(nowMs);
    if (isUsable) return held.fetched.credential;
    if (this.#running !== undefined) return untilAborted(this.#running, signal);
    // A refused credential is better than none: its refusal may have had another reason.
    if (held !== undefined && nowMs < held.endsMs) return held.fetched.credential;
    return Promise.reject(this.#failure?.error ?? new CredentialError('no credential is at hand'));
  }

  #refuse(credential: Credential): void {
    const held = this.#held;
    if (held === undefined || held.fetched.credential !== credential || held.isRefused) return;
    const { clock, trustedMs = 1_000 } = this.#options;
    const nowMs = clock.monotonicMs();
    const pauseMs = this.#refusedInVain === 0 ? trustedMs : growing(sameAgainMs, this.#refusedInVain - 1);
    if (nowMs - held.fetchedMs < pauseMs) return;
    held.isRefused = true;
    this.#refusedMeanwhile = this.#running !== undefined;
    if (nowMs >= this.#pausedUntilMs) this.#running ??= this.#start(nowMs);
  }

  #start(nowMs: number): Promise<Credential> {
    const running = this.#fetch().then(
      (fetched) => this.#take(fetched),
      (error: unknown) => this.#fail(error, nowMs),
    );
    const settle = (): void => void (this.#running = undefined);
    void running.then(settle, settle);
    return running;
  }

  async #fetch(): Promise<FetchedCredential<Credential>> {
    const { fetch, timeoutMs = 10_000 } = this.#options;
    const once = (): Promise<FetchedCredential<Credential>> => {
      const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]);
      return waitFor(begin(fetch, signal), timeoutMs, this.#closing.signal);
    };
    this.#refusedMeanwhile = false;
    const fetched = await once();
    if (!this.#isOutdated(fetched)) return fetched;
    this.#refusedMeanwhile = false;
    return await once();
  }

  #isOutdated({ credential }: FetchedCredential<Credential>): boolean {
    return this.#refusedMeanwhile && credential === this.#held?.fetched.credential;
  }

  #take(fetched: FetchedCredential<Credential>): Credential {
    const { clock, refreshBeforeMs = 300_000, recheckMs = 60_000 } = this.#options;
    const nowMs = clock.monotonicMs();
    const fetchedAtMs = clock.nowMs();
    const { expiresAtMs } = fetched;
    const lifeMs = expiresAtMs === undefined ? Number.POSITIVE_INFINITY : expiresAtMs - fetchedAtMs;
    if (lifeMs <= 0) {
      const ended = new Date(expiresAtMs ?? 0).toISOString();
      const error = new CredentialError(
        `the credential had ended when it came, at ${ended}; the clock of this machine says ${new Date(fetchedAtMs).toISOString()}`,
      );
      return this.#fail(error, nowMs);
    }
    const refreshMs = expiresAtMs === undefined ? (fetched.recheckMs ?? recheckMs) : lifeMs - Math.min(refreshBeforeMs, lifeMs / 4);
    const held = { fetched, fetchedAtMs, fetchedMs: nowMs, refreshMs: nowMs + refreshMs, endsMs: nowMs + lifeMs, isRefused: false };
    const before = this.#held;
    // Only secrets are the same after a fetch; keys and tokens are new objects.
    if (before?.fetched.credential !== fetched.credential) this.#refusedInVain = 0;
    else if (before.isRefused) this.#refusedInVain += 1;
    this.#held = held;
    if (this.#failure !== undefined) this.#options.watch?.recovered();
    this.#failure = undefined;
    this.#pausedUntilMs = Number.NEGATIVE_INFINITY;
    return fetched.credential;
  }

  #fail(cause: unknown, startedMs: number): never {
    const { clock, pauseMs = { first: 1_000, most: 30_000 } } = this.#options;
    const error = cause instanceof CredentialError ? cause : new CredentialError(reasonOf(cause), { cause });
    const last = this.#failure;
    const [atMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()];
    const inARow = (last?.inARow ?? 0) + 1;
    const isUsable = this.#held !== undefined && monotonicMs < this.#held.endsMs;
    this.#failure = { atMs, sinceMs: last?.sinceMs ?? atMs, reason: error.message, inARow, error, isUsable };
    this.#pausedUntilMs = Math.max(startedMs, monotonicMs) + growing(pauseMs, inARow - 1);
    const isNew = last?.reason !== error.message || last.isUsable !== isUsable;
    if (isNew && !this.#closing.signal.aborted) this.#options.watch?.failed(error.message, this.#describe());
    throw error;
  }

  #describe(): SourceState {
    const { fetched, fetchedAtMs } = this.#held ?? {};
    const { origin, identity, expiresAtMs } = fetched ?? {};
    return {
      ...(origin !== undefined && { origin }),
      ...(identity !== undefined && { identity }),
      ...(fetchedAtMs !== undefined && { fetchedAtMs }),
      ...(expiresAtMs !== undefined && { expiresAtMs }),
      ...(this.#failure !== undefined && {
        failure: withoutError(this.#failure),
      }),
    };
  }
}

function growing({ first, most }: { readonly first: number; readonly most: number }, times: number): number {
  return Math.min(most, first * 2 ** Math.min(times, 20));
}

function withoutError({ atMs, sinceMs, reason, inARow }: NonNullable<SourceState['failure']>): NonNullable<SourceState['failure']> {
  return { atMs, sinceMs, reason, inARow };
}

/** A fetch that throws at once fails like one that throws later. */
async function begin<Fetched>(fetch: (signal: AbortSignal) => Promise<Fetched>, signal: AbortSignal): Promise<Fetched> {
  return fetch(signal);
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : 'the credential could not be fetched';
}
