import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import readXlsxFile from 'read-excel-file/node';
import type { BilledCall, BilledCallStore } from '../billing/statistics/billed-call.ts';
import { billingRecordFields } from '../billing/statistics/billing-record.ts';
import { createMemoryReader, createMemoryStatisticsStore } from '../billing/statistics/testing/memory-statistics-store.ts';
import { silentLogger } from '../platform/log.ts';
import { createAnswers } from './answers/create-answers.ts';
import { createMonitor, monitorLimitsDefault } from './monitor.ts';
import { monitorOpenApi } from './open-api.ts';
import { encodeCsvCell } from './tables/csv-text.ts';
import { callColumns } from './tables/table.ts';

const startTime = 1_769_443_200;
const body = { type: 3, startTime, endTime: startTime + 2 * 86_400 };
const clock = { nowMs: () => 1_769_700_000_000, monotonicMs: () => 0 };

function call(index: number, changes: Partial<BilledCall> = {}): BilledCall {
  return {
    callId: `req_${String(index).padStart(6, '0')}`,
    acceptedAtMs: startTime * 1000 + index * 1001,
    userName: index % 3 === 0 ? 'bob' : 'alice',
    tokenName: 'ci',
    modelName: 'm-flash',
    promptTokens: 1200,
    completionTokens: 340,
    cacheTokens: 800,
    cacheCreationTokens: 7,
    useTimeMs: 1000,
    callCount: 1,
    amountNanoUsd: 1_230_001n,
    estimated: index % 2 === 0,
    end: 'finished',
    priceVersion: 'book-1',
    ...changes,
  };
}

/** A store that has these calls. */
function listCalls(calls: readonly BilledCall[]): BilledCallStore {
  return {
    listBilledCalls: ({ startMs, endMs, userName, after, limit }) =>
      Promise.resolve(
        calls
          .filter(({ acceptedAtMs }) => acceptedAtMs >= startMs && acceptedAtMs < endMs && acceptedAtMs > (after?.acceptedAtMs ?? 0))
          .filter((one) => userName === undefined || one.userName === userName)
          .slice(0, limit),
      ),
    listPriceVersions: () => Promise.resolve(['book-1', '=book()']),
  };
}

function createApp(calls: readonly BilledCall[], detailCallsMax = monitorLimitsDefault.detailCallsMax): FastifyInstance {
  const reader = createMemoryReader(createMemoryStatisticsStore(calls), listCalls(calls));
  return createMonitor({
    answers: createAnswers({ reader, timeZone: 'Asia/Shanghai', detailCallsMax, clock }),
    authenticate: (token) =>
      Promise.resolve(
        token === 'fast'
          ? { retryAfterSeconds: 7, message: 'too many requests with this token; retry later' }
          : token === 'alice'
            ? { userName: 'alice' }
            : {},
      ),
    clock,
    logger: silentLogger,
    health: () => Promise.resolve([]),
  });
}

async function post(app: FastifyInstance, url: string, more: object = {}, token = 'admin'): Promise<LightMyRequestResponse> {
  return await app.inject({
    method: 'POST',
    url,
    headers: { token, 'content-type': 'application/json' },
    payload: JSON.stringify({ ...body, ...more }),
  });
}

test('CSV and JSON Lines contain the records of /bill/stats, under the contract’s names', async () => {
  const app = createApp(Array.from({ length: 9 }, (_, index) => call(index)));
  const { data } = (await post(app, '/bill/stats')).json<{ data: Record<string, unknown>[] }>();
  const csv = await post(app, '/bill/csv');
  assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8; header=present');
  assert.equal(csv.headers['content-disposition'], 'attachment; filename="bill_20260127_20260129_day.csv"');
  assert.equal(
    csv.body,
    [billingRecordFields, ...data.map((record) => Object.values(record))].map((cells) => `${cells.join(',')}\r\n`).join(''),
  );
  const lines = await post(app, '/bill/jsonl');
  assert.equal(lines.headers['content-type'], 'application/jsonl; charset=utf-8');
  assert.deepEqual(
    lines.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
    data,
  );
});

test('the detail lists every call of the user once across pages, and adds up to the records', async () => {
  const calls = Array.from({ length: 4500 }, (_, index) => call(index));
  const app = createApp(calls);
  const lines = (await post(app, '/bill/jsonl', { detail: true })).body.trimEnd().split('\n');
  const listed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    listed.map((line) => line['requestId']),
    calls.map(({ callId }) => callId),
  );
  const check = new Ajv2020({ strict: false }).addSchema(monitorOpenApi(), 'api').getSchema('api#/components/schemas/CallRecord');
  assert.ok(listed.every((line) => check?.(line) === true));
  assert.deepEqual(
    Object.keys(listed[0] ?? {}),
    callColumns.map(({ field }) => field),
  );
  assert.equal(listed[1]?.['time'], '2026-01-27 00:00:01');
  const alone = (await post(app, '/bill/csv', { detail: true }, 'alice')).body.trimEnd().split('\r\n').slice(1);
  assert.equal(alone.length, 3000);
  assert.ok(alone.every((line) => line.includes(',alice,')));
});

