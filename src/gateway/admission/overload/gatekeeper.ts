import type { IncomingMessage } from 'node:http';

import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import { createProcessWatch, type LoopGauge, type MemoryGauge, type ProcessState, stepMs } from './process-watch.ts';
import { createConnectionPacer } from './connection-pacer.ts';
import { type AdmitResult, FairGate, type GateBounds, type GateCounts } from './fair-gate.ts';
import type { OverloadSettings } from '../../settings/limits.ts';

/** Admits as many calls as the process can serve, and shares the places between tenants if there are too few. */
export type Gatekeeper = {
  /**
   * Admits a call of a tenant, or refuses it. Normally at once and without a promise; a call waits at most `waitMs`.
   * @param bytes size of the call's body, or its upper bound
   * @param hasLeft whether the client disconnected meanwhile
   */
  readonly admit: (tenantId: string, bytes: number, hasLeft: () => boolean) => AdmitResult;
  /**
   * The whole seconds after which a refused call should be sent again. They vary, so that refused calls do not return
   * together.
   */
  readonly retryAfterSeconds: () => number;
  /** Whether connections should end with their answers, because memory is short. */
  readonly closesConnections: () => boolean;
  /**
   * Reports a request that was refused here, or because of its key. If there are many, their connections are read more
   * slowly.
   */
  readonly wasRefused: (request: IncomingMessage, bodyBytes: number) => void;
  /** The present values, for monitoring. */
  readonly state: () => GateState;
  readonly close: () => void;
};

export type GateState = GateCounts &
  ProcessState & {
    /** How long connections of refused requests are not read, in milliseconds. */
    readonly restMs: number;
  };

/** The state of a gate without calls. */
export const idleGate: GateState = {
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

/** Spare places for tenants below their share, as a part of the shared places. */
const spareShare = 0.1;
/** As many calls may wait as end in this time. More would be refused later instead of at once. */
const queueMs = 20;
const retryAfterMaxSeconds = 8;

/** Watches the process until `close`. */
export function createGatekeeper(options: GatekeeperOptions): Gatekeeper {
  const { settings, clock } = options;
  const process = createProcessWatch(options);
  const pacer = createConnectionPacer(options);
  let waitTimer: NodeJS.Timeout | undefined;
  /** The seconds over which refused calls are spread, and the number of refusals so far. */
  let spreadSeconds = 1;
  let refusals = 0;

  const gate = new FairGate({
    nowMs: clock.monotonicMs,
    wakeAfter: (ms) => {
      // One timer suffices: the oldest call has the first deadline, and the next timer is set then.
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
    retryAfterSeconds: () => 1 + (refusals++ % spreadSeconds),
    closesConnections: process.isMemoryTight,
    wasRefused: pacer.rest,
    state: () => ({ ...gate.counts(), ...process.state(), restMs: pacer.restMs() }),
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
    // If too many calls run, tenants below their share must not suffer from it.
    spareCalls: Math.min(callsMax - calls, Math.ceil(calls * spareShare) + Math.max(0, inFlight - calls)),
    bytes: requestBytesInFlightMax,
    waiting: Math.floor((endedPerSecond * queueMs) / 1000),
    waitMs,
  };
}
