import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { AudioOperation } from '../../../dialects/openai-audio/audio-formats.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import { boundAtTarget, type Purchase } from '../../attempts/books/bound-call.ts';
import type { AttemptPlan, CallJob, OwnMeter } from '../../attempts/call-job.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import type { TargetRequirements } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { RelayedSound } from './audio-relay.ts';

/** An upstream that has a route. */
export function soundWanted(operation: AudioOperation): TargetRequirements {
  return {
    kind: operation === 'speech' ? 'speech' : 'transcription',
    isOffered: ({ audio }) => audio?.[operation] !== undefined,
    does: { speech: 'makes speech', transcriptions: 'transcribes speech', translations: 'translates speech' }[operation],
  };
}

/** A request to make sound or to read it. */
export type AudioRequest = {
  readonly operation: AudioOperation;
  readonly facts: CallFacts;
  /** Tells the request from others of its caller. */
  readonly digest: () => string;
  /** Fits the call to a target. @throws GatewayError (400) where the target cannot do what is asked */
  readonly prepare: (target: Target) => PreparedAudio;
  /** Gives back what the request takes up. */
  readonly discard?: () => void;
};

/** A call that is fitted to a target. What counts it is its own: what an upstream says of sound is only a part of the evidence. */
export type PreparedAudio = OwnMeter & {
  readonly request: UpstreamRequest;
  /** What the call may use at most, by what it asks for. Tokens are a guess of the dearest kind; what they come to beyond that is charged all the same. */
  readonly bounds: () => UsageBounds;
  /** What a call can have used at all: a report beyond it is disputed, and what is charged then is within `bounds`. */
  readonly possible: () => Usage;
  readonly createRelay: (call: RelayedSound) => ReplyRelay;
};

type AudioPlan = AttemptPlan & { readonly meter: PreparedAudio };

type KnownAudio = { readonly callId: string; readonly clock: Pick<Clock, 'nowMs'>; readonly purchase: Purchase };

/** What the attempts of a call about sound send, and what becomes of the replies. */
export function createAudioJob(asked: AudioRequest, { callId, clock, purchase }: KnownAudio): CallJob<AudioPlan> {
  const { prepare, digest, discard } = asked;
  return {
    isFree: false,
    plan: (target) => {
      const meter = prepare(target);
      return { kind: 'exchange', upstreamRequest: meter.request, relay: meter.createRelay({ callId, clock, target }), meter };
    },
    uses: (target) => prepare(target).bounds().most,
    digest,
    sent: () => {},
    forget: () => {},
    ...(discard !== undefined && { ended: discard }),
    // Sound that was measured, and characters, are the gateway's own counts. What an upstream reports is held against what the sound and the text can come to.
    bound: ({ target, plan, pricingParameters }) => ({
      isSuspicious: (_usage, _amount, report) => report !== undefined,
      find: () => {
        const most = plan.meter.possible();
        const nanoUsd = boundAtTarget(purchase, target, { most, pricingParameters });
        return { most, nanoUsd, instead: plan.meter.bounds().most, provesCounts: false };
      },
    }),
  };
}

/** What a call may use at a target. One that cannot do what is asked is not asked. */
export function boundAudio({ prepare }: AudioRequest, target: Target): UsageBounds {
  try {
    return prepare(target).bounds();
  } catch (error) {
    if (error instanceof GatewayError) return { expected: {}, most: {} };
    throw error;
  }
}
