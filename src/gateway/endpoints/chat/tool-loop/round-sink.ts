import { EventEmitter } from 'node:events';

import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { ReplySink } from '../../../replies/reply-sink.ts';

/** Receives the reply of a round. */
export type RoundReader = {
  readonly head: (headers: Readonly<Record<string, string>>) => void;
  /** False when the reader wants no more for now: `resume` follows. */
  readonly events: (events: readonly InferenceEvent[]) => boolean;
  /** The reply is over. @param error why, where it did not end well */
  readonly ended: (error?: GatewayError) => void;
  /** The exchange gave the reply up by itself. */
  readonly givenUp: () => void;
};

/** Takes the reply of one round of the loop. */
export class RoundSink implements ReplySink<InferenceEvent> {
  hasBegun = false;
  isGone = false;
  isDelivered = false;
  readonly #reader: RoundReader;
  readonly #set: Record<string, string> = {};
  readonly #emitter = new EventEmitter<{ room: []; close: [] }>();

  constructor(reader: RoundReader) {
    this.#reader = reader;
  }

  setHeader(name: string, value: string): void {
    this.#set[name] = value;
  }

  begin(headers: Readonly<Record<string, string>>): void {
    this.hasBegun = true;
    this.#reader.head({ ...this.#set, ...headers });
  }

  flush(): void {}

  take(events: readonly InferenceEvent[]): boolean {
    return this.#reader.events(events);
  }

  sizeOf(event: InferenceEvent): number {
    return event.type === 'delta' ? event.text.length : 1;
  }

  /** Its reader keeps its own client awake. */
  beat(): void {}

  end(): void {
    this.#end();
  }

  takeWhole(headers: Readonly<Record<string, string>>, events: readonly InferenceEvent[]): void {
    if (this.isGone) return;
    if (!this.hasBegun) this.begin(headers);
    this.take(events);
    this.#end();
  }

  /** A round is always translated. */
  answer(status: number): void {
    this.#end(new GatewayError('internal_error', `a round of tools was answered with status ${status}; this is a bug of the gateway`));
  }

  fail(error: GatewayError): void {
    if (!this.isGone) this.#end(error);
  }

  #end(error?: GatewayError): void {
    if (this.isDelivered) return;
    this.isDelivered = true;
    this.#reader.ended(error);
    this.#emitter.emit('close');
  }

  /** The reader is ready for more. */
  resume(): void {
    this.#emitter.emit('room');
  }

  destroy(): void {
    if (this.isGone) return;
    this.leave();
    this.#reader.givenUp();
  }

  /** The reader has gone. */
  leave(): void {
    if (this.isGone || this.isDelivered) return;
    this.isGone = true;
    this.#emitter.emit('close');
  }

  onRoom(listener: () => void): void {
    this.#emitter.once('room', listener);
  }

  onClose(listener: () => void): void {
    this.#emitter.on('close', listener);
  }

  /** There is no connection that could stall. */
  limitReader(): void {}
}
