import assert from 'node:assert/strict';

/** One event of a stream of the admin API. */
type ReceivedEvent = { readonly id: string; readonly event: string; readonly data: Readonly<Record<string, unknown>> };

export type OpenEvents = {
  /** The next event that fits; fails if the stream ends before. */
  readonly until: (fits: (event: ReceivedEvent) => boolean) => Promise<ReceivedEvent>;
  /** All further events until the stream ends. */
  readonly all: () => Promise<readonly ReceivedEvent[]>;
  readonly close: () => Promise<void>;
};

/** Opens a stream of events as a page of the console does. Waits for at most 10 s in all. */
export async function openEvents(
  consoleUrl: string,
  cookie: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenEvents> {
  const response = await fetch(`${consoleUrl}${path}`, {
    headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers },
    signal: AbortSignal.timeout(10_000),
  });
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  const events = readEvents(response.body ?? assert.fail('no body'));
  return {
    until: async (fits) => {
      for (let next = await events.next(); next.done !== true; next = await events.next()) if (fits(next.value)) return next.value;
      return assert.fail('the stream ended before');
    },
    all: () => Array.fromAsync(events),
    close: async () => void (await events.return(undefined)),
  };
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ReceivedEvent, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) continue;
      const fields = Object.fromEntries(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      yield { id: fields['id'] ?? '', event: fields['event'] ?? '', data: JSON.parse(fields['data'] ?? '{}') as ReceivedEvent['data'] };
    }
  }
  return undefined;
}
