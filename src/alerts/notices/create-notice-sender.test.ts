import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createFakeAlertStore } from '../testing/fake-alert-store.ts';
import type { Channels } from './channel.ts';
import { createNoticeSender } from './create-notice-sender.ts';
import { DeliveryError, type NoticeTransports } from './send-notice.ts';

const minute = 60_000;
const hook = (url: string) => ({ type: 'slack', url, privateAddresses: false, filter: { severity: 'info' } }) as const;

function setUp(post: NoticeTransports['post'], channels: Channels = { ops: hook('https://a/'), other: hook('https://b/') }) {
  let nowMs = 1_800_000_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const store = createFakeAlertStore();
  const logged: string[] = [];
  const log = (_fields: unknown, message?: string): void => void logged.push(message ?? '');
  const sender = createNoticeSender({
    store,
    channels: () => channels,
    transports: { post, mail: async () => assert.fail('no mail is sent') },
    clock,
    logger: { info: log, warn: log, error: log },
    random: () => 0.5,
    timeoutMs: 50,
  });
  const content = JSON.stringify({
    event: 'firing',
    rule: 'budget',
    subject: 'user:a',
    period: '',
    severity: 'info',
    summary: 's',
    action: 'a',
    sinceMs: 1,
  });
  const queue = (id: string, channel = 'ops') =>
    store.insertNotices([{ id, channel, event: 'firing', rule: 'budget', subject: 'user:a', content, createdAtMs: nowMs }]);
  const stored = (id: string) => store.notices().find((notice) => notice.id === id);
  return { sender, queue, stored, logged, advance: (byMs: number) => void (nowMs += byMs) };
}

test('a message that fails is retried under the same id, and is abandoned after all attempts', async () => {
  let answers = 0;
  const { sender, queue, stored, logged, advance } = setUp(async () => {
    answers += 1;
    return 500;
  });
  await queue('m');
  await sender.round();
  assert.equal(stored('m')?.lastProblem, 'the receiver answered with status 500');
  await sender.round();
  assert.equal(answers, 1);
  for (let rounds = 0; rounds < 20 && stored('m')?.status === 'waiting'; rounds += 1) {
    advance(25 * 60 * minute);
    await sender.round();
  }
  assert.deepEqual([stored('m')?.status, stored('m')?.attempts, answers], ['given-up', 10, 10]);
  assert.equal(logged.at(-1), 'alert message abandoned');
  assert.deepEqual(sender.counts(), { delivered: 0, failed: 10, givenUp: 1 });
});

test('a receiver that recovers gets the message', async () => {
  let status = 503;
  const { sender, queue, stored, advance } = setUp(async () => status);
  await queue('m');
  await sender.round();
  status = 202;
  advance(6000);
  await sender.round();
  assert.equal(stored('m')?.status, 'delivered');
});

test('a channel that hangs is cut off, has two attempts at a time, and does not delay another', async () => {
  const open: string[] = [];
  const { sender, queue, stored } = setUp(async ({ url, signal }) => {
    if (url === 'https://b/') return 200;
    open.push(url);
    return await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  });
  for (const id of ['1', '2', '3', '4']) await queue(id);
  await queue('b', 'other');
  await sender.round();
  assert.equal(stored('b')?.status, 'delivered');
  assert.equal(open.length, 2);
  assert.equal(stored('1')?.lastProblem, 'the receiver did not answer in time');
  assert.deepEqual([stored('3')?.status, stored('3')?.attempts], ['waiting', 0]);
});

test('the problem that is shown has no text of the receiver and no address', async () => {
  const { sender, queue, stored } = setUp(async () => {
    throw new Error('connect ECONNREFUSED https://user:password@hooks.example/secret');
  });
  await queue('m');
  await sender.round();
  assert.equal(stored('m')?.lastProblem, 'the receiver cannot be reached');
  const known = setUp(async () => {
    throw new DeliveryError('the mail server refuses the credential (535)');
  });
  await known.queue('m');
  await known.sender.round();
  assert.equal(known.stored('m')?.lastProblem, 'the mail server refuses the credential (535)');
});

test('a message for a channel that was removed is abandoned at once', async () => {
  const { sender, queue, stored } = setUp(async () => 200);
  await queue('m', 'removed');
  await sender.round();
  assert.deepEqual([stored('m')?.status, stored('m')?.lastProblem], ['given-up', 'the configuration has no such channel any more']);
});
