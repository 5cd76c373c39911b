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
import { RoundSink } from './round-sink.ts';

/** What one round asks, and under which id it is booked. */
export type RoundPlan = {
  readonly request: InferenceRequest;
  readonly facts: CallFacts;
  readonly targets: readonly Target[];
  readonly rowId: string;
  /** Absent in the first round, whose row is the call's own. */
  readonly parentCallId?: string;
};

/** Who follows a round. */
export type RoundFollower = {
  /** The headers that a client would be sent with this round's reply. */
  readonly head: (headers: Readonly<Record<string, string>>) => void;
  /** False when the client does not keep up: `resume` of the round follows. */
  readonly events: (events: readonly InferenceEvent[]) => boolean;
  /** The exchange gave up a client that does not read. */
  readonly givenUp: () => void;
  readonly used: (tokens: number) => void;
  /** Characters of this round's content that have been handed to the client by now. */
  readonly delivered: () => number;
};

/** How a round ended. Without an entry where nothing was sent. */
export type RoundOutcome = {
  readonly end: 'finished' | 'left' | 'failed';
  readonly error?: GatewayError;
  readonly entry?: CallEntry;
};

export type Round = {
  /** Resolves when its first attempt is on its way. Rejects with a GatewayError when none can be made. */
  readonly started: Promise<void>;
  /** Never rejects. */
  readonly outcome: Promise<RoundOutcome>;
  readonly resume: () => void;
  /** The client has left: what is done with the round is its key's choice. */
  readonly leave: () => void;
  /** Ends it at once, whether its client has left or not. */
  readonly stop: (error: GatewayError) => void;
};

const noBody = Buffer.from('{}');

/**
 * Asks the model once, with everything that an ordinary call has: targets, retries, health, limits of time, and the
 * books. Its reply comes as neutral events, whatever the upstream speaks.
 */
export function runRound(gateway: ChatServices, known: PreparedCall, plan: RoundPlan, follower: RoundFollower): Round {
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
    givenUp: follower.givenUp,
  });
  const round: PreparedCall = {
    ...known,
    framing: 'sse',
    neutral: plan.request,
    facts: plan.facts,
    targets: plan.targets,
    taken: known.taken === undefined ? undefined : followLimits(known.taken, follower.used),
    turn: undefined,
    startedMs: plan.parentCallId === undefined ? known.startedMs : gateway.clock.monotonicMs(),
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
  const job = new ChatJob(gateway, round, neutralForm, { request: toWireRequest(known.call, {}), bytes: noBody });
  const attempts = new CallAttempts(gateway, round, job, sink);
  const started = attempts.start();
  started.catch((failure: unknown) => {
    const told = failure instanceof GatewayError ? failure : undefined;
    if (told === undefined) gateway.logger.error({ callId: known.call.callId, err: failure }, 'a round of tools could not begin: a defect');
    outcome.resolve(told === undefined ? { end: 'failed' } : { end: 'failed', error: told });
  });
  const leave = (): void => {
    hasLeft = true;
    sink.leave();
    conclude();
    // One that is being written down is settled once it is, and one that is read on when that ends; what was never sent
    // is in no books.
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

/** The limits were taken once for all rounds: each tells what it used, and none gives anything back. */
function followLimits({ reservation, headers }: TakenLimits, used: (tokens: number) => void): TakenLimits {
  return { headers, reservation: { ...reservation, settle: used, release: () => {}, finish: () => {} } };
}
