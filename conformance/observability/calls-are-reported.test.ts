import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { alertQueries } from '../../checks/dashboards/alert-rules.ts';
import { dashboards } from '../../checks/dashboards/observability-files.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import { usdDecimal } from '../../src/billing/statistics/usd-decimal.ts';
import { errorCodes } from '../../src/inference/gateway-error.ts';
import { readExposition, sumSamples } from '../../src/platform/metrics/testing/read-exposition.ts';
import { openLedger } from '../support/read-ledger.ts';
import { call, eventually, post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { openCall } from '../support/open-call.ts';
import { type Collector, startCollector } from '../support/start-collector.ts';
import { type SimulatedWeir, startSimulatedWeir } from '../support/start-simulated-weir.ts';

import { findMissingSeries } from './find-missing-series.ts';

type Line = Readonly<Record<string, unknown>>;

let collector: Collector;
let simulated: SimulatedWeir;
/** The ids of all calls whose clients received them. */
const known: string[] = [];
let withoutId = 0;

const traceOf = (index: number): string => index.toString(16).padStart(32, 'a');
const clientSpan = 'b7ad6b7169203331';
let traces = 0;

before(async () => {
  collector = await startCollector();
  simulated = await startSimulatedWeir({
    timeouts: { firstByteMs: 2000, idleMs: 2000 },
    weir: {
      environment: {
        WEIR_LOG_LEVEL: 'info',
        WEIR_METRICS_PORT: '0',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        // A batch whose answer is late would be sent again.
        OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
      },
    },
  });
  await makeCalls();
});
after(async () => {
  await simulated[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
});

const faults = [
  '',
  'status;status=500',
  'status;status=429',
  'refuse',
  'stall-before-headers',
  'truncate;how=end;after=3',
  'stall-mid-stream;after=3',
];

function send(path: string, body: unknown, headers: Readonly<Record<string, string>>): ReturnType<typeof openCall> {
  return openCall(`${simulated.weir.gatewayUrl}${path}`, {
    headers: { 'x-api-key': simulated.weir.apiKey, 'user-agent': 'suite/1', ...headers },
    body: JSON.stringify(body),
  });
}

/** Calls of every kind and with every end. */
async function makeCalls(): Promise<void> {
  const traced = (): Record<string, string> => ({ traceparent: `00-${traceOf(traces++)}-${clientSpan}-01`, tracestate: 'suite=1' });
  const note = (reply: { headers: Readonly<Record<string, unknown>> }): void => {
    const id = reply.headers['x-weir-request-id'];
    if (typeof id === 'string') known.push(id);
    else withoutId += 1;
  };
  /** All calls of one interface. Most of them wait for a time-out, so the interfaces run at the same time. */
  const makeCallsOf = async (api: (typeof chatInterfaces)[number]): Promise<void> => {
    const own = { ...api.headers, ...traced() };
    for (const stream of [false, true]) {
      const path = api.path(api.model, stream);
      const body = api.body(api.model, 'hello', stream);
      const replies = faults.map(
        (fault) => send(path, body, { ...own, ...traced(), ...(fault === '' ? {} : { 'x-simulator-fault': fault }) }).done,
      );
      for (const reply of await Promise.all(replies)) note(reply);
    }
    const paced = { 'x-simulator-pace': 'tokensPerSecond=60', 'x-simulator-output-tokens': '60' };
    note(await send(api.path(api.model, true), api.body(api.model, 'hello', true), { ...own, ...traced(), ...paced }).done);
    // Translated, refused, and disconnected.
    const other = api.dialect === 'openai-chat' ? 'claude-sonnet-4-5' : 'gpt-4.1';
    note(await send(api.path(other), api.body(other, 'hello'), { ...own, ...traced() }).done);
    note(await send(api.path('no-such-model'), api.body('no-such-model', 'hello'), { ...own, ...traced() }).done);
    note(await send(api.path(api.model), { nonsense: true }, { ...own, ...traced() }).done);
    note(await send(api.path(api.model), api.body(api.model, 'hello'), { ...own, ...traced(), 'x-api-key': 'wrong' }).done);
    const left = send(api.path(api.model, true), api.body(api.model, 'hello', true), {
      ...own,
      ...traced(),
      'x-simulator-fault': 'stall-mid-stream;after=3',
    });
    note(await left.head);
    left.leave('rst');
  };
  await Promise.all(chatInterfaces.map(makeCallsOf));
  note(await post(`${simulated.weir.gatewayUrl}/v1/nothing`, {}, { 'x-api-key': simulated.weir.apiKey }));
  const counted = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'hello' }] };
  const headers = { 'x-api-key': simulated.weir.apiKey, 'anthropic-version': '2023-06-01' };
  note(await post(`${simulated.weir.gatewayUrl}/v1/messages/count_tokens`, counted, headers));
}

