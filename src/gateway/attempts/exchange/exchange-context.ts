import type { MeteredCall } from '../../../billing/metering/meter-call.ts';
import type { ReplyReport } from '../../../dialects/chat-dialect.ts';
import type { GatewayError } from '../../../inference/gateway-error.ts';
import type { CallEnd } from '../../../billing/ledger/call-entry.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import type { UpstreamClient } from '../../../platform/http/upstream-client.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Histogram } from '../../../platform/metrics/metric-registry.ts';
import type { GatewayLimits, GatewayTimeouts } from '../../settings/limits.ts';
import type { CallRecorder } from '../../telemetry/call-report.ts';
import type { Target } from '../routing/target.ts';
import type { StreamBudget } from '../books/stream-budget.ts';
import type { ClientDisconnect, DisconnectRule } from './client-disconnect.ts';
import type { ReplyRelay } from './reply-relay.ts';
import type { ReplySink } from '../../replies/reply-sink.ts';
import type { UsageReport } from '../../../inference/usage.ts';

/** The end of an exchange with all that metering needs, the same for every kind of exchange. */
export type Outcome = {
  readonly end: Exclude<CallEnd, 'lost'>;
  readonly report?: ReplyReport;
  /** True if the upstream's terminal event or whole reply arrived, so that its usage is final. */
  readonly complete: boolean;
  readonly error?: GatewayError;
  /** The counts that replace those of the report (see OwnMeter). */
  readonly metered?: MeteredCall;
};

/** The part of an outcome that decides its charge. */
export type MeteredEnding = Pick<Outcome, 'end' | 'complete' | 'report'>;

/** Observes a running exchange. Each call is cheap and synchronous. */
export type ExchangeObserver = {
  readonly head: (status: number, upstreamRequestId: string | undefined) => void;
  /** The first generated content is about to go to the client. */
  readonly firstContent: () => void;
  readonly progress: (report: ReplyReport) => void;
  /**
   * The charge of a call that ends this way: the client receives the same figures. Absent for calls that cost nothing.
   */
  readonly meter?: ((ending: MeteredEnding) => UsageReport) | undefined;
  /** The client disconnected before the end. `settled` follows, at once or at the end of the upstream's reply. */
  readonly left?: (disconnect: ClientDisconnect) => void;
  /**
   * Called exactly once, before the last bytes go to the client. `then` sends those that can wait for the end of this
   * turn of the event loop, so that the books of a turn are written together; it is called once. Without it they are
   * written when this returns.
   */
  readonly settled: (outcome: Outcome, then?: () => void) => void;
};

/** An attempt that failed before anything was delivered. */
export type UndeliveredFailure = {
  readonly error: GatewayError;
  /** The upstream's status, if it was an error. */
  readonly upstreamStatus?: number;
  /** The code and the message of the upstream's error body, if there is one. */
  readonly upstreamWords?: string;
  /** The headers of its answer, for advice about retries. */
  readonly headers?: ReplyHeaders;
  /**
   * Settles the call and answers the client if no other attempt follows. Called once.
   * @param instead a better reason than this attempt's own
   */
  readonly answer: (instead?: GatewayError) => void;
};

/** Everything that an exchange works with. It delivers a reply in pieces, whose type its relay and its sink share. */
export type ExchangeContext<Piece = Buffer> = ExchangeBasis & {
  /** Carries the reply from the upstream's dialect to the client's. */
  readonly relay: ReplyRelay<Piece>;
  /** The destination of the reply. */
  readonly sink: ReplySink<Piece>;
};

/** An exchange with pieces of any type. */
export type AnyExchange = ExchangeBasis & { readonly relay: ReplyRelay<unknown>; readonly sink: ReplySink<never> };

type ExchangeBasis = {
  readonly requestId: string;
  /** Framing of the reply if a stream was requested. */
  readonly framing: StreamFraming | undefined;
  readonly target: Target;
  /** Sends the request. Absent: the client of the target. */
  readonly client?: Pick<UpstreamClient, 'send'> | undefined;
  readonly limits: GatewayLimits;
  readonly timeouts: GatewayTimeouts;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: ExchangeObserver;
  /** The deadline of the call, on the monotonic clock. */
  readonly endsByMs: number;
  /** The path of the receipt. Absent for calls that cost nothing. */
  readonly receipt?: string | undefined;
  /**
   * Offers the call to another attempt. True if it was taken: then the exchange is over, and the receiver must answer
   * the client. False if the exchange must end the call itself.
   */
  readonly handOver: (failure: UndeliveredFailure) => boolean;
  /**
   * How long the opening frames of a stream wait for its first content, from the status line on. Absent: without a
   * limit.
   */
  readonly holdOpeningMs?: number | undefined;
  /**
   * Called when the headers or the opening frames have gone to the client without content. From then on no other
   * attempt can follow.
   */
  readonly onOpened?: (() => void) | undefined;
  /** Counts the seconds between the pieces of a stream. Absent without metrics. */
  readonly chunkGaps?: Histogram | undefined;
  /** Keeps the request and the answer. Absent if they are not kept. */
  readonly recorder?: Pick<CallRecorder, 'attempt'> | undefined;
  /** Checks that a stream costs no more than its hold. Absent without a hold. */
  readonly budget?: StreamBudget | undefined;
  /** The action when the client disconnects. Absent: the upstream is stopped, and the generated output is charged. */
  readonly leaving?: DisconnectRule | undefined;
};

/** The flow of upstream bytes, as far as a reply may control it. */
export type UpstreamFlow = {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Stops the upstream. None of its later events arrive. */
  readonly stop: () => void;
};

/** One way to receive a reply: whole, streamed, or an error body. The exchange chooses one at the status line. */
export type ReplyIntake = {
  readonly data: (chunk: Buffer) => void;
  /** The body ended as the transport requires. */
  readonly end: () => void;
  /** The upstream failed, sent an invalid reply, or was too slow. */
  readonly fail: (error: GatewayError) => void;
  /**
   * @param drains whether the reply is read to its end; otherwise the upstream is stopped, and the call is settled when
   * this returns
   */
  readonly clientLeft: (drains?: boolean) => void;
  /** Checks time limits and sends heartbeats, several times a second. */
  readonly check: (nowMs: number) => void;
};
