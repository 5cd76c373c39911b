import type { Clock } from '../../platform/clock.ts';
import { wentWrong, writeCallLine, writeTerminalLine } from './call-line.ts';
import type { EndedCall } from './call-report.ts';
import type { CallSink } from './call-sink.ts';

/** What may be written; `silent` is nothing. */
export type CallLogLevel = 'info' | 'warn' | 'silent';

/** A crowd that is refused must not fill the disk: so many of its lines are written at once, and then so many a second. */
const refusedLinesBurst = 100;
const refusedLinesPerSecond = 20;

/**
 * Writes one line for each call. Refusals have a bounded number of lines; how many were left out stands on the next line there is. A call that was sent
 * to an upstream has always its line.
 */
export function createCallLog(options: {
  readonly write: (lines: string) => void;
  readonly level: CallLogLevel;
  readonly forTerminal: boolean;
  readonly clock: Clock;
}): CallSink {
  const { write, level, clock } = options;
  const writeLine = options.forTerminal ? writeTerminalLine : writeCallLine;
  let allowed = refusedLinesBurst;
  let countedMs = clock.monotonicMs();
  let suppressed = 0;

  const mayRefuse = (nowMs: number): boolean => {
    allowed = Math.min(refusedLinesBurst, allowed + ((nowMs - countedMs) / 1000) * refusedLinesPerSecond);
    countedMs = nowMs;
    if (allowed < 1) return false;
    allowed -= 1;
    return true;
  };
  const isWanted = (call: EndedCall, monotonicMs: number): boolean => {
    if (level === 'silent' || (level === 'warn' && !wentWrong(call))) return false;
    if (call.end !== 'refused' || mayRefuse(monotonicMs)) return true;
    suppressed += 1;
    return false;
  };
  return {
    callsEnded: (calls) => {
      const nowMs = clock.nowMs();
      const monotonicMs = clock.monotonicMs();
      let lines = '';
      for (const call of calls) {
        if (!isWanted(call, monotonicMs)) continue;
        lines += `${writeLine(call, nowMs, suppressed)}\n`;
        suppressed = 0;
      }
      if (lines !== '') write(lines);
    },
  };
}
