import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeRun } from './describe-run.ts';
import { readChildMessage } from './read-child-message.ts';
import { RunRecord } from './run-report.ts';

test('a line of a sandbox counts only if it is exactly a message', () => {
  const ended = { kind: 'ended', run: 1, outcome: 'finished', text: 'x', dropped: 0, broken: false };
  assert.deepEqual(readChildMessage(JSON.stringify(ended)), ended);
  const wrong: unknown[] = [null, [], 1, 'ready', {}, { ...ended, run: -1 }, { ...ended, run: 1.5 }, { ...ended, outcome: 'toString' }];
  wrong.push(
    { ...ended, text: 1 },
    { ...ended, dropped: '0' },
    { ...ended, broken: 0 },
    { kind: 'output', run: 1, stream: 'stdin', text: '' },
    { kind: '__proto__' },
  );
  for (const message of wrong) assert.equal(readChildMessage(JSON.stringify(message)), undefined, JSON.stringify(message));
  assert.equal(readChildMessage('{"kind":"ready"'), undefined);
});

test('a record never exceeds the limit, splits no character, and reports left out output', () => {
  const record = new RunRecord(1, 10);
  record.add('stdout', 'éééé');
  record.add('stderr', 'éé');
  const report = record.report('finished', 'value');
  assert.deepEqual([report.stdout, report.stderr, report.text, report.truncated], ['éééé', 'é', '', true]);
  const exact = new RunRecord(1, 3);
  exact.add('stdout', 'abc');
  assert.equal(exact.report('finished').truncated, false);
});

test('the model learns how a run ended, and completed runs are charged', () => {
  const limits = { timeoutMs: 2000, memoryMb: 64 };
  const report = { ending: 'finished', stdout: '', stderr: '', text: '', truncated: false } as const;
  assert.equal(describeRun(report, limits, false).answer, 'The code ran and printed nothing.');
  const late = describeRun({ ...report, ending: 'timed-out', stdout: 'so far' }, limits, true);
  assert.match(late.answer, /^stdout:\nso far\n.*new interpreter.*\n.*longer than 2 seconds/s);
  assert.deepEqual([late.shown.failed, late.shown.failure, late.usage], [true, 'timed-out', { codeExecutions: 1 }]);
});
