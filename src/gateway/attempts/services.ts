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

/** A running call, as the deadline timer and the shutdown see it. */
export type RunningCall = DeadlineCheck & {
  /** Ends the call from outside: a running stream receives its error event. */
  readonly terminate: (error: GatewayError) => void;
  /** The id of a call whose rows in the books may still grow in number. Undefined if there are none. */
  readonly bookedInParts?: () => string | undefined;
};

/** The decisions of a configuration for a call. Read once per call, so that a reload never changes a running call. */
export type GatewaySettings = CallSettings & { readonly routing: RoutingTable };

/** The services that the attempts of every endpoint use. */
export type AttemptServices = {
  readonly settings: () => GatewaySettings;
  readonly journal: Journal;
  readonly clock: Clock;
  /** From 0 up to and not including 1. */
  readonly random: () => number;
  readonly newId: (prefix: string) => string;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly health: Health;
  readonly retryBudget: RetryBudget;
  /** The running calls, checked by a timer. */
  readonly deadlines: Deadlines<RunningCall>;
  /** Replies that are read to the end after their clients disconnected. Absent if there are none. */
  readonly drainSlots?: DrainSlots | undefined;
  /** Remembers the owner of a stored reply until its row is in the store. */
  readonly replyOwners: { readonly remember: (entry: CallEntry) => void };
};
