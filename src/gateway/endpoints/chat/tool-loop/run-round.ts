import { EventEmitter } from 'node:events';

import { ChatJob } from '../chat-job.ts';
import { type PreparedCall, toWireRequest } from '../incoming-call.ts';
import type { CallEntry } from '../../../../billing/ledger/call-entry.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';
import type { ChatServices } from '../chat-services.ts';
import type { TakenLimits } from '../../../admission/limits/reserve-call.ts';
import { CallAttempts } from '../../../attempts/call-attempts.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { neutralForm } from '../reply-form.ts';
import type { ReplySink } from '../../../replies/reply-sink.ts';

/** The request of one round, and the id of its row. */
export type RoundPlan = {
  readonly request: InferenceRequest;
  readonly facts: CallFacts;
  readonly targets: readonly Target[];
  readonly rowId: string;
  /** Absent in the first round, whose row is the call's own. */
  readonly parentCallId?: string;
};

/** Observes a round. */
export type RoundFollower = {
  /** The headers that a client would get with this round's reply. */
  readonly head: (headers: Readonly<Record<string, string>>) => void;
  /** False if the client does not keep up: `resume` of the round follows. */
  readonly events: (events: readonly InferenceEvent[]) => boolean;
  /** The exchange aborted because the client does not read. */
  readonly abandoned: () => void;
  readonly used: (tokens: number) => void;
  /** Characters of this round's content that the client has received by now. */
  readonly delivered: () => number;
};

/** How a round ended. Without an entry if nothing was sent. */
export type RoundOutcome = {
  readonly end: 'finished' | 'left' | 'failed';
  readonly error?: GatewayError;
  readonly entry?: CallEntry;
};

export type Round = {
  /** Resolves when its first attempt was sent. Rejects with a GatewayError if none can be made. */
  readonly started: Promise<void>;
  /** Never rejects. */
  readonly outcome: Promise<RoundOutcome>;
  readonly resume: () => void;
  /** The client has disconnected. The policy of its key decides about the round. */
  readonly leave: () => void;
  /** Ends the round at once. */
  readonly stop: (error: GatewayError) => void;
};

const noBody = Buffer.from('{}');

/**
 * Calls the model once, with everything of an ordinary call: targets, retries, health, time limits, and the books. Its
 * reply arrives as neutral events, whatever the upstream speaks.
 */
export function runRound(gateway: ChatServices, prepared: PreparedCall, plan: RoundPlan, follower: RoundFollower): Round {
  const outcome = Promise.withResolvers<RoundOutcome>();
  let error: GatewayError | undefined;
  let entry: CallEntry | undefined;
  let isEnded = false;
  let hasLeft = false;
  const conclude = (): void => {
    if (hasLeft && entry !== undefined) outcome.resolve({ end: 'left', entry });
    if (!isEnded || entry === undefined) return;
    outcome.resolve(error === undefined ? { end: 'finished', entry } : { end: 'failed', error, entry });
  };
  const sink = new RoundSink({
    head: follower.head,
    events: follower.events,
    ended: (failure) => {
      error = failure;
      isEnded = true;
      conclude();
    },
    abandoned: follower.abandoned,
  });
  const round: PreparedCall = {
    ...prepared,
    framing: 'sse',
    neutral: plan.request,
    facts: plan.facts,
    targets: plan.targets,
    taken: prepared.taken === undefined ? undefined : followLimits(prepared.taken, follower.used),
    turn: undefined,
    startedMs: plan.parentCallId === undefined ? prepared.startedMs : gateway.clock.monotonicMs(),
    round: {
      rowId: plan.rowId,
      ...(plan.parentCallId === undefined ? {} : { parentCallId: plan.parentCallId }),
      delivered: follower.delivered,
      settled: (settled) => {
        entry = settled;
        conclude();
      },
    },
  };
  const job = new ChatJob(gateway, round, neutralForm, { request: toWireRequest(prepared.call, {}), bytes: noBody });
  const attempts = new CallAttempts(gateway, round, job, sink);
  const started = attempts.start();
  started.catch((failure: unknown) => {
    const refusal = failure instanceof GatewayError ? failure : undefined;
    if (refusal === undefined) gateway.logger.error({ callId: prepared.call.callId, err: failure }, 'starting a round of tools failed');
    outcome.resolve(refusal === undefined ? { end: 'failed' } : { end: 'failed', error: refusal });
  });
  const leave = (): void => {
    hasLeft = true;
    sink.leave();
    conclude();
    // A round that is being journalled, or read to its end, is settled after that. A round that was never sent has no
    // row.
    const left = (): void => {
      if (!attempts.hasBegun) outcome.resolve({ end: 'left' });
    };
    started.then(left, left);
  };
  return {
    started,
    outcome: outcome.promise,
    resume: () => sink.resume(),
    leave,
    stop: (reason) => {
      leave();
      attempts.terminate(reason);
    },
  };
}

/** The limits are reserved once for all rounds: each round reports its usage, and none releases anything. */
function followLimits({ reservation, headers }: TakenLimits, used: (tokens: number) => void): TakenLimits {
  return { headers, reservation: { ...reservation, settle: used, release: () => {}, finish: () => {} } };
}

/** Receives the reply of a round. */
export type RoundReader = {
  readonly head: (headers: Readonly<Record<string, string>>) => void;
  /** False if the reader needs a pause: `resume` follows. */
  readonly events: (events: readonly InferenceEvent[]) => boolean;
  /** The reply has ended. @param error the reason, if it failed */
  readonly ended: (error?: GatewayError) => void;
  /** The exchange aborted the reply. */
  readonly abandoned: () => void;
};

/** Receives the reply of one round of the loop. */
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

  /** The loop sends heartbeats to its own client. */
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
    this.#end(new GatewayError('internal_error', `a round of tools was answered with status ${status}; this is a bug in the gateway`));
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
    this.#reader.abandoned();
  }

  /** The reader has left. */
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