test('a workbook with detail and totals has sums as values, times as dates, and a last sheet that describes the query', async () => {
  const calls = Array.from({ length: 40 }, (_, index) => call(index));
  const answer = await post(createApp(calls), '/bill/excel', { detail: true, totals: true, tokenName: 'ci' }, 'alice');
  const sheets = await readXlsxFile(answer.rawPayload);
  assert.deepEqual(
    sheets.map(({ sheet }) => sheet),
    ['Bill', 'Calls', 'About'],
  );
  const [bill, listed, about] = sheets.map(({ data }) => data);
  const amount = 26 * 0.001230001;
  assert.deepEqual(
    bill?.at(-1)?.map((cell) => (typeof cell === 'number' ? Math.round(cell * 1e9) / 1e9 : cell)),
    ['TOTAL', null, null, null, null, 26 * 1200, 26 * 340, 26 * 800, 26 * 7, 26, 26, Math.round(amount * 1e9) / 1e9],
  );
  assert.equal(listed?.length, 27);
  assert.ok(listed?.[1]?.[1] instanceof Date);
  // Spreadsheets count days as floats: a moment is exact to a part of a millisecond.
  assert.equal(Math.round(listed[1][1].getTime() / 1000), Date.UTC(2026, 0, 27, 0, 0, 1) / 1000);
  const facts = new Map(about?.map(([name, value]) => [name, value]));
  assert.equal(facts.get('Time zone of all times'), 'Asia/Shanghai');
  assert.equal(facts.get('User'), 'alice');
  assert.equal(facts.get('API key (tokenName)'), 'ci');
  assert.equal(facts.get('Model (modelName)'), 'all');
  assert.equal(facts.get('Price book versions'), 'book-1, =book()');
  assert.equal(facts.get('From, included'), '2026-01-27 00:00:00 (Unix 1769443200)');
  assert.equal(facts.get('Rows on sheet Calls'), 26);
  assert.equal(facts.get('Rows on sheet Bill'), 1);
  for (const field of billingRecordFields) assert.ok(facts.has(field), field);
});

test('too much detail is refused before the answer begins, and wrong export options are refused by name', async () => {
  const app = createApp(
    Array.from({ length: 10 }, (_, index) => call(index)),
    9,
  );
  for (const url of ['/bill/excel', '/bill/csv', '/bill/jsonl']) {
    const refused = await post(app, url, { detail: true });
    assert.equal(refused.statusCode, 400);
    assert.match(refused.body, /more than 9 calls/);
    assert.match((await post(app, url, { detail: 'yes' })).body, /detail must be true or false/);
    assert.equal((await post(app, url, { detail: false })).statusCode, 200);
  }
  assert.match((await post(app, '/bill/excel', { totals: 1 })).body, /totals must be true or false/);
  assert.equal((await post(app, '/bill/excel', { totals: null })).statusCode, 200);
});

test('an unknown field is refused by name, so that a bill of all users is not mistaken for the bill of one', async () => {
  const app = createApp([call(1)]);
  for (const [url, more, message] of [
    [
      '/bill/stats',
      { userName: 'alice' },
      /unknown field \\"userName\\": known fields are type, startTime, endTime, tokenName, modelName; the token decides whose calls are counted/,
    ],
    ['/bill/stats', { detail: true }, /unknown field \\"detail\\"/],
    ['/bill/csv', { totals: true }, /unknown field \\"totals\\": known fields are .*, detail"/],
    ['/bill/excel', { page: 1, size: 2 }, /unknown fields \\"page\\", \\"size\\"/],
    ['/bill/jsonl', { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, /and 1 more/],
  ] as const) {
    const refused = await post(app, url, more);
    assert.equal(refused.statusCode, 400);
    assert.match(refused.body, message);
  }
});

test('a token that sends too many requests gets 429 in the envelope, with the time to wait', async () => {
  const refused = await post(createApp([]), '/bill/stats', {}, 'fast');
  assert.equal(refused.statusCode, 429);
  assert.equal(refused.headers['retry-after'], '7');
  assert.equal(refused.body, '{"code":429,"message":"too many requests with this token; retry later","data":null}');
});

test('S8: no text of a CSV file begins a formula, and every text is read back with only an apostrophe added', () => {
  const fragment = fc.oneof(fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', ' ', '"', ',', "'", '＝', '1'), fc.string());
  fc.assert(
    fc.property(
      fc.array(fragment, { maxLength: 5 }).map((parts) => parts.join('')),
      (name) => {
        const cell = encodeCsvCell(name);
        const isQuoted = cell.startsWith('"');
        const plain = isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell;
        if (!isQuoted) assert.doesNotMatch(cell, /[",\r\n]/);
        assert.doesNotMatch(plain, /^\s*[=+\-@＝＋－＠]/u);
        assert.doesNotMatch(plain, /^[\t\r\n]/);
        assert.ok(plain === name.toWellFormed() || plain === `'${name.toWellFormed()}`);
      },
    ),
    { numRuns: 2000 },
  );
  assert.equal(encodeCsvCell(-1), '-1');
});