function readLines(): readonly Line[] {
  return (
    simulated.weir
      .output()
      .split('\n')
      // The last is empty, or truncated.
      .slice(0, -1)
      .filter((line) => line.startsWith('{') && line.includes('"msg":"call '))
      .map((line) => JSON.parse(line) as Line)
  );
}

const allLines = (): Promise<readonly Line[]> =>
  eventually(
    () => Promise.resolve(readLines()),
    (lines) => lines.length >= known.length + withoutId,
  );

async function readBooks(): Promise<readonly CallEntry[]> {
  const ledger = await openLedger(simulated.weir.dataDirectory);
  try {
    const lines = await allLines();
    const booked = lines.filter((line) => 'costNanoUsd' in line).length;
    return await eventually(
      () => ledger.all(),
      (rows) => rows.length >= booked,
    );
  } finally {
    await ledger.close();
  }
}

test('every call has one log line, however it ended', async () => {
  const lines = await allLines();
  assert.equal(lines.length, known.length + withoutId);
  const told = new Map<unknown, number>();
  for (const { callId } of lines) told.set(callId, (told.get(callId) ?? 0) + 1);
  for (const id of known) assert.equal(told.get(id), 1, id);
  const ends = new Set(lines.map(({ end }) => end));
  assert.deepEqual(ends, new Set(['finished', 'failed', 'cut', 'client-left', 'refused']));
});

test('the log line matches the books', async () => {
  const lines = new Map((await allLines()).map((line) => [line['callId'], line]));
  const books = await readBooks();
  assert.equal(books.length, [...lines.values()].filter((line) => 'costNanoUsd' in line).length);
  for (const row of books) {
    const line = lines.get(row.callId);
    assert.ok(line !== undefined, row.callId);
    assert.deepEqual(
      [line['end'], line['costUsd'], line['inputTokens'], line['outputTokens'], line['upstream'], line['upstreamModel'], line['user']],
      [
        row.end,
        usdDecimal(row.charge.amountNanoUsd),
        row.usage.inputTokens,
        row.usage.outputTokens,
        row.upstream,
        row.upstreamModel,
        row.userName,
      ],
    );
    assert.equal(line['level'], row.end === 'failed' || row.end === 'cut' ? 40 : 30);
    assert.equal(line['translated'], row.translation !== undefined);
  }
});

