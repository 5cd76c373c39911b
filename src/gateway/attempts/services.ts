import type { Journal } from '../../billing/journal/journal.ts';
import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import type { GatewayError } from '../../inference/gateway-error.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Deadlines, DeadlineCheck } from '../../platform/http/deadlines.ts';
import type { Logger } from '../../platform/log.ts';
import type { CallSettings } from '../settings/call-settings.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { DrainSlots } from './exchange/client-disconnect.ts';
import type { Health } from './health/health.ts';
import type { RetryBudget } from './retry/retry-budget.ts';
import type { RoutingTable } from './routing/routing-table.ts';

/** A call under way, as the clock and the shutdown see it. */
export type RunningCall = DeadlineCheck & {
  /** Ends the call from outside: a running stream gets its error event. */
  readonly terminate: (error: GatewayError) => void;
  /** The id of a call with rows in the books to which more may be added; undefined where there are none. */
  readonly bookedInParts?: () => string | undefined;
};

/** What a configuration decides for a call. Read once per call, so that a reload never changes a call under way. */
export type GatewaySettings = CallSettings & { readonly routing: RoutingTable };

/** What the attempts of a call work with, whatever its endpoint. */
export type AttemptServices = {
  readonly settings: () => GatewaySettings;
  readonly journal: Journal;
  readonly clock: Clock;
  /** From 0 up to and not including 1. */
  readonly random: () => number;
  readonly newId: (prefix: string) => string;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  /** The health of the targets that calls go to. */
  readonly health: Health;
  readonly retryBudget: RetryBudget;
  /** Watches the calls under way. */
  readonly deadlines: Deadlines<RunningCall>;
  /** Replies that are read on although their clients have left; absent where none is. */
  readonly drainSlots?: DrainSlots | undefined;
  /** Remembers whose a kept reply is, before its row is in the store. */
  readonly replyOwners: { readonly remember: (entry: CallEntry) => void };
};
