import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeBillingRecords } from '../../../billing/statistics/billing-record.ts';
import { fakeRow } from '../../../billing/statistics/testing/fake-row.ts';
import type { StatisticsRow } from '../../../billing/statistics/statistics-store.ts';
import { readGranularity, readSpan } from './read-span.ts';
import { renderUsage } from './render-usage.ts';
import { type Terminal, bar, cutTo, displayWidth, inert } from './terminal-text.ts';

const day = 86_400;
const startSeconds = Date.UTC(2026, 0, 26) / 1000;
const piped: Terminal = { columns: 100, isRich: false };

const row = (changes: Partial<StatisticsRow> = {}): StatisticsRow =>
  fakeRow({ bucketStartSeconds: startSeconds, promptTokens: 1_234_567, ...changes });

function render(rows: readonly StatisticsRow[], terminal: Terminal = piped): string {
  const buckets = ['2026-01-26 00:00:00', '2026-01-27 00:00:00'];
  return renderUsage({ records: [...encodeBillingRecords(rows, 'UTC')], buckets, title: 'usage by day' }, terminal);
}

test('each bucket has a bar for its cost, buckets without calls are shown empty, and the totals are below', () => {
  const text = render([row(), row({ tokenName: 'z', amountNanoUsd: 2_460_000n })]);
  assert.deepEqual(text.split('\n').slice(0, 6), [
    'usage by day',
    '',
    'TIME                 CALLS      INPUT  OUTPUT  CACHED  COST USD',
    `2026-01-26 00:00:00     10  2,469,134     680   1,600  0.003690  ${'#'.repeat(35)}`,
    '2026-01-27 00:00:00      0          0       0       0  0.000000',
    'TOTAL                   10  2,469,134     680   1,600  0.003690',
  ]);
  assert.match(text, /USER {3}KEY {2}MODEL .*\nalice {2}z {4}m-flash .*0\.002460\nalice {2}ci {3}m-flash .*0\.001230\n/);
});

test('a unit of the operator has a column of its own', () => {
  const unit = { name: 'coins\u001b', perUsd: '2000' };
  const usage = { records: [...encodeBillingRecords([row()], 'UTC')], buckets: [], title: 'usage by day', unit };
  const lines = renderUsage(usage, piped).split('\n');
  assert.match(lines[2] ?? '', /COST USD {2}COINS\ufffd$/);
  assert.match(lines[3] ?? '', /0\.001230 +2\.46( |$)/);
  assert.match(lines.at(-2) ?? '', /m-flash .*0\.001230 +2\.46$/);
});

test('no line is wider than the terminal, and output to a pipe has no control codes', () => {
  const rows = [
    row({ modelName: 'a-model-whose-name-goes-on-and-on-and-on-for-a-whole-line-of-a-terminal' }),
    row({ bucketStartSeconds: startSeconds + day }),
  ];
  for (const columns of [80, 100, 200]) {
    for (const line of render(rows, { columns, isRich: false }).split('\n')) {
      assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`);
      assert.doesNotMatch(line, /\p{Cc}/u);
    }
  }
  assert.ok(render(rows, { columns: 80, isRich: true }).startsWith('\u001b[1musage by day\u001b[22m\n'));
});

test('a span without calls is reported as such', () => {
  assert.equal(render([]), 'usage by day\nno calls\n');
});

test('if no call has a cost, the bars show numbers of calls', () => {
  const text = render([row({ amountNanoUsd: 0n }), row({ amountNanoUsd: 0n, bucketStartSeconds: startSeconds + day, callCount: 10 })]);
  const bars = [...text.matchAll(/ {2}(#+)$/gm)].map((match) => match[1]?.length ?? 0);
  assert.deepEqual(bars.length, 2);
  assert.ok((bars[0] ?? 0) < (bars[1] ?? 0));
});

test('a model name with control codes is shown without them', () => {
  const text = render([row({ modelName: '\u001b]0;owned\u0007\u202eevil\nline' })]);
  assert.match(text, /\ufffd\]0;owned\ufffd\ufffdevil\ufffdline/);
  assert.equal(inert('a\u009bb'), 'a\ufffdb');
});

test('wide characters take two columns, marks none, and a cut never splits a character', () => {
  assert.equal(displayWidth('模型é\u0301'), 5);
  assert.equal(cutTo('模型模型', 6), '模型…');
  assert.equal(cutTo('abc', 3), 'abc');
});

test('each value above 0 has a bar', () => {
  assert.equal(bar(0, 10, piped), '');
  assert.equal(bar(0.0001, 10, piped), '#');
  assert.equal(bar(0.55, 10, { columns: 80, isRich: true }), '█████▌');
});

test('dates and times of spans are local, ends are exclusive, and the default is a few buckets up to now', () => {
  const nowMs = Date.UTC(2026, 0, 29, 12, 30);
  const span = (options: { from?: string; to?: string }, by = 'day', zone = 'Asia/Shanghai') =>
    readSpan(options, readGranularity(by), zone, nowMs);
  assert.deepEqual(span({ from: '2026-01-27', to: '2026-01-29' }), { startSeconds: 1_769_443_200, endSeconds: 1_769_616_000 });
  assert.deepEqual(span({ from: '1769443200', to: '2026-01-29T00:00' }), { startSeconds: 1_769_443_200, endSeconds: 1_769_616_000 });
  assert.deepEqual(span({ from: '36h' }), { startSeconds: nowMs / 1000 - 36 * 3600, endSeconds: nowMs / 1000 + 1 });
  // Seven local days, today among them.
  assert.equal(span({}).startSeconds, Date.parse('2026-01-22T16:00:00Z') / 1000);
  assert.equal(span({}, 'month', 'UTC').startSeconds, Date.UTC(2025, 1, 1) / 1000);
  assert.equal(span({ to: '2026-01-29' }, 'hour', 'UTC').startSeconds, Date.UTC(2026, 0, 28) / 1000);
  assert.throws(() => span({ from: '2026-02-30' }), /--from must be a date/);
  assert.throws(() => span({ from: 'x' }), /--from must be a date/);
  assert.throws(() => span({ from: '2026-01-29', to: '2026-01-29' }), /--from must be before --to/);
  assert.throws(() => readGranularity('year'), /--by must be one of minute, hour, day, week, month/);
});
