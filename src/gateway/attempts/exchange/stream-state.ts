import type { Frame } from '../../../platform/frames.ts';

/**
 * The state of a stream:
 * - `opening`: the client has received heartbeats at most, and another attempt can answer instead. Ends with the first
 * content (`passing`), after the hold time (`opened`), or with a failure (`offered`).
 * - `opened`: the client has the head and the opening.
 * - `passing`: pieces of the reply itself go to the client.
 * - `waiting`: the store extends the hold, or a large frame waits for its turn. Later frames and the
 * end of the stream wait; then the stream returns to its state `before`, or is cut.
 * - `offered`: the call was offered to another attempt, which settles it.
 * - `draining`: the client has disconnected, and the stream is read for its usage.
 * - `settled`: the books are closed. Later pieces are still passed on.
 * - `over`: the books are closed, and there is no client.
 */
export type StreamState = { readonly name: 'opening' | 'opened' | 'passing' | 'draining' | 'offered' | 'settled' | 'over' } | WaitingStream;

export type WaitingStream = {
  readonly name: 'waiting';
  before: 'opening' | 'opened' | 'passing' | 'draining';
  readonly frames: Frame[];
  /** The first end of the stream in the meantime. */
  ending: (() => void) | undefined;
};
