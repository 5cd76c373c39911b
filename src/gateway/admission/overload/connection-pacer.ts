import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { Clock } from '../../../platform/clock.ts';

/**
 * Keeps refusals from becoming the load: refusing a small call costs a quarter of serving it. When more are refused in a second than that is worth, connections that
 * were just refused are not read for a while. What their clients send meanwhile waits in the kernel, which costs nothing, and is answered then.
 */
export type ConnectionPacer = {
  /** Lets the connection of a refused request rest, if that is called for, after this turn. */
  readonly rest: (request: IncomingMessage, bodyBytes: number) => void;
  /** Sets for how long connections rest, by what was refused in these seconds. */
  readonly adjust: (seconds: number) => void;
  /** Milliseconds; 0 normally. */
  readonly restMs: () => number;
  readonly close: () => void;
};

/** About a tenth of the process at 25 µs each. */
const refusalsPerSecondMax = 4000;
/** Reading so much of a body, to throw it away, costs as much again. */
const bytesPerRefusal = 16 * 1024;
const restMinMs = 50;
const restMaxMs = 1000;
const tickMs = 25;
/** Rests are between half and one and a half times as long as said, so that connections do not come back together. */
const spread = 16;

export function createConnectionPacer({ clock }: { readonly clock: Clock }): ConnectionPacer {
  let restMs = 0;
  let refusals = 0;
  let rests = 0;
  /** Of this turn. */
  let refused: IncomingMessage[] = [];
  let resting: { readonly socket: Socket; readonly untilMs: number }[] = [];
  let timer: NodeJS.Timeout | undefined;

  function wakeUp(): void {
    const nowMs = clock.monotonicMs();
    const isOver = ({ untilMs }: { readonly untilMs: number }): boolean => untilMs <= nowMs;
    for (const entry of resting) if (isOver(entry)) entry.socket.resume();
    resting = resting.filter((entry) => !isOver(entry));
    timer = resting.length === 0 ? undefined : setTimeout(wakeUp, tickMs).unref();
  }

  /** Once the parser is through with what it was given. What is still to come of a body is read and thrown away after the rest. */
  function pauseRefused(): void {
    for (const { socket } of refused) if (!socket.destroyed) pause(socket);
    refused = [];
    if (resting.length > 0) timer ??= setTimeout(wakeUp, tickMs).unref();
  }

  function pause(socket: Socket): void {
    socket.pause();
    rests += 1;
    resting.push({ socket, untilMs: clock.monotonicMs() + restMs * (0.5 + (rests % spread) / spread) });
  }

  return {
    adjust: (seconds) => {
      if (refusals > refusalsPerSecondMax * seconds) restMs = Math.min(restMaxMs, Math.max(restMinMs, restMs * 2));
      else restMs = restMs < restMinMs ? 0 : restMs * 0.9;
      refusals = 0;
    },
    rest: (request, bodyBytes) => {
      refusals += 1 + bodyBytes / bytesPerRefusal;
      if (restMs === 0) return;
      if (refused.length === 0) setImmediate(pauseRefused);
      refused.push(request);
    },
    restMs: () => restMs,
    close: () => {
      clearTimeout(timer);
      for (const { socket } of resting) socket.resume();
      resting = [];
    },
  };
}
