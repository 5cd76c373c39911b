import type { StreamPosition } from '../../dialects/chat-codec.ts';
import type { DialectEvents } from '../../dialects/chat-dialect.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { StreamEvent } from '../../platform/frames.ts';
import type { ClientReply } from './client-reply.ts';
import { type AnsweredCall, ConnectionSink } from './connection-sink.ts';
import { ofEvents } from './event-sink.ts';

export type MessagedCall = AnsweredCall & {
  readonly takeEvents: NonNullable<ClientReply['takeEvents']>;
  readonly events: Pick<DialectEvents, 'describeError'>;
};

/**
 * The sink of a stream whose reader takes events one by one and needs no heartbeats. Answers that are not streams are
 * bytes here too.
 */
export class MessageSink extends ConnectionSink<StreamEvent> {
  readonly #call: MessagedCall;

  constructor(call: MessagedCall) {
    super(call, ofEvents);
    this.#call = call;
  }

  override take(events: readonly StreamEvent[]): boolean {
    return this.isGone || this.#call.takeEvents(events);
  }

  override beat(): void {}

  override takeWhole(headers: Readonly<Record<string, string>>, events: readonly StreamEvent[]): void {
    if (this.isGone) return;
    if (!this.hasBegun) this.begin(headers);
    this.take(events);
    this.end();
  }

  override fail(error: GatewayError, position: StreamPosition = { framesSent: 0 }): void {
    if (!this.hasBegun) return super.fail(error, position);
    this.take(this.#call.events.describeError(error, position));
    this.end();
  }
}