test('the metrics are the sums of the books, and no call stays in flight', async () => {
  const books = await readBooks();
  const read = async () => readExposition((await call(simulated.weir.metricsUrl)).text);
  const samples = await eventually(read, (shown) => sumSamples(shown, 'weir_calls_in_flight') === 0);
  const sum = (of: (row: CallEntry) => number): number => books.reduce((total, row) => total + of(row), 0);
  assert.equal(sumSamples(samples, 'weir_calls_total'), books.length);
  for (const end of ['finished', 'failed', 'cut', 'client-left'])
    assert.equal(sumSamples(samples, 'weir_calls_total', { end }), books.filter((row) => row.end === end).length, end);
  assert.equal(
    sumSamples(samples, 'weir_tokens_total', { type: 'input' }),
    sum(({ usage }) => usage.inputTokens ?? 0),
  );
  assert.equal(
    sumSamples(samples, 'weir_tokens_total', { type: 'output' }),
    sum(({ usage }) => usage.outputTokens ?? 0),
  );
  assert.equal(
    sumSamples(samples, 'weir_tokens_total', { type: 'cache_read' }),
    sum(({ usage }) => usage.cacheReadTokens ?? 0),
  );
  const nanoUsd = Math.round(sumSamples(samples, 'weir_cost_usd_total') * 1e9);
  assert.equal(
    BigInt(nanoUsd),
    books.reduce((total, { charge }) => total + charge.amountNanoUsd, 0n),
  );
  assert.equal(sumSamples(samples, 'weir_streams_in_flight'), 0);
  assert.equal(sumSamples(samples, 'weir_refusals_total', { code: 'invalid_api_key' }), chatInterfaces.length);
  assert.equal(sumSamples(samples, 'weir_refusals_total', { code: 'model_not_found' }), chatInterfaces.length);
  assert.ok(sumSamples(samples, 'gen_ai_client_operation_time_per_output_chunk_seconds_count') > 0);
  assert.ok(sumSamples(samples, 'gen_ai_server_time_to_first_token_seconds_count') > 0);
});

test('dashboards and alert rules select series that a scrape has, by labels and values that it has', async () => {
  await readBooks();
  const samples = readExposition((await call(simulated.weir.metricsUrl)).text);
  const queries = dashboards.flatMap(({ rows }) => rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries)));
  const missing = findMissingSeries([...queries.map(({ query }) => query), ...alertQueries], samples);
  assert.ok(queries.length > 40 && alertQueries.length > 15);
  // A gateway in the process of a test has no watchdog and no release. No call here is retried, limited or shed, and
  // none uses a tool. No upstream here has a credential that is renewed.
  const unseen = [
    'weir_build_info: commit',
    'weir_credential_age_seconds',
    'weir_credential_failures',
    'weir_limit_refusals_total',
    'weir_loop_longest_silence_seconds',
    'weir_loop_watchdog_restarts',
    'weir_refusals_total{code=overloaded}',
    'weir_retries_total',
    'weir_tool_run_duration_seconds',
  ];
  assert.deepEqual(
    missing.filter((name) => !unseen.includes(name)),
    [],
  );
  assert.ok(Object.hasOwn(errorCodes, 'overloaded'));
});

test("each call is a span in its client's trace, each attempt is a span below it, and the upstream receives that span's id", async () => {
  const spans = await eventually(
    () => Promise.resolve(collector.spans),
    (all) => all.filter(({ kind }) => kind === 2).length >= known.length + withoutId,
  );
  const books = await readBooks();
  const bySpan = new Map(spans.map((span) => [span.spanId, span]));
  assert.equal(bySpan.size, spans.length);
  const servers = spans.filter(({ kind }) => kind === 2);
  const clients = spans.filter(({ kind }) => kind === 3);
  assert.equal(servers.length, known.length + withoutId);
  assert.equal(servers.filter(({ parentSpanId }) => parentSpanId === clientSpan).length, known.length + withoutId - 2);
  assert.equal(clients.length, books.length);
  for (const { parentSpanId, traceId, startTimeUnixNano, endTimeUnixNano } of clients) {
    const parent = bySpan.get(parentSpanId ?? '');
    assert.equal(parent?.traceId, traceId);
    assert.ok(BigInt(startTimeUnixNano) >= BigInt(parent?.startTimeUnixNano ?? 0) && BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano));
  }
  const told = simulated.simulator.records().flatMap(({ requestHeaders }) => requestHeaders['traceparent'] ?? []);
  const attempts = new Set(clients.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
  assert.ok(
    told.length > 0 && told.filter((parent) => !attempts.has(parent)).length <= 1,
    'only the count of tokens is not an attempt in the books',
  );
  for (const row of books) {
    const span = servers.find(({ attributes }) => attributes['weir.call.id'] === row.callId);
    assert.equal(span?.attributes['weir.cost.nano_usd'], String(row.charge.amountNanoUsd));
    assert.equal(
      span?.attributes['gen_ai.usage.output_tokens'],
      row.usage.outputTokens === undefined ? undefined : String(row.usage.outputTokens),
    );
  }
});
