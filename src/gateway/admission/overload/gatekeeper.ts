import type { IncomingMessage } from 'node:http';

import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import { createProcessWatch, type LoopGauge, type MemoryGauge, type ProcessStanding, stepMs } from './process-watch.ts';
import { createConnectionPacer } from './connection-pacer.ts';
import { type AdmitResult, FairGate, type GateBounds, type GateCounts } from './fair-gate.ts';
import type { OverloadSettings } from '../../settings/limits.ts';

/** Lets as many calls in as the process can serve, and shares the places between tenants when there are too few. */
export type Gatekeeper = {
  /**
   * Admits a call of a tenant, or refuses it. Normally at once and without a promise; a call that waits does so for `waitMs` at most.
   * @param bytes size of the call's body, or the most that it may have
   * @param hasLeft whether the client went away meanwhile
   */
  readonly admit: (tenantId: string, bytes: number, hasLeft: () => boolean) => AdmitResult;
  /** After how many whole seconds a refused call should be sent again. Not the same for all, so that they do not come back together. */
  readonly retryAfterSeconds: () => number;
  /** Whether connections should end with their answers, because memory is short. */
  readonly closesConnections: () => boolean;
  /** To be told of every request that was refused here or for want of a key: when they become many, their connections are read more slowly. */
  readonly wasRefused: (request: IncomingMessage, bodyBytes: number) => void;
  /** For those who watch the process. */
  readonly standing: () => GateStanding;
  readonly close: () => void;
};

export type GateStanding = GateCounts &
  ProcessStanding & {
    /** For how long connections of refused requests are not read, in milliseconds. */
    readonly restMs: number;
  };

/** Where a gate stands that has nothing to do. */
export const idleGate: GateStanding = {
  inFlight: 0,
  waiting: 0,
  bytes: 0,
  tenants: 0,
  admitted: 0,
  refused: 0,
  delayed: 0,
  turnMs: 0,
  workMs: 0,
  busyShare: 0,
  memoryShare: 0,
  limit: undefined,
  restMs: 0,
};

export type GatekeeperOptions = {
  readonly settings: () => OverloadSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readLoop: LoopGauge;
  readonly readMemoryShare: MemoryGauge;
};

/** Places for tenants that have less than their share, for each that all share. */
const spareShare = 0.1;
/** As many calls may wait as end in this time: more would only be refused later instead of at once. */
const queueMs = 20;
const retryAfterMaxSeconds = 8;

/** Starts to watch the process, until `close`. */
export function createGatekeeper(options: GatekeeperOptions): Gatekeeper {
  const { settings, clock } = options;
  const process = createProcessWatch(options);
  const pacer = createConnectionPacer(options);
  let waitTimer: NodeJS.Timeout | undefined;
  /** Seconds over which refused calls are told to spread, and how many have been told. */
  let spreadSeconds = 1;
  let told = 0;

  const gate = new FairGate({
    nowMs: clock.monotonicMs,
    wakeAfter: (ms) => {
      // One timer is enough: whoever waits longest has the first deadline, and at that time the next is set.
      waitTimer ??= setTimeout(() => {
        waitTimer = undefined;
        gate.expire();
      }, ms).unref();
    },
    bounds: boundsFor(settings(), undefined, 0, 0),
  });
  let last = { ...gate.counts(), atMs: clock.monotonicMs() };

  function step(): void {
    const configured = settings();
    const now = { ...gate.counts(), atMs: clock.monotonicMs() };
    const admitted = now.admitted - last.admitted;
    const refused = now.refused - last.refused;
    const wasFelt = refused + now.delayed - last.delayed > 0;
    const limit = process.step({ inFlight: now.inFlight, admitted, refused, wasFelt }, configured.loopDelayMs);
    const seconds = Math.max(0.001, (now.atMs - last.atMs) / 1000);
    const ended = admitted - (now.inFlight - last.inFlight);
    gate.setBounds(boundsFor(configured, limit, now.inFlight, ended / seconds));
    pacer.adjust(seconds);
    spreadSeconds = Math.min(retryAfterMaxSeconds, 1 + Math.floor(refused / Math.max(1, admitted)));
    last = now;
  }

  const stepTimer = setInterval(step, stepMs).unref();
  return {
    admit: (tenantId, bytes, hasLeft) => gate.admit(tenantId, bytes, hasLeft),
    retryAfterSeconds: () => 1 + (told++ % spreadSeconds),
    closesConnections: process.isMemoryTight,
    wasRefused: pacer.rest,
    standing: () => ({ ...gate.counts(), ...process.standing(), restMs: pacer.restMs() }),
    close: () => {
      pacer.close();
      clearInterval(stepTimer);
      clearTimeout(waitTimer);
    },
  };
}

function boundsFor(settings: OverloadSettings, limit: number | undefined, inFlight: number, endedPerSecond: number): GateBounds {
  const { callsMax, requestBytesInFlightMax, waitMs } = settings;
  const callsOfAll = Math.round(callsMax / (1 + spareShare));
  const calls = Math.min(limit ?? Infinity, callsOfAll);
  return {
    calls,
    // Where more are under way than there should be, that is not for those to bear who have less than their share.
    spareCalls: Math.min(callsMax - calls, Math.ceil(calls * spareShare) + Math.max(0, inFlight - calls)),
    bytes: requestBytesInFlightMax,
    waiting: Math.floor((endedPerSecond * queueMs) / 1000),
    waitMs,
  };
}
