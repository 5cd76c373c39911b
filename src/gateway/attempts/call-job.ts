import type { MeteredCall } from '../../billing/metering/meter-call.ts';
import type { ReplyReport } from '../../dialects/chat-dialect.ts';
import type { UpstreamDialectId } from '../../dialects/dialect-id.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { InterfaceId } from '../../inference/interfaces.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import type { PricingParameters, Usage } from '../../inference/usage.ts';
import type { UpstreamClient, UpstreamRequest } from '../../platform/http/upstream-client.ts';
import type { GatewayTimeouts } from '../settings/limits.ts';
import type { UsageBound } from './books/settle.ts';
import type { StreamBudget } from './books/stream-budget.ts';
import type { ExchangeObserver, UndeliveredFailure } from './exchange/exchange-context.ts';
import type { ReplyRelay } from './exchange/reply-relay.ts';
import type { Target } from './routing/target.ts';

/** Counts the usage of an attempt from more than its upstream's report: from its request, or by measuring. */
export type OwnMeter = {
  /** The lowest usage of an attempt whose upstream has answered. The journal records it in case the process dies. */
  readonly atHead: () => Usage;
  /** Resolves when `atHead` may be more exact. Absent if it is exact from the beginning. Never rejects. */
  readonly learnMore?: () => Promise<void>;
  /**
   * The usage of an attempt that did not fail. A promise if something must be measured first; never rejects.
   * @param report the report of the reply; absent if none of it was read
   */
  readonly count: (report: ReplyReport | undefined) => MeteredCall | Promise<MeteredCall>;
};

type Notes = { readonly list: () => readonly TranslationNote[] };

/** The request for the upstream, and the relay of its reply. */
export type AttemptPlan<Piece = Buffer> = {
  readonly kind: 'exchange';
  readonly upstreamRequest: UpstreamRequest;
  readonly relay: ReplyRelay<Piece>;
  /** Sends the request, if it is sent in another way than its target's requests are. */
  readonly client?: Pick<UpstreamClient, 'send'>;
  /**
   * The dialect in which the upstream answers, because a vendor may count differently. Absent if the relay reads the
   * true usage.
   */
  readonly upstreamDialect?: { readonly id: UpstreamDialectId };
  /** Absent if the upstream's report, or its text, determines the usage. */
  readonly meter?: OwnMeter;
  /** Absent in passthrough. */
  readonly translation?: {
    readonly upstream: { readonly id: UpstreamDialectId | InterfaceId };
    readonly notes: Notes;
    readonly replyNotes: Notes;
  };
};

/** An answer that the gateway gives by itself, without an upstream and without a row in the books. */
export type LocalAnswer = { readonly kind: 'local'; readonly answer: () => void };

/** An attempt with the facts that its price and its bounds depend on. */
export type PlannedAttempt<Plan extends AttemptPlan<unknown> = AttemptPlan<unknown>> = {
  readonly target: Target;
  readonly plan: Plan;
  /** The values of the body that the price depends on. Absent if there are none. */
  readonly pricingParameters: PricingParameters | undefined;
};

/**
 * The part of an attempt that differs between endpoints: the request for a target, the relay of the reply, and the
 * cost. All other parts are the same for all endpoints.
 */
export type CallJob<Plan extends AttemptPlan<unknown> = AttemptPlan> = {
  /** Whether it costs nothing and has no row in the books. */
  readonly isFree: boolean;
  /**
   * Plans the request for one target. Returns a promise only if something must be fetched or stored before.
   * @throws GatewayError of class `invalid_request` if this target cannot take the request; the next one may
   */
  readonly plan: (target: Target) => Plan | LocalAnswer | Promise<Plan | LocalAnswer>;
  /**
   * The usage that a target charges by, if that is not tokens. It needs a price if the operator refuses calls without
   * one.
   */
  readonly uses?: (target: Target) => Usage;
  /** A digest of the request. Health uses it to distinguish one failing request from many. */
  readonly digest: () => string;
  /** Called when an attempt was sent: data that only the first attempt needs may be released. */
  readonly sent: () => void;
  /** Called when no other attempt can follow: the request may be released. */
  readonly forget: () => void;
  /** Called when the call is over and in the books, after `start` has returned. */
  readonly ended?: () => void;
  /**
   * Whether the same target gets a changed request at once, because of the way in which it refused.
   * @param mayRepeat whether attempts are left; a repair that can happen only once may ignore it
   */
  readonly mend?: (failure: UndeliveredFailure, target: Target, mayRepeat: boolean) => boolean;
  /**
   * Records an attempt that has books of its own before it is sent. The result observes how the attempt ends, also if
   * another follows. A local answer: nothing needs to be sent. Absent: the journal keeps the books of the whole call.
   */
  readonly record?: (attempt: { readonly target: Target; readonly plan: Plan }) => Promise<ExchangeObserver | LocalAnswer>;
  /** Whether another attempt may go to this target after the failure. Absent: to any target. */
  readonly mayFollow?: (error: GatewayError, failed: Target, next: Target) => boolean;
  /** The time limits of an attempt, if its job allows less time than its target. Absent: those of the target. */
  readonly limitTimes?: (timeouts: GatewayTimeouts) => GatewayTimeouts;
  /** Extends the hold to cover the attempt. Returns the refusal; undefined if the attempt is covered. */
  readonly cover?: (attempt: PlannedAttempt<Plan>) => GatewayError | undefined | Promise<GatewayError | undefined>;
  /** Checks that a stream costs no more than its hold. Undefined if there is no hold. */
  readonly watchBudget?: (attempt: PlannedAttempt<Plan>) => StreamBudget | undefined;
  /** The highest usage that the attempt can have, by its request. */
  readonly bound: (attempt: PlannedAttempt<Plan>) => UsageBound;
};
