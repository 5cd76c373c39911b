import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Finding, Observation } from './alert.ts';
import { listAttention } from './attention.ts';
import { createAlertWatch } from './create-alert-watch.ts';
import { createNotices } from './notices/notice-content.ts';
import { createFakeAlertStore, findingOf } from './testing/fake-alert-store.ts';

const budget = findingOf({ level: 2, threshold: 80, severity: 'warning' });
const down: Observation = { rule: 'upstream_down', subject: 'upstream:a', member: 'gpt-5', state: 'bad' };

function setUp() {
  let nowMs = 1_800_000_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const store = createFakeAlertStore();
  const found: Finding[] = [];
  const off = new Set<string>();
  const logged: string[] = [];
  const log = (_fields: unknown, message?: string): void => void logged.push(message ?? '');
  const channels = { ops: { severity: 'info' }, pager: { severity: 'critical' }, money: { severity: 'info', rules: ['budget'] } } as const;
  const node = (nodeId: string) => {
    const observed: Observation[] = [];
    const watch = createAlertWatch({
      store,
      nodeId,
      clock,
      logger: { info: log, warn: log },
      conditions: [{ rules: ['budget'], everyMs: 0, find: async () => found }],
      observe: () => observed,
      announce: (change) => createNotices(change, channels, nowMs),
      isOff: (rule) => off.has(rule),
      everyMs: () => 1000,
    });
    return { watch, observed };
  };
  const messages = () => store.notices().map(({ channel, event, rule }) => `${channel} ${event} ${rule}`);
  return { store, found, off, logged, node, messages, advance: (byMs: number) => void (nowMs += byMs) };
}

test('a problem is announced to the channels that want it, once by all gateways, and its end to the same channels', async () => {
  const { found, node, messages, store } = setUp();
  const [a, b] = [node('a'), node('b')];
  found.push(budget);
  await Promise.all([a.watch.check(), b.watch.check()]);
  await a.watch.check();
  assert.deepEqual(messages(), ['ops firing budget', 'money firing budget']);
  assert.equal((await listAttention(store, 10))[0]?.action, 'Raise the limit.');
  assert.equal(a.watch.openByRule().get('budget'), 1);
  found.length = 0;
  await Promise.all([b.watch.check(), a.watch.check()]);
  assert.deepEqual(messages().slice(2), ['ops resolved budget', 'money resolved budget']);
  assert.deepEqual(await listAttention(store, 10), []);
});

test('a problem that one gateway sees ends when it is good, not while that gateway is silent', async () => {
  const { node, messages, advance } = setUp();
  const [a, b] = [node('a'), node('b')];
  a.observed.push(down);
  await a.watch.check();
  await b.watch.check();
  assert.deepEqual(messages(), ['ops firing upstream_down', 'pager firing upstream_down']);
  a.observed.length = 0;
  advance(60_000);
  await a.watch.check();
  await b.watch.check();
  assert.equal(messages().length, 2);
  b.observed.push({ ...down, state: 'good' });
  await b.watch.check();
  advance(1000);
  await b.watch.check();
  assert.equal(messages().length, 2);
  advance(1000);
  await b.watch.check();
  assert.deepEqual(messages().slice(2), ['ops resolved upstream_down', 'pager resolved upstream_down']);
});

test('a rule that is turned off opens nothing, and an open alert ends without a message', async () => {
  const { found, off, node, messages, store } = setUp();
  const { watch } = node('a');
  found.push(budget);
  await watch.check();
  off.add('budget');
  await watch.check();
  assert.equal(messages().length, 2);
  assert.deepEqual(await listAttention(store, 10), []);
});

test('without problems nothing is written', async () => {
  const { store, node } = setUp();
  const { watch } = node('a');
  const refuse = async (): Promise<never> => assert.fail('it was written');
  Object.assign(store, { putNodeReport: refuse, changeAlert: refuse, insertNotices: refuse });
  for (let checks = 0; checks < 3; checks += 1) await watch.check();
});

test('the list of problems begins with the most urgent and then the newest', async () => {
  const { found, node, store, advance } = setUp();
  const { watch } = node('a');
  found.push(findingOf({ subject: 'user:old', severity: 'warning' }));
  await watch.check();
  advance(1000);
  found.push(findingOf({ subject: 'user:new', severity: 'warning' }), findingOf({ subject: 'user:worst', severity: 'critical' }));
  await watch.check();
  assert.deepEqual(
    (await listAttention(store, 10)).map(({ subject }) => subject),
    ['user:worst', 'user:new', 'user:old'],
  );
  assert.equal((await listAttention(store, 1)).length, 1);
});
