import type { DisconnectPolicy } from '../../../billing/ledger/call-entry.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { Departure } from './departure.ts';
import type { DrainSlots } from './drain-slots.ts';

export type WatchedClient = {
  readonly response: ClientReply;
  readonly policy: DisconnectPolicy;
  /** Where a reply is read on for which nobody waits; absent where there is no place for any. */
  readonly slots: DrainSlots | undefined;
  /** Milliseconds since the call was accepted. */
  readonly elapsedMs: () => number;
  /** Stops the upstream. May be called again. */
  readonly stop: () => void;
};

/** Watches the client of a call that no exchange makes, and does what its key wants when it leaves. */
export class ClientWatch {
  readonly #client: WatchedClient;
  #isAsking = false;
  #deliveredCharacters = 0;
  #left: { readonly departure: Departure; readonly afterMs: number } | undefined;
  #leaveDrain: (() => void) | undefined;
  #onLeft: (() => void) | undefined;

  constructor(client: WatchedClient) {
    this.#client = client;
    const { response } = client;
    response.once('close', () => this.#close());
    if (response.destroyed) this.#close();
  }

  /** How the client left; undefined while it is there, or when it has all of its reply. */
  get left(): { readonly departure: Departure; readonly afterMs: number } | undefined {
    return this.#left;
  }

  /** An upstream is about to be asked: before, there is nothing that could be read on. */
  asks(): void {
    this.#isAsking = true;
  }

  /** So many more characters of content have been handed to the client. */
  delivered(characters: number): void {
    if (this.#left === undefined) this.#deliveredCharacters += characters;
  }

  /** Who is told that the client has left, after what its key wants was done; one at a time. */
  onLeft(listener: (() => void) | undefined): void {
    this.#onLeft = listener;
  }

  /** The call is over. */
  end(): void {
    this.#isAsking = false;
    this.#leaveDrain?.();
  }

  #close(): void {
    const { response, policy, slots, elapsedMs, stop } = this.#client;
    if (response.writableFinished || this.#left !== undefined) return;
    this.#left = { departure: { policy, deliveredCharacters: this.#deliveredCharacters }, afterMs: Math.round(elapsedMs()) };
    if (policy === 'drain' && this.#isAsking) this.#leaveDrain = slots?.take(stop);
    if (this.#leaveDrain === undefined) stop();
    this.#onLeft?.();
  }
}
