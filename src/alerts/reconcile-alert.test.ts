import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Alert, Finding } from './alert.ts';
import { reconcileAlert } from './reconcile-alert.ts';
import { findingOf } from './testing/fake-alert-store.ts';

/** Returns the events of an alert with the findings of successive checks; undefined: the problem does not exist. */
function follow(findings: readonly (Finding | undefined)[]): { readonly events: readonly string[]; readonly alert: Alert | undefined } {
  let alert: Alert | undefined;
  const events: string[] = [];
  for (const [index, finding] of findings.entries()) {
    const change = reconcileAlert(alert, finding, 1000 + index);
    if (change === undefined) continue;
    assert.equal(change.alert.version, (alert?.version ?? 0) + 1);
    ({ alert } = change);
    if (change.event !== undefined) events.push(`${change.event} ${change.alert.threshold ?? ''}`.trim());
  }
  return { events, alert };
}

const at = (threshold: number, more: Partial<Finding> = {}): Finding => {
  const level = [50, 80, 95, 100].indexOf(threshold) + 1;
  return findingOf({ level, threshold, severity: level >= 3 ? 'critical' : level === 2 ? 'warning' : 'info', ...more });
};

describe('thresholds', () => {
  test('each is announced once, however often and in whichever order it is seen', () => {
    const { events } = follow([at(50), at(50), at(80), at(50), at(80), at(95), at(80), at(95), at(100), at(100)]);
    assert.deepEqual(events, ['firing 50', 'firing 80', 'firing 95', 'firing 100']);
  });

  test('a jump over several is one message', () => {
    assert.deepEqual(follow([at(95), at(95)]).events, ['firing 95']);
  });

  test('while the use falls, the announced threshold stays, so that its end is announced', () => {
    const { events, alert } = follow([at(95), at(50), undefined]);
    assert.deepEqual(events, ['firing 95', 'resolved 95']);
    assert.equal(alert?.state, 'resolved');
  });

  test('a higher limit makes the thresholds new', () => {
    const raised = { basis: '2000' };
    assert.deepEqual(follow([at(100), at(50, raised), at(80, raised)]).events, ['firing 100', 'firing 80']);
    assert.deepEqual(follow([at(100), undefined, at(50, raised), at(80, raised)]).events, [
      'firing 100',
      'resolved 100',
      'firing 50',
      'firing 80',
    ]);
  });

  test('a lower limit announces the threshold that is now reached', () => {
    assert.deepEqual(follow([at(50), at(95, { basis: '500' })]).events, ['firing 50', 'firing 95']);
  });

  test('a problem that returns in its period is not announced again, and its second end neither', () => {
    const { events } = follow([at(80), undefined, at(80), undefined, at(95), undefined]);
    assert.deepEqual(events, ['firing 80', 'resolved 80', 'resolved 80', 'firing 95', 'resolved 95']);
    assert.deepEqual(follow([at(80), undefined, at(80)]).alert?.channels, []);
  });
});

test('a problem without periods is announced in each episode', () => {
  const down = findingOf({ rule: 'upstream_down', period: '', severity: 'critical', basis: '' });
  const { events, alert } = follow([down, down, undefined, undefined, down, undefined]);
  assert.deepEqual(events, ['firing 50', 'resolved 50', 'firing 50', 'resolved 50']);
  assert.equal(alert?.episode, 2);
});

test('the end of an alert that is only for knowledge is not announced', () => {
  const { events, alert } = follow([at(50), undefined]);
  assert.deepEqual([events, alert?.state], [['firing 50'], 'resolved']);
});

test('a changed text changes the alert without a message', () => {
  const { events, alert } = follow([at(80), at(80, { summary: 'User ann has used 81 %.' })]);
  assert.deepEqual([events, alert?.summary, alert?.version], [['firing 80'], 'User ann has used 81 %.', 2]);
});
