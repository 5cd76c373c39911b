import assert from 'node:assert/strict';
import { test } from 'node:test';

import { buildAlertSettings } from './alert-settings.ts';
import { ConfigError } from './config-error.ts';
import { readConfig } from './read-config.ts';

const read = (channels: object, more: object = {}) =>
  readConfig({ text: JSON.stringify({ alerts: { channels, ...more } }), file: 'weir.yaml', variable: () => undefined });
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const mail = { type: 'email', smtp: { host: 'mail.example.com' }, from: 'weir@example.com', to: ['ops@example.com'] };

function problemsOf(channel: object): readonly string[] {
  try {
    read({ ops: channel });
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems.map(({ path, message }) => `${path.replace(/^alerts\.channels\.ops\.?/, '')}: ${message}`);
  }
}

for (const channel of [
  { type: 'callback', url: 'https://hooks.example.com/a', secret },
  { type: 'callback', url: 'http://10.0.0.1:9000/a', secret, privateAddresses: true },
  { type: 'slack', url: 'https://hooks.slack.com/services/T/B/x', severity: 'warning', rules: ['budget', 'books'] },
  { type: 'teams', url: 'https://prod-1.westeurope.logic.azure.com:443/workflows/x?sig=y' },
  mail,
  { ...mail, from: 'Weir <weir@example.com>', smtp: { host: 'mail', port: 465, security: 'tls', user: 'u', password: 'p' } },
])
  test(`a channel of type ${channel.type} is accepted: ${JSON.stringify(channel).slice(0, 60)}`, () =>
    assert.deepEqual(problemsOf(channel), []));

const wrong: readonly [channel: object, field: string, words: RegExp][] = [
  [{ type: 'callback', url: 'https://a.example/' }, '', /secret is required/],
  [{ type: 'callback', url: 'https://a.example/', secret: 'hunter2' }, 'secret', /whsec_ and 24 to 64 bytes/],
  [{ type: 'callback', url: 'https://a.example/', secret: 'whsec_c2hvcnQ=' }, 'secret', /24 to 64 bytes/],
  [{ type: 'slack' }, '', /url is required/],
  [{ type: 'slack', url: 'https://a.example/', secret }, 'secret', /does not belong/],
  [{ type: 'slack', url: 'not an address' }, 'url', /valid address/],
  [{ type: 'slack', url: 'http://a.example/' }, 'url', /https/],
  [{ type: 'slack', url: 'https://127.0.0.1/x' }, 'url', /private network; set privateAddresses/],
  [{ type: 'slack', url: 'https://user:hunter2@a.example/' }, 'url', /user name or password/],
  [{ type: 'email', to: ['a@b.example'], from: 'a@b.example' }, '', /smtp is required/],
  [{ ...mail, url: 'https://a.example/' }, 'url', /does not belong/],
  [{ ...mail, to: ['ops@example.com', 'a@b.example\r\nBcc: all@example.com'] }, 'to.1', /mail address/],
  [{ ...mail, from: 'nobody' }, 'from', /mail address/],
  [{ ...mail, smtp: { host: 'm', user: 'u' } }, 'smtp.password', /go together/],
  [{ type: 'pager', url: 'https://a.example/' }, 'type', /callback/],
  [{ type: 'slack', url: 'https://a.example/', rules: ['budgets'] }, 'rules.0', /budget/],
];
for (const [channel, field, words] of wrong)
  test(`the problem is named at its field: ${JSON.stringify(channel).slice(0, 80)}`, () => {
    const [problem = '', ...more] = problemsOf(channel);
    assert.deepEqual(more, []);
    assert.ok(problem.startsWith(`${field}: `), problem);
    assert.match(problem, words);
    assert.doesNotMatch(problem, /hunter2/);
  });

test('without settings the defaults hold and there is no channel', () => {
  const { thresholds, checkMs, channels, diskFreePercent, isOff } = buildAlertSettings({});
  assert.deepEqual(
    [thresholds.budgetPercents, thresholds.balanceDays, thresholds.expiryDays],
    [
      [50, 80, 95, 100],
      [7, 2],
      [7, 1],
    ],
  );
  assert.deepEqual([checkMs, channels, diskFreePercent, isOff('budget')], [15_000, {}, 5, false]);
});

test('thresholds are used in their order, however they are written', () => {
  const rules = { budget: { percents: [90, 10, 90] }, balance: { days: [1, 30] }, spendRate: { times: 1.5, leastUsd: '0.25' } };
  const { thresholds, isOff } = buildAlertSettings(read({}, { rules, off: ['disk'] }));
  assert.deepEqual(
    [thresholds.budgetPercents, thresholds.balanceDays],
    [
      [10, 90],
      [30, 1],
    ],
  );
  assert.deepEqual(thresholds.spendRate, { times: 1.5, leastNanoUsd: 250_000_000n });
  assert.deepEqual([isOff('disk'), isOff('budget')], [true, false]);
});
