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
import type { RelayedAudio } from './audio-relay.ts';

/** Requires targets whose upstream has a route for the operation. */
export function audioRequirements(operation: AudioOperation): TargetRequirements {
  return {
    kind: operation === 'speech' ? 'speech' : 'transcription',
    isOffered: ({ audio }) => audio?.[operation] !== undefined,
    does: { speech: 'makes speech', transcriptions: 'transcribes speech', translations: 'translates speech' }[operation],
  };
}

/** A speech or transcription request. */
export type AudioRequest = {
  readonly operation: AudioOperation;
  readonly facts: CallFacts;
  /** Distinguishes the request from others of its caller. */
  readonly digest: () => string;
  /** Prepares the call for a target. @throws GatewayError (400) if the target does not support the request */
  readonly prepare: (target: Target) => PreparedAudio;
  /** Releases the upload of the request. */
  readonly discard?: () => void;
};

/**
 * A call that is prepared for a target. It has a meter of its own, because the usage that upstreams report for audio is
 * only a part of the evidence.
 */
export type PreparedAudio = OwnMeter & {
  readonly request: UpstreamRequest;
  /**
   * The usage bounds by the request. Tokens are estimated at the most expensive; tokens above the estimate are charged
   * too.
   */
  readonly bounds: () => UsageBounds;
  /** The most that a call can possibly use. A report above it is disputed, and the charge is then within `bounds`. */
  readonly possible: () => Usage;
  readonly createRelay: (call: RelayedAudio) => ReplyRelay;
};

type AudioPlan = AttemptPlan & { readonly meter: PreparedAudio };

type AudioJobContext = { readonly callId: string; readonly clock: Pick<Clock, 'nowMs'>; readonly purchase: Purchase };

/** Creates the job of an audio call. */
export function createAudioJob(request: AudioRequest, { callId, clock, purchase }: AudioJobContext): CallJob<AudioPlan> {
  const { prepare, digest, discard } = request;
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
    // The gateway itself counts measured audio and characters. A report of an upstream is compared with the most that
    // the audio and the text can use.
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

/** The usage bounds of a call at a target. A target that does not support the request gets no call, so it has none. */
export function boundAudio({ prepare }: AudioRequest, target: Target): UsageBounds {
  try {
    return prepare(target).bounds();
  } catch (error) {
    if (error instanceof GatewayError) return { expected: {}, most: {} };
    throw error;
  }
}
