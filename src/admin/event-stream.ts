import { setTimeout as delay } from 'node:timers/promises';

/** One server-sent event. */
export type ServerEvent = {
  /** What a client sends back as `Last-Event-ID` to go on after this event. */
  readonly id: string;
  readonly event: string;
  /** JSON data. Streams that send the same object have it encoded once, so that it must not change. */
  readonly data: object;
};

/** A connection without bytes for a minute is closed, so that a silent stream says something before. */
const quietMsMax = 15_000;

/**
 * Writes events as a stream of `text/event-stream`, with a comment whenever nothing has happened for a while. It ends
 * with the events, or when `ending` aborts: then a client connects again, to another process or after the restart.
 */
async function* encodeEvents(events: AsyncIterable<ServerEvent>, ending: AbortSignal): AsyncGenerator<string> {
  const source = events[Symbol.asyncIterator]();
  const ended = new AbortController();
  const stopped = new Promise<'stopped'>((resolve) => {
    if (ending.aborted) resolve('stopped');
    else ending.addEventListener('abort', () => resolve('stopped'), { signal: ended.signal });
  });
  // A source that fails because of the end has ended.
  const advance = (): Promise<IteratorResult<ServerEvent>> =>
    source.next().catch((error: unknown) => {
      if (ending.aborted) return { done: true, value: undefined };
      throw error;
    });
  try {
    // The headers leave with the first bytes: a client knows at once that it is connected.
    yield ': connected\n\n';
    let next = advance();
    for (;;) {
      const pause = new AbortController();
      const quiet = delay(quietMsMax, 'quiet' as const, { signal: pause.signal, ref: false }).catch(() => 'quiet' as const);
      const first = await Promise.race([next, quiet, stopped]);
      pause.abort();
      if (first === 'stopped') return;
      if (first === 'quiet') {
        yield ': quiet\n\n';
        continue;
      }
      if (first.done === true) return;
      const { id, event, data } = first.value;
      yield `id: ${id}\nevent: ${event}\ndata: ${textOf(data)}\n\n`;
      next = advance();
    }
  } finally {
    ended.abort();
    // Not awaited: a generator that waits for the store returns when the store has answered.
    void source.return?.();
  }
}

const texts = new WeakMap<object, string>();
const textOf = (data: object): string => texts.getOrInsertComputed(data, JSON.stringify);

/** Answers a request with events. */
export function answerEvents(
  events: AsyncIterable<ServerEvent>,
  ending: AbortSignal,
): { readonly stream: AsyncIterable<string>; readonly contentType: string; readonly headers: Readonly<Record<string, string>> } {
  // A proxy that buffers would hold events back.
  return { stream: encodeEvents(events, ending), contentType: 'text/event-stream', headers: { 'x-accel-buffering': 'no' } };
}
