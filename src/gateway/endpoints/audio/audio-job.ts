import type { MeteredCall } from '../../../billing/metering/meter-call.ts';
import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import type { ClientWatch } from '../../attempts/disconnect/client-watch.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { GatewayLimits } from '../../settings/limits.ts';
import type { Target } from '../../attempts/routing/target.ts';
import type { AudioOperation } from '../../../dialects/openai-audio/audio-formats.ts';
import type { UpstreamReply } from './upstream-reply.ts';

/** A call that makes sound or reads it, as the attempts see it. */
export type AudioJob = {
  readonly operation: AudioOperation;
  readonly facts: CallFacts;
  /** Tells the request from others of its caller. */
  readonly digest: () => string;
  /** Fits the call to a target. @throws GatewayError (400) where the target cannot do what is asked */
  readonly prepare: (target: Target) => PreparedAudio;
};

/** A call that is fitted to a target. */
export type PreparedAudio = {
  readonly request: UpstreamRequest;
  /** What the call may use at most, by what it asks for. Tokens are a guess of the dearest kind; what they come to beyond that is charged all the same. */
  readonly bounds: () => UsageBounds;
  /** What a call can have used at all: a report beyond it is disputed, and what is charged then is within `bounds`. */
  readonly possible: () => Usage;
  /** What is charged at least from the moment at which the upstream has answered: for the journal, should the process die. By what is known when it is asked. */
  readonly usageAtHead: () => Usage;
  /** Resolves when `usageAtHead` may say something better; undefined where it says all from the beginning. Never rejects. */
  readonly learnMore?: () => Promise<void>;
  /** Reads a good reply and hands it on. Throws GatewayError while nothing of it was delivered; afterwards it tells how it ended. */
  readonly deliver: (reply: UpstreamReply, delivery: Delivery) => Promise<Delivered>;
  /** What a call used that delivered something, or whose client left. @param report what its upstream said of that */
  readonly meter: (report: UsageReport | undefined, textCharacters: number) => Promise<MeteredCall>;
};

/** What a reply is delivered with. */
export type Delivery = {
  readonly response: ClientReply;
  /** Of the upstream's answer. */
  readonly received: ReplyHeaders;
  /** Those that go to the client. */
  readonly headers: Readonly<Record<string, string>>;
  readonly limits: GatewayLimits;
  readonly stalledReaderMs: number;
  readonly signal: AbortSignal;
  /** The first bytes are about to go to the client: no other attempt can follow. */
  readonly onDelivering: () => void;
  readonly client: Pick<ClientWatch, 'delivered' | 'onLeft'>;
};

/** How a reply ended of which something was delivered, or is ready to be. */
export type Delivered = {
  readonly end: 'finished' | 'cut' | 'client-left';
  readonly report: UsageReport | undefined;
  /** Characters of text that the model wrote. */
  readonly textCharacters: number;
  readonly error?: GatewayError;
  /** Lets the client have the end of it, once the call is in the books. */
  readonly conclude: () => void;
};
