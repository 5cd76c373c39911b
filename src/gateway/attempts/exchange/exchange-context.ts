import type { MeteredCall } from '../../../billing/metering/meter-call.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { CallEnd } from '../../../billing/ledger/call-entry.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Histogram } from '../../../platform/metrics/metric-registry.ts';
import type { GatewayLimits, GatewayTimeouts } from '../../settings/limits.ts';
import type { Target } from '../routing/target.ts';
import type { StreamBudget } from '../books/stream-budget.ts';
import type { Departure, LeavingRule } from './client-disconnect.ts';
import type { ReplyRelay } from './reply-relay.ts';
import type { ReplySink } from '../../replies/reply-sink.ts';
import type { UsageReport } from '../../../inference/usage.ts';

/** How an exchange ended: all that metering needs, the same for every implementation of the exchange. */
export type Outcome = {
  readonly end: Exclude<CallEnd, 'lost'>;
  readonly report?: ReplyReport;
  /** True when the upstream's terminal event or whole reply arrived, so that its usage is final. */
  readonly complete: boolean;
  readonly error?: GatewayError;
  /** What was counted in place of what its report says (see OwnMeter). */
  readonly metered?: MeteredCall;
};

/** As much of an outcome as is metered. */
type MeteredEnding = Pick<Outcome, 'end' | 'complete' | 'report'>;

/** What follows the exchange while it runs. Each call is cheap and synchronous. */
export type ExchangeObserver = {
  /** The upstream's status line has arrived. */
  readonly head: (status: number, upstreamRequestId: string | undefined) => void;
  /** The first generated content is about to go to the client. */
  readonly firstContent: () => void;
  readonly progress: (report: ReplyReport) => void;
  /** What is charged for a call that ends so: what its client is told is the same. Absent for what costs nothing. */
  readonly meter?: ((ending: MeteredEnding) => UsageReport) | undefined;
  /** The client has left before the end. Followed by `settled`, at once or when the upstream's reply has ended. */
  readonly left?: (departure: Departure) => void;
  /**
   * Called exactly once, before the last bytes are handed to the client. Those that can wait for the end of their turn of the event loop
   * come as `then`, which is called once: so the books of a turn are written together. Without it they are written when this returns.
   */
  readonly settled: (outcome: Outcome, then?: () => void) => void;
};

/** How an attempt failed of which nothing was delivered. */
export type UndeliveredFailure = {
  readonly error: GatewayError;
  /** The upstream's status, where it was an error. */
  readonly upstreamStatus?: number;
  /** The code or the message by which the upstream's error body says what is wrong, where it has one. */
  readonly upstreamWords?: string;
  /** What the headers of its answer say about trying again. */
  readonly headers?: ReplyHeaders;
  /**
   * Settles the call and answers the client, when no other attempt follows after all. Once.
   * @param instead a better reason than this attempt's own
   */
  readonly answer: (instead?: GatewayError) => void;
};

/** Everything an exchange works with. What it delivers is a reply in pieces: what they are, its relay and its sink agree on. */
export type ExchangeContext<Piece = Buffer> = ExchangeBasis & {
  /** How the reply gets from the upstream's dialect into the client's. */
  readonly relay: ReplyRelay<Piece>;
  /** Where it goes. */
  readonly sink: ReplySink<Piece>;
};

/** An exchange of which it does not matter what it delivers. */
export type AnyExchange = ExchangeBasis & { readonly relay: ReplyRelay<unknown>; readonly sink: ReplySink<never> };

type ExchangeBasis = {
  readonly requestId: string;
  /** Framing of the reply when a stream was asked for. */
  readonly framing: StreamFraming | undefined;
  readonly target: Target;
  readonly limits: GatewayLimits;
  readonly timeouts: GatewayTimeouts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: ExchangeObserver;
  /** When the call has to be over, on the monotonic clock. */
  readonly endsByMs: number;
  /** Where the receipt will be; absent for what costs nothing. */
  readonly receipt?: string | undefined;
  /**
   * Offers the call to another attempt. True when it was taken: then the exchange is over, and whoever took it sees to it that the client is answered. False when
   * the exchange has to end the call itself.
   */
  readonly handOver: (failure: UndeliveredFailure) => boolean;
  /** For how long the frames that only open a stream's reply wait for its first content, from its status line on. Absent: for as long as it takes. */
  readonly holdOpeningMs?: number | undefined;
  /** Hears that they, or the headers, have gone to the client without any content: from then on no other attempt can follow. */
  readonly onOpened?: (() => void) | undefined;
  /** Where the seconds between the pieces of a stream are counted, where somebody counts. */
  readonly chunkGaps?: Histogram | undefined;
  /** What watches that a stream costs no more than is held for it; absent where nothing is. */
  readonly budget?: StreamBudget | undefined;
  /** What is done when the client leaves. Absent: the upstream is stopped, and what it has generated is charged. */
  readonly leaving?: LeavingRule | undefined;
};

/** The flow of upstream bytes, as far as a reply may steer it. */
export type UpstreamFlow = {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Stops the upstream. Nothing more is heard from it. */
  readonly stop: () => void;
};

/** One way of taking a reply in: whole, streamed, or an error body. The exchange chooses one when the status line has arrived. */
export type ReplyIntake = {
  readonly data: (chunk: Buffer) => void;
  /** The body ended as the transport demands. */
  readonly end: () => void;
  /** The upstream broke, lied or was too slow. */
  readonly fail: (error: GatewayError) => void;
  /** @param drains whether the reply is to be read on; otherwise the upstream is stopped, and the call is settled when this returns */
  readonly clientLeft: (drains?: boolean) => void;
  /** Called several times a second: time limits and heartbeats. */
  readonly check: (nowMs: number) => void;
};
