import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import type { Clock } from '../../../platform/clock.ts';

/**
 * Keeps refusals from becoming the load, because refusing a small call costs a quarter of serving it. If too many calls
 * are refused in a second, refused connections are not read for a while. Their data waits in the kernel at no cost, and
 * is answered afterwards.
 */
export type ConnectionPacer = {
  /** Pauses the connection of a refused request after this turn of the event loop, if too many are refused. */
  readonly rest: (request: IncomingMessage, bodyBytes: number) => void;
  /** Sets the length of pauses by the refusals of these seconds. */
  readonly adjust: (seconds: number) => void;
  /** Milliseconds; normally 0. */
  readonly restMs: () => number;
  readonly close: () => void;
};

/** About a tenth of the process at 25 µs each. */
const refusalsPerSecondMax = 4000;
/** Reading and dropping this much of a body costs as much as a refusal. */
const bytesPerRefusal = 16 * 1024;
const restMinMs = 50;
const restMaxMs = 1000;
const tickMs = 25;
/** Pauses vary from half to one and a half of their length, so that connections do not return together. */
const spread = 16;

export function createConnectionPacer({ clock }: { readonly clock: Clock }): ConnectionPacer {
  let restMs = 0;
  let refusals = 0;
  let rests = 0;
  /** The refused requests of this turn. */
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

  /** Runs after the parser has handled its input. The rest of a body is read and dropped after the pause. */
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
