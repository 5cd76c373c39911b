import assert from 'node:assert/strict';
import { test } from 'node:test';

import { systemClock } from '../../../../platform/clock.ts';
import { StreamEvent } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { textOf } from '../../../../platform/json/json-readers.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import type { BackgroundRun } from './background-run.ts';
import { type BackgroundRuns, createBackgroundRuns } from './background-runs.ts';
import { cancelResponse } from './cancel-response.ts';
import { createEventSource } from './event-source.ts';
import { FakeStore } from './testing/fake-store.ts';

const userName = 'alice';
const quiet = { warn: () => {}, error: () => {} };
const head = { 'content-type': 'text/event-stream' };
const upstreamResponse = { id: 'resp_upstream', object: 'response', status: 'in_progress', background: false, output: [], model: 'm' };
const part = { type: 'output_text', text: '', annotations: [] };

type Fixture = { readonly store: FakeStore; readonly runs: BackgroundRuns; readonly run: BackgroundRun; readonly id: string };

async function begin(store = new FakeStore(systemClock.nowMs)): Promise<Fixture> {
  const runs = createBackgroundRuns({ conversations: store, clock: systemClock, logger: quiet });
  const id = 'resp_1';
  const createdAtMs = systemClock.nowMs();
  const record = { id, userName, keyId: 'key_1', createdAtMs, expiresAtMs: createdAtMs + 1e9, input: [] };
  const queued = { ...upstreamResponse, id, status: 'queued', background: true, created_at: 5, previous_response_id: null, store: true };
  const run = await runs.begin({ record, queued });
  return { store, runs, run, id };
}

const eventOf = (event: JsonObject): StreamEvent => new StreamEvent(textOf(event['type']), JSON.stringify(event));

function say(run: BackgroundRun, ...events: readonly JsonObject[]): void {
  if (!run.reply.headersSent) run.reply.writeHead(200, head);
  for (const event of events) run.reply.takeEvents([eventOf(event)]);
}

const opening: readonly JsonObject[] = [
  { type: 'response.created', sequence_number: 0, response: upstreamResponse },
  { type: 'response.in_progress', sequence_number: 1, response: upstreamResponse },
  {
    type: 'response.output_item.added',
    sequence_number: 2,
    output_index: 0,
    item: { id: 'msg_1', type: 'message', status: 'in_progress', content: [] },
  },
  { type: 'response.content_part.added', sequence_number: 3, item_id: 'msg_1', output_index: 0, content_index: 0, part },
];
const delta = (text: string): JsonObject => ({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: text });
const message = { id: 'msg_1', type: 'message', status: 'completed', content: [{ ...part, text: 'Hello' }] };
const completed: JsonObject = { type: 'response.completed', response: { ...upstreamResponse, status: 'completed', output: [message] } };

async function follow({ runs, id }: Pick<Fixture, 'runs' | 'id'>, after = -1): Promise<readonly JsonObject[]> {
  const source = createEventSource(runs, { userName, id });
  const all: JsonObject[] = [];
  for (;;) {
    const { events, ended } = await source.next(after + all.length, AbortSignal.timeout(30_000));
    all.push(...events.map((event) => parseJsonObject(event) ?? {}));
    if (ended) return all;
  }
}

const typesOf = (events: readonly JsonObject[]): readonly unknown[] => events.map(({ type }) => type);
const statusOf = ({ store, id }: Fixture): string | undefined => store.responses.get(id)?.status;

test('a response is stored as queued before its client receives it, and its end is stored before the last event is sent', async () => {
  const bench = await begin();
  assert.deepEqual([bench.store.writes[0], statusOf(bench)], ['queued', 'queued']);
  const following = follow(bench);
  say(bench.run, ...opening, delta('Hello'), completed);
  bench.run.reply.end();
  const events = await following;
  assert.equal(statusOf(bench), 'completed');
  assert.deepEqual(typesOf(events), [
    'response.created',
    'response.queued',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.completed',
  ]);
  assert.deepEqual(
    events.map((event) => event['sequence_number']),
    events.map((_, index) => index),
  );
  const { response } = events.at(-1) as { response: JsonObject };
  assert.deepEqual([response['id'], response['background'], response['status'], response['created_at']], ['resp_1', true, 'completed', 5]);
  assert.deepEqual(bench.store.responses.get('resp_1')?.response, response);
  // The store returns the same events, from any position.
  await bench.run.over;
  assert.equal(bench.runs.find(userName, 'resp_1'), undefined);
  assert.deepEqual(await follow(bench), events);
  for (const after of [0, 3, 5, 6, 7, 99]) assert.deepEqual(await follow(bench, after), events.slice(after + 1));
});

test('a cancellation keeps the output so far, ends the call, and can be repeated', async () => {
  const bench = await begin();
  let closed = false;
  bench.run.reply.on('close', () => (closed = true));
  say(bench.run, ...opening, delta('Hel'), delta('lo'));
  const cancelled = await cancelResponse(bench.runs, userName, bench.id);
  assert.equal(cancelled['status'], 'cancelled');
  assert.deepEqual(cancelled['output'], [{ id: 'msg_1', type: 'message', status: 'incomplete', content: [{ ...part, text: 'Hello' }] }]);
  assert.deepEqual(await cancelResponse(bench.runs, userName, bench.id), cancelled);
  assert.equal(typesOf(await follow(bench)).at(-1), 'response.cancelled');
  await new Promise(setImmediate);
  assert.equal(closed, true);
});

