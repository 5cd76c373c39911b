import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import type { Conversations } from '../../../../conversations/response-store.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { silentLogger } from '../../../../platform/log.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { type OpenTurn, createRecorder } from './record-response.ts';

const response: JsonObject = { id: 'resp_1', object: 'response', status: 'completed', output: [] };
const target = { upstream: { id: 'openai', credentialId: 'c', vendor: {} } } as unknown as Target;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * A recorder of a turn in a conversation, with a store that answers when `release` is called. `steps` has its calls.
 */
function start() {
  const steps: string[] = [];
  const storing = Promise.withResolvers<boolean>();
  const note = (step: string) => (): Promise<void> => Promise.resolve(void steps.push(step));
  const conversations = {
    saveResponse: (): Promise<boolean> => {
      steps.push('save');
      return storing.promise;
    },
    appendItems: note('append'),
    unlockConversation: note('unlock'),
  } as unknown as Conversations;
  const open = {
    gateway: { conversations, clock: { nowMs: () => 0, monotonicMs: () => 0 }, logger: silentLogger },
    caller: { userName: 'user', id: 'key_1' },
    settings: { responseRetentionDays: 1 },
    call: { callId: 'call_1' },
  } as unknown as OpenTurn;
  const recorder = createRecorder(open, { previous: undefined, conversationId: 'conv_1', input: [] }, 'resp_1');
  return { recorder, steps, release: () => storing.resolve(true) };
}

test('a reply ends when it is stored and its conversation has it', async () => {
  const { recorder, steps, release } = start();
  const recorded = recorder.record(response, target, true);
  release();
  await recorded;
  recorder.close();
  assert.deepEqual(steps, ['save', 'append', 'unlock']);
});

test('a slow store delays the end by a few seconds only, and the conversation stays locked until it has the reply', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { recorder, steps, release } = start();
    let hasEnded = false;
    const recorded = recorder.record(response, target, true).then(() => (hasEnded = true));
    mock.timers.tick(2900);
    await settle();
    assert.equal(hasEnded, false);
    mock.timers.tick(200);
    await recorded;
    recorder.close();
    await settle();
    assert.deepEqual(steps, ['save']);
    release();
    await settle();
    assert.deepEqual(steps, ['save', 'append', 'unlock']);
  } finally {
    mock.timers.reset();
  }
});

test('a turn without output releases its conversation when it is closed', () => {
  const { recorder, steps } = start();
  recorder.close();
  recorder.close();
  assert.deepEqual(steps, ['unlock']);
});
