import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import type { CardRow } from './card-row.ts';
import { evaluateRows, isKept } from './evaluate-rows.ts';
import { readReport } from './read-report.ts';
import { cardRows } from './rows.ts';
import { longRuns } from './long-runs.ts';
import { compareCards, keepCard, type KeptCard, listLongRuns, writeCard } from './write-card.ts';

const root = join(import.meta.dirname, '../..');

const report = `▶ /weir/a.test.ts
  ▶ group
    ✔ M1: kept (12.5ms)
    ✖ M2: broken (1ms)
  ✖ group (20ms)
  ﹣ not here (0.1ms) # SKIP no server
  ℹ kills 30; missing 0; doubled 1
✖ /weir/a.test.ts (30.1ms)
▶ /weir/b.test.ts
  ✔ other (1ms)
✔ /weir/b.test.ts (2ms)
ℹ tests 4
`;

const row = (id: string, proof: Partial<CardRow['proofs'][number]>): CardRow => ({
  id,
  promise: id,
  proofs: [{ file: 'a.test.ts', ...proof }],
});

test('the outcome of each test is read, with the titles of its groups', () => {
  const suites = readReport(report, '/weir');
  const { passed, failed, skipped } = suites.get('a.test.ts') ?? {};
  assert.deepEqual({ passed, failed, skipped }, { passed: ['group: M1: kept'], failed: ['group: M2: broken'], skipped: ['not here'] });
  assert.deepEqual(suites.get('b.test.ts')?.passed, ['other']);
});

test('a promise is kept if its tests passed and its numbers are within their bounds', () => {
  const suites = readReport(report, '/weir');
  const bound = (name: string) => ({ name, of: new RegExp(`${name} (\\d+)`), most: 0 });
  const figures = /ℹ (kills.*)/;
  const results = evaluateRows(
    [
      row('kept', { title: /M1/, figures, bounds: [bound('missing')] }),
      row('failed', {}),
      row('exceeded', { title: /M1/, figures, bounds: [bound('doubled')] }),
      row('unknown number', { title: /M1/, figures, bounds: [bound('lost')] }),
      row('no test', { title: /M9/ }),
      row('no suite', { file: 'c.test.ts' }),
    ],
    suites,
  );
  assert.deepEqual(
    results.filter(isKept).map(({ id }) => id),
    ['kept'],
  );
  const kept: KeptCard = { ...keepCard([], {} as KeptCard['origin']), rows: [{ id: 'kept', passed: 2 }] };
  assert.deepEqual(compareCards(results, kept), [
    'kept: 1 tests show it, 2 did before',
    'failed: failed: a.test.ts: group: M2: broken',
    'exceeded: doubled is 1, at most 0',
    'unknown number: lost is not in "kills 30; missing 0; doubled 1"',
    'no test: no test of a.test.ts passed',
    'no suite: no test of c.test.ts passed',
  ]);
  assert.match(
    writeCard(results, { version: '1', commit: 'c', day: 'd', node: 'n', machine: 'm', form: 'short' }),
    /1 of 6 promises are kept/,
  );
});

test('every promise has suites that exist', () => {
  const ids = cardRows.map(({ id }) => id);
  assert.deepEqual(ids, [...new Set(ids)]);
  assert.equal(ids.length, 17 + 14 + 15);
  for (const { id, proofs } of cardRows) for (const { file } of proofs) assert.ok(existsSync(join(root, file)), `${id}: ${file}`);
});

test('the committed card has every promise', () => {
  const kept = JSON.parse(readFileSync(join(import.meta.dirname, 'kept-card.json'), 'utf8')) as KeptCard;
  assert.deepEqual(
    kept.rows.map(({ id }) => id),
    cardRows.map(({ id }) => id),
  );
});

test('the committed page has the longer runs, and what the rows do not show', () => {
  const page = readFileSync(join(root, 'docs/reference/reliability-card.md'), 'utf8');
  assert.ok(page.includes(listLongRuns(longRuns).join('\n')));
  for (const { id, notShown } of cardRows) if (notShown !== undefined) assert.ok(page.includes(`- **${id}** ${notShown}\n`), id);
});
