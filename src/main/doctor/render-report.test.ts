import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { checkNames, type DoctorReport, type MatrixRow, tidyWords, type Verdict } from './finding.ts';
import { renderReport } from './render-report.ts';

const row = (upstream: string, verdict: Verdict): MatrixRow => ({
  upstream,
  model: 'small',
  dialect: 'openai-chat',
  title: 'Chat completions',
  results: checkNames.map((check) => ({ check, verdict, ...(verdict === 'good' ? {} : { says: 'it does not work', advice: 'fix it' }) })),
});

const reportOf = (...rows: readonly MatrixRow[]): DoctorReport => ({
  healthy: rows.every(({ results }) => results.every(({ verdict }) => verdict !== 'bad')),
  aborted: false,
  simulated: false,
  sections: [
    {
      title: 'Configuration',
      findings: [{ verdict: 'warning', subject: 'prices', says: `${'word '.repeat(60)}${'x'.repeat(300)}`, advice: 'act on it' }],
    },
  ],
  upstreams: rows.map((each) => ({
    upstream: each.upstream,
    title: each.upstream,
    findings: [{ verdict: 'good', subject: 'TCP', says: 'reached', tookMs: 0.2 }],
    matrix: [each],
  })),
});

const plain = { width: 120, colour: false, unicode: true };

describe('what people see', () => {
  for (const width of [40, 60, 80, 81, 100, 120, 200]) {
    test(`no line is wider than ${width} columns, and every check is there`, () => {
      const text = renderReport(reportOf(row('one', 'good'), row('two', 'bad')), { ...plain, width });
      const wide = text.split('\n').filter((line) => line.length > width && !line.includes('not offered'));
      assert.deepEqual(wide, []);
      for (const heading of ['reply', 'reply~', 'usage~', 'tool~', 'result', 'err']) assert.ok(text.includes(heading));
    });
  }

  test('without colour the marks show the verdict', () => {
    const text = renderReport(reportOf(row('one', 'good'), row('two', 'bad'), row('three', 'none')), { ...plain, width: 160 });
    assert.match(text, /one +small +Chat completions +✓/);
    assert.match(text, /two +small +Chat completions +✗/);
    assert.match(text, /three +small +Chat completions +–/);
    assert.ok(!text.includes('\u001b'));
  });

  test('without check marks in the character set, letters replace them', () => {
    const text = renderReport(reportOf(row('one', 'good'), row('two', 'bad')), { ...plain, unicode: false });
    assert.match(text, /^[\n -~]+$/);
  });

  test('colours do not change the columns', () => {
    const report = reportOf(row('one', 'good'), row('two', 'warning'));
    const coloured = renderReport(report, { ...plain, colour: true });
    assert.notEqual(coloured, renderReport(report, plain));
    // oxlint-disable-next-line no-control-regex -- what is to be taken out
    assert.equal(coloured.replaceAll(/\u001b\[\d+m/g, ''), renderReport(report, plain));
  });

  test('a text of several cells is shown once, with its rows, and bad ones come first', () => {
    const text = renderReport(reportOf(row('grey', 'none'), row('one', 'bad'), row('two', 'bad')), plain);
    assert.equal(text.split('fix it').length - 1, 2, 'once for each verdict');
    assert.match(
      text.replaceAll(/\s+/g, ' '),
      /✗ reply, reply~.*: it does not work \(one Chat completions, two Chat completions\) → fix it – reply/,
    );
  });

  test('the conclusion summarises the report', () => {
    assert.match(renderReport(reportOf(row('one', 'good')), plain), /✓ Healthy: 15 good, 0 bad, 1 to look at\./);
    assert.match(renderReport(reportOf(row('one', 'bad')), plain), /✗ Not healthy: 1 good, 14 bad, 1 to look at\./);
    assert.match(renderReport({ ...reportOf(row('one', 'good')), aborted: true }, plain), /✗ Interrupted/);
  });
});

test('untrusted text cannot control a terminal, break a line or fill the screen', () => {
  assert.equal(tidyWords('a\u001b[2Jb\r\nc\u0007\u202edef\u009b'), 'a [2Jb c def');
  assert.equal(tidyWords('x'.repeat(1000)).length, 240);
});
