import type { StatisticsScope } from '../billing/statistics/statistics.ts';
import type { Clock } from '../platform/clock.ts';
import type { ProxyTest } from '../platform/http/client-address.ts';
import type { Logger } from '../platform/log.ts';
import { type HealthCheck } from './health.ts';
import type { Answers } from './answers/answers.ts';

export type MonitorLimits = {
  readonly bodyBytesMax: number;
  /** The time for a request to arrive completely. */
  readonly requestMsMax: number;
  readonly authenticateMsMax: number;
  readonly healthMsMax: number;
  /** The time until the first records exist, the wait for a slot included. */
  readonly queryMsMax: number;
  /**
   * Answers that are made or sent at once, because each needs memory and a connection; and requests that may wait for a
   * slot.
   */
  readonly answersMax: number;
  readonly waitingMax: number;
  /** The time in which the client must read at least one byte. */
  readonly idleMsMax: number;
  /** The time to send an answer, from its first byte to its last. */
  readonly answerMsMax: number;
  /** The most calls that one answer may list. */
  readonly detailCallsMax: number;
};

export type MonitorOptions = {
  readonly answers: Answers;
  /**
   * The calls that a billing token may see; undefined if the token is not valid; `unavailable` if tokens cannot be
   * checked at the moment; a time to wait if the token or the address sends too many requests.
   */
  readonly authenticate: (
    token: string,
    signal: AbortSignal,
    address: string,
  ) => Promise<StatisticsScope | undefined | 'unavailable' | { readonly retryAfterSeconds: number; readonly message: string }>;
  /** The proxies whose `X-Forwarded-For` names the client. Absent: none. */
  readonly isProxy?: ProxyTest | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly health: HealthCheck;
  readonly limits?: MonitorLimits;
};
