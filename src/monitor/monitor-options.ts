import type { StatisticsScope } from '../billing/statistics/statistics.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { type HealthCheck } from './health.ts';
import type { Answers } from './answers/answers.ts';

export type MonitorLimits = {
  readonly bodyBytesMax: number;
  /** For a request to arrive in full. */
  readonly requestMsMax: number;
  readonly authenticateMsMax: number;
  readonly healthMsMax: number;
  /** For the first records to be there, the wait in line included. */
  readonly queryMsMax: number;
  /** Answers being made or sent at once, since each takes some memory and a connection; and how many requests may wait in line. */
  readonly answersMax: number;
  readonly waitingMax: number;
  /** Without a byte read by the client. */
  readonly idleMsMax: number;
  /** For an answer to be sent, from its first byte to its last. */
  readonly answerMsMax: number;
  /** Calls that one answer may list one by one. */
  readonly detailCallsMax: number;
};

export type MonitorOptions = {
  readonly answers: Answers;
  /**
   * Whose calls a billing token may see; undefined for a token that is not valid; `unavailable` when nobody can say at the moment; a time to wait when the token or the address asks too
   * often.
   */
  readonly authenticate: (
    token: string,
    signal: AbortSignal,
    address: string,
  ) => Promise<StatisticsScope | undefined | 'unavailable' | { readonly retryAfterSeconds: number; readonly message: string }>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly health: HealthCheck;
  readonly limits?: MonitorLimits;
};
