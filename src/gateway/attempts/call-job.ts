import type { MeteredCall } from '../../billing/metering/meter-call.ts';
import type { ReplyReport } from '../../dialects/chat-dialect.ts';
import type { DialectId } from '../../dialects/dialect-id.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { InterfaceId } from '../../inference/interfaces.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import type { PricingParameters, Usage } from '../../inference/usage.ts';
import type { UpstreamRequest } from '../../platform/http/upstream-client.ts';
import type { GatewayTimeouts } from '../settings/limits.ts';
import type { UsageBound } from './books/settle.ts';
import type { StreamBudget } from './books/stream-budget.ts';
import type { ExchangeObserver, UndeliveredFailure } from './exchange/exchange-context.ts';
import type { ReplyRelay } from './exchange/reply-relay.ts';
import type { Target } from './routing/target.ts';

/** Counts the usage of an attempt by more than the report of its upstream: by its request, or by measuring. */
export type OwnMeter = {
  /** The least usage of an attempt whose upstream has answered. The journal keeps it, in case the process dies. */
  readonly atHead: () => Usage;
  /** Resolves when `atHead` may say something better. Absent where it says all from the beginning. Never rejects. */
  readonly learnMore?: () => Promise<void>;
  /**
   * The usage of an attempt that did not fail. A promise if something has to be measured first; never rejects.
   * @param report what the reply says; absent if none of it was read
   */
  readonly count: (report: ReplyReport | undefined) => MeteredCall | Promise<MeteredCall>;
};

type Notes = { readonly list: () => readonly TranslationNote[] };

/** What is to be sent upstream, and how the reply comes back. */
export type AttemptPlan<Piece = Buffer> = {
  readonly kind: 'exchange';
  readonly upstreamRequest: UpstreamRequest;
  readonly relay: ReplyRelay<Piece>;
  /** The dialect in which the upstream answers: a vendor may count otherwise than it says. Absent where the usage is what the relay reads. */
  readonly upstreamDialect?: { readonly id: DialectId };
  /** Absent where what its upstream reports, or its text, says what it used. */
  readonly meter?: OwnMeter;
  /** Absent in passthrough. */
  readonly translation?: { readonly upstream: { readonly id: DialectId | InterfaceId }; readonly notes: Notes; readonly replyNotes: Notes };
};

/** What no upstream has to be asked for: the gateway answers by itself, and nothing is booked. */
export type OwnAnswer = { readonly kind: 'own'; readonly answer: () => void };

/** One attempt as its price and its bounds depend on it. */
export type PlannedAttempt<Plan extends AttemptPlan<unknown> = AttemptPlan<unknown>> = {
  readonly target: Target;
  readonly plan: Plan;
  /** What of the body the price depends on; absent where it depends on nothing there. */
  readonly pricingParameters: PricingParameters | undefined;
};

/**
 * What an endpoint's calls have of their own: what they send to a target, what becomes of the reply, and what it may cost. Everything else about attempts is the
 * same for all of them.
 */
export type CallJob<Plan extends AttemptPlan<unknown> = AttemptPlan> = {
  /** Whether it costs nothing and has no place in the books. */
  readonly isFree: boolean;
  /**
   * What one target is to be sent. At once where nothing has to be fetched or stored before.
   * @throws GatewayError of class `invalid_request` for what this target cannot be asked; the next one may be
   */
  readonly plan: (target: Target) => Plan | OwnAnswer | Promise<Plan | OwnAnswer>;
  /** What a target charges by, where that is not tokens: it has to have a price where the operator has calls without one refused. */
  readonly uses?: (target: Target) => Usage;
  /** A digest of the request: lets health tell one request that fails often from many. */
  readonly digest: () => string;
  /** Called when an attempt was sent: what only the first one needs may be let go of. */
  readonly sent: () => void;
  /** Called when no other attempt can follow: nothing of the request is needed any more to be sent. */
  readonly forget: () => void;
  /** Called when the call is over and in the books, once `start` has returned: nothing of it is needed any more. */
  readonly ended?: () => void;
  /**
   * Whether the same target is to be asked once more and otherwise than before, at once, because of how it refused.
   * @param mayRepeat whether attempts are left. What happens only once need not look at it
   */
  readonly mend?: (failure: UndeliveredFailure, target: Target, mayRepeat: boolean) => boolean;
  /**
   * Writes an attempt down that has books of its own, before it is sent. It hears how the attempt ends, also if another
   * follows. An own answer: nothing needs to be sent. Absent: the journal has the books of the whole call.
   */
  readonly record?: (attempt: { readonly target: Target; readonly plan: Plan }) => Promise<ExchangeObserver | OwnAnswer>;
  /** Whether another attempt may go to a target after this failure. Absent: to any. */
  readonly mayFollow?: (error: GatewayError, failed: Target, next: Target) => boolean;
  /** The waits of an attempt, where its job allows for less than its target does. Absent: as for all calls to it. */
  readonly limitTimes?: (timeouts: GatewayTimeouts) => GatewayTimeouts;
  /** Sees to it that what is held covers the attempt. The answer is the reason why it does not; absent, or undefined, where it does. */
  readonly cover?: (attempt: PlannedAttempt<Plan>) => GatewayError | undefined | Promise<GatewayError | undefined>;
  /** Watches that a stream costs no more than is held for it; undefined where nothing is held. */
  readonly watchBudget?: (attempt: PlannedAttempt<Plan>) => StreamBudget | undefined;
  /** What the attempt can have used at most, by its own request. */
  readonly bound: (attempt: PlannedAttempt<Plan>) => UsageBound;
};
