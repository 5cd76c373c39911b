import assert from 'node:assert/strict';
import { test } from 'node:test';

import readXlsxFile from 'read-excel-file/node';

import type { CallScan, CallSummary, ScannedCalls } from './call-facts-store.ts';
import { unzip } from '../workbook/testing/unzip.ts';
import { exportCalls, exportCallsWorkbook } from './export-calls.ts';

const callAt = (number: number): CallSummary => ({
  atMs: 1_000_000 - number,
  number,
  callId: `req_${number}`,
  userName: 'ann',
  keyId: 'key_1',
  keyName: 'ci',
  model: 'm',
  interface: 'openai-chat',
  end: 'finished',
  flags: ['stream'],
  promptTokens: 10,
  completionTokens: 5,
  durationMs: 120,
  amountNanoUsd: 9_007_199_254_740_993n,
});

/** A store with a number of calls that notes how many were asked for. */
function createStore(count: number, change: (call: CallSummary) => CallSummary = (call) => call) {
  let read = 0;
  return {
    read: () => read,
    scanCalls: async ({ after, limit }: CallScan): Promise<ScannedCalls> => {
      const from = after?.number ?? 0;
      const calls = Array.from({ length: Math.min(limit, count - from) }, (_, index) => change(callAt(from + index + 1)));
      read += calls.length;
      const last = calls.at(-1);
      return {
        calls,
        searchedToMs: 0,
        ...(last === undefined || last.number >= count ? {} : { next: { atMs: last.atMs, number: last.number } }),
      };
    },
  };
}

const always = new AbortController().signal;
const asked = { filter: {}, scope: 'all' } as const;

test('an export has each call once, exact to the nano-USD, in both formats', async () => {
  const store = createStore(1234);
  let text = '';
  for await (const piece of exportCalls(store, { ...asked, format: 'jsonl' }, always)) text += piece;
  const calls = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(new Set(calls.map(({ call_id }) => call_id)).size, 1234);
  assert.deepEqual(
    [calls[0]?.['amount_usd'], calls[0]?.['amount_nano_usd'], calls[0]?.['upstream']],
    ['9007199.254740993', '9007199254740993', null],
  );
  text = '';
  for await (const piece of exportCalls(createStore(1234), { ...asked, format: 'csv' }, always)) text += piece;
  const lines = text.trimEnd().split('\r\n');
  assert.equal(lines.length, 1235);
  assert.match(
    lines[1] ?? '',
    /^req_1,1970-01-01T00:16:39\.999Z,ann,key_1,ci,m,,,,openai-chat,,,finished,,,stream,10,5,,120,9007199254740993,9007199\.254740993$/,
  );
});

test('pages are read only as the export is taken, and none after it was ended', async () => {
  const store = createStore(1_000_000);
  const end = new AbortController();
  const pieces = exportCalls(store, { ...asked, format: 'jsonl' }, end.signal);
  await pieces.next();
  await pieces.next();
  assert.equal(store.read(), 1000);
  end.abort();
  await assert.rejects(pieces.next(), { name: 'AbortError' });
  assert.equal(store.read(), 1000);
});

test('names in CSV are quoted, and none becomes a formula', async () => {
  const store = createStore(1, (call) => ({ ...call, userName: '=1+1', keyName: 'a,"b"\n', model: '-5x' }));
  let text = '';
  for await (const piece of exportCalls(store, { ...asked, format: 'csv' }, always)) text += piece;
  assert.match(text, /,"'=1\+1",key_1,"a,""b""\n","'-5x",/);
});

test('a workbook has each call once, continues on further sheets, and has exact amounts and no formula', async () => {
  const store = createStore(1234, (call) => ({ ...call, userName: '=1+1', tags: { project: '+x' } }));
  const pieces = await Array.fromAsync(exportCallsWorkbook(store, asked, { signal: always, nowMs: 1_800_000_000_000, rowsPerSheet: 1000 }));
  const sheets = await readXlsxFile(Buffer.concat(pieces));
  assert.deepEqual(
    sheets.map(({ sheet, data }) => [sheet, data.length]),
    [
      ['Calls', 1001],
      ['Calls 2', 235],
    ],
  );
  const rows = sheets.flatMap(({ data }) => data.slice(1));
  assert.equal(new Set(rows.map(([id]) => id)).size, 1234);
  const [header, first] = sheets[0]?.data ?? [];
  const valueOf = (name: string) => first?.[header?.indexOf(name) ?? -1];
  assert.deepEqual(['user', 'tags', 'prompt_tokens', 'status', 'amount_nano_usd'].map(valueOf), [
    '=1+1',
    'project=+x',
    10,
    null,
    '9007199254740993',
  ]);
  const xml = unzip(Buffer.concat(pieces)).get('xl/worksheets/sheet1.xml') ?? '';
  assert.match(xml, /<v>9007199\.254740993<\/v>/);
  assert.doesNotMatch(xml, /<f[ >]/);
});

test('a workbook is read as it is taken, and ends with its signal', async () => {
  const store = createStore(1_000_000);
  const end = new AbortController();
  const pieces = exportCallsWorkbook(store, asked, { signal: end.signal, nowMs: 0 });
  for (let taken = 0; taken < 4; taken += 1) await pieces.next();
  assert.ok(store.read() < 3000, String(store.read()));
  end.abort();
  await assert.rejects(Array.fromAsync(pieces), { name: 'AbortError' });
});
