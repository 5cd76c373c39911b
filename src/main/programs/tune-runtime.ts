import { flushCompileCache } from 'node:module';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Longer than a start takes. Until then the heap is too small to be collected as a whole. */
const settledAfterMs = 3000;
/** How often it is checked whether the process is idle. */
const idleTickMs = 1000;
/** The part of a second that an idle process works. */
const idleShareMax = 0.05;
/**
 * After this much work, its start included, the process has compiled code of calls, which the collection would throw
 * away. A start takes a third of a second, on a slow machine a whole one.
 */
const workedMsMax = 1500;
/** How long V8 waits before it returns memory, if the process is idle then. Its default is 8 s. */
const reduceAfterMs = 10 * 60 * 1000;

/**
 * Tunes V8 for a gateway that runs for long:
 *
 * - The heap grows to four times its live size before a full collection. V8 takes this factor by itself while only
 *   small calls are made, and a lower one with large bodies. Then this setting saves an eighth of the cost of a call.
 * - The garbage of the start is collected once, when the process is idle: about 25 MB, which V8 would keep for as long
 *   as little is allocated.
 * - V8 itself returns memory only after ten minutes. Its collection for that also throws away compiled code whose
 *   objects are all gone, as between two bursts of calls. The next 30,000 calls cost nearly twice as much.
 *
 * All of them come after the start, because V8 refuses code that was compiled with other flags: the parts of the
 * runtime that are loaded after it, in threads too, are compiled again. For the same reason the compiled code of the
 * start is stored before it, and not at the end, for the next start.
 */
export function tuneRuntime(): void {
  const atStart = performance.eventLoopUtilization();
  setTimeout(() => {
    flushCompileCache();
    setFlagsFromString('--heap-growing-percent=300');
    setFlagsFromString(`--memory-reducer-delay-ms=${reduceAfterMs}`);
    collectWhenIdle(atStart);
  }, settledAfterMs).unref();
}

/**
 * The collection takes some 50 ms, and calls cost twice as much after it until their code is compiled again. So a
 * process that is busy from its start makes none.
 */
function collectWhenIdle(atStart: EventLoopUtilization): void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const isIdle = performance.eventLoopUtilization(before).utilization <= idleShareMax;
    const isWarm = performance.eventLoopUtilization(atStart).active > workedMsMax;
    before = performance.eventLoopUtilization();
    if (!isIdle && !isWarm) return;
    clearInterval(timer);
    if (!isWarm) collectGarbage();
  }, idleTickMs).unref();
}

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** Node has no other way to its collector. This flavor also returns the memory of the young heap. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