test('only a running background response of the caller can be cancelled', async () => {
  const bench = await begin();
  const refused = (user: string, id: string, code: string, pattern: RegExp) =>
    assert.rejects(
      cancelResponse(bench.runs, user, id),
      (error: Error & { code: string }) => error.code === code && pattern.test(error.message),
    );
  await refused('bob', bench.id, 'object_not_found', /^Response with id 'resp_1' not found\.$/);
  await refused(userName, 'resp_2', 'object_not_found', /^Response with id 'resp_2' not found\.$/);
  say(bench.run, ...opening, completed);
  await bench.run.over;
  await refused(userName, bench.id, 'invalid_value', /^Cannot cancel a completed response\.$/);
  const stored = bench.store.responses.get(bench.id);
  assert.ok(stored);
  bench.store.responses.set('resp_3', { ...stored, id: 'resp_3', response: { ...stored.response, background: false } });
  await refused(userName, 'resp_3', 'invalid_value', /^Cannot cancel a synchronous response/);
});

test('a cancellation by another process is noticed at the next renewal of the lease, and is not overwritten', async () => {
  const store = new FakeStore(systemClock.nowMs);
  const bench = await begin(store);
  say(bench.run, ...opening, delta('Hel'));
  const other = createBackgroundRuns({ conversations: store, clock: systemClock, logger: quiet });
  while ((store.events.get(bench.id)?.length ?? 0) < 6) await new Promise((resolve) => setTimeout(resolve, 10));
  const cancelled = await cancelResponse(other, userName, bench.id);
  assert.deepEqual((cancelled['output'] as JsonObject[])[0]?.['content'], [{ ...part, text: 'Hel' }]);
  say(bench.run, delta('lo'), completed);
  await bench.run.over;
  assert.equal(bench.run.isLost, true);
  assert.equal(statusOf(bench), 'cancelled');
  assert.equal(typesOf(await follow(bench)).at(-1), 'response.cancelled');
});

for (const [name, end, error] of [
  [
    'a refusal in HTTP',
    (run: BackgroundRun) => {
      run.reply.writeHead(429, ['content-type', 'application/json']);
      run.reply.end(JSON.stringify({ error: { message: 'Slow down.', code: 'rate_limit_exceeded' } }), 'latin1');
    },
    { code: 'rate_limit_exceeded', message: 'Slow down.' },
  ],
  [
    'a reply that ends in its middle',
    (run: BackgroundRun) => {
      say(run, ...opening, delta('Hel'));
      run.reply.end();
    },
    { code: 'server_error', message: 'The reply ended before the response did.' },
  ],
  [
    'the event of a failure',
    (run: BackgroundRun) =>
      say(run, ...opening, delta('Hel'), {
        type: 'response.failed',
        response: { object: 'response', status: 'failed', output: [], error: { code: 'server_error', message: 'Broken.' } },
      }),
    { code: 'server_error', message: 'Broken.' },
  ],
] as const) {
  test(`${name} results in a failed response with a reason`, async () => {
    const bench = await begin();
    end(bench.run);
    await bench.run.over;
    const stored = bench.store.responses.get(bench.id);
    assert.equal(stored?.status, 'failed');
    assert.deepEqual(stored?.response['error'], error);
    assert.equal(stored?.response['id'], bench.id);
    assert.equal(typesOf(await follow(bench)).at(-1), 'response.failed');
  });
}

test('a run whose process dies is failed when its lease has expired, also for its followers', async () => {
  let nowMs = systemClock.nowMs();
  const store = new FakeStore(() => nowMs);
  const bench = await begin(store);
  say(bench.run, ...opening, delta('Hel'));
  while ((store.events.get(bench.id)?.length ?? 0) < 6) await new Promise((resolve) => setTimeout(resolve, 10));
  const elsewhere = { runs: createBackgroundRuns({ conversations: store, clock: systemClock, logger: quiet }), id: bench.id };
  // Later than any time that the steps above can take.
  nowMs += 3_600_000;
  const events = await follow(elsewhere);
  assert.equal(typesOf(events).at(-1), 'response.failed');
  assert.equal(events.at(-1)?.['sequence_number'], 6);
  assert.deepEqual(typesOf(await follow(elsewhere, 5)), ['response.failed']);
  assert.deepEqual(await follow(elsewhere, 6), []);
  store.responses.delete(bench.id);
  await bench.run.abort('server_error', 'The test is over.');
});

test('at shutdown, runs have a grace period, and the rest fails with a reason', async () => {
  const bench = await begin();
  say(bench.run, ...opening, delta('Hel'));
  await bench.runs.end(20);
  const stored = bench.store.responses.get(bench.id);
  assert.equal(stored?.status, 'failed');
  assert.match(JSON.stringify(stored?.response['error']), /shut down/);
});

test('a short failure of the store loses no event, and applies back-pressure to the upstream', async () => {
  const bench = await begin();
  bench.store.isDown = true;
  say(bench.run, ...opening);
  const long = 'x'.repeat(512 * 1024);
  let accepted = 0;
  while (accepted < 20 && bench.run.reply.takeEvents([eventOf(delta(long))])) accepted += 1;
  assert.ok(accepted < 10, `${accepted} times 512 KiB were accepted`);
  const drained = new Promise<void>((resolve) => bench.run.reply.once('drain', resolve));
  bench.store.isDown = false;
  await drained;
  say(bench.run, completed);
  await bench.run.over;
  assert.equal(statusOf(bench), 'completed');
  // The last event was stored too, although it returned false.
  assert.equal(bench.store.events.get(bench.id)?.length, 7 + accepted);
});
