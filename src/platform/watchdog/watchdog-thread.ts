import { appendFileSync, statSync, writeSync } from 'node:fs';
import { type Debugger, type InspectorNotification, Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';

import { mapBuiltPositions } from '../built-positions.ts';
import { type WatchdogOrder, watchdogPlaces } from './loop-watchdog.ts';

/** The thread that watches the event loop of its process. They share only three numbers. */

/** The most time to find the position of the loop. Native code does not answer. */
const askMsMax = 1500;
const framesMax = 30;
const recordBytesMax = 1024 * 1024;
const writeMsMax = 500;

const { shared, limitMs, tickMs, recordPath, isSilent } = workerData as WatchdogOrder;
const places = new Int32Array(shared);
let lastBeats = 0;
let lastTickMs = performance.now();
let silentMs = 0;
let isEnding = false;

function tick(): void {
  const nowMs = performance.now();
  // Only time in which this thread ran counts: if it was stopped too, the process was stopped or the machine asleep.
  const passedMs = Math.min(nowMs - lastTickMs, 2 * tickMs);
  lastTickMs = nowMs;
  const beats = Atomics.load(places, watchdogPlaces.beats);
  silentMs = beats === lastBeats ? silentMs + passedMs : 0;
  lastBeats = beats;
  Atomics.store(places, watchdogPlaces.silentMs, Math.round(silentMs));
  if (silentMs > Atomics.load(places, watchdogPlaces.longestSilentMs))
    Atomics.store(places, watchdogPlaces.longestSilentMs, Math.round(silentMs));
  if (silentMs < limitMs || isEnding) return;
  isEnding = true;
  void askWhere(beats);
}

/** Reads the main thread's call stack, innermost call first, if it answers in time, and terminates the process. */
async function askWhere(beats: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<readonly string[] | undefined>();
  setTimeout(() => resolve(undefined), askMsMax);
  const session = new Session();
  const urls = new Map<string, string>();
  try {
    session.connectToMainThread();
    session.on('Debugger.scriptParsed', ({ params }: InspectorNotification<Debugger.ScriptParsedEventDataType>) =>
      urls.set(params.scriptId, params.url),
    );
    session.on('Debugger.paused', ({ params }: InspectorNotification<Debugger.PausedEventDataType>) =>
      resolve(params.callFrames.slice(0, framesMax).map((frame) => describeFrame(frame, urls))),
    );
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  } catch {
    // No inspector in this runtime: the blocked loop is still logged.
    resolve(undefined);
  }
  const stack = await promise;
  if (Atomics.load(places, watchdogPlaces.beats) === beats) end(stack);
  // The loop runs again, so the block is over. Leaving the inspector resumes the main thread.
  session.disconnect();
  isEnding = false;
}

function describeFrame({ functionName, location }: Debugger.CallFrame, urls: ReadonlyMap<string, string>): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  return mapBuiltPositions(`${name} (${urls.get(location.scriptId) ?? ''}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1})`);
}

function end(stack: readonly string[] | undefined): void {
  const line = JSON.stringify({
    level: 60,
    time: new Date().toISOString(),
    silentMs: Math.round(silentMs),
    stack: stack ?? 'in native code, or not known',
    msg: 'event loop was blocked, process terminated',
  });
  record(line);
  if (!isSilent) write(`${line}\n`);
  process.kill(process.pid, 'SIGKILL');
}

function record(line: string): void {
  if (recordPath === undefined) return;
  try {
    const bytes = statSync(recordPath, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes < recordBytesMax) appendFileSync(recordPath, `${line}\n`, { mode: 0o600 });
  } catch {
    // A full disk must not prevent the termination.
  }
}

/** Writes the whole text synchronously, because the process ends next. */
function write(text: string): void {
  const untilMs = performance.now() + writeMsMax;
  let left = Buffer.from(text);
  while (left.length > 0 && performance.now() < untilMs) {
    try {
      left = left.subarray(writeSync(2, left));
    } catch (error) {
      // The reader is blocked at the moment.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
    }
  }
}

setInterval(tick, tickMs);
