import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Journal, JournalUnavailableError } from '../../../billing/journal/journal.ts';
import type { CallOpening } from '../../../billing/ledger/call-entry.ts';
import { openCall } from './open-attempt.ts';
import { createFakeUpstream } from '../exchange/testing/fake-exchange.ts';

function ask(open: Journal['open']): Promise<CallOpening> {
  const journal: Journal = {
    open,
    head: () => {},
    progress: () => {},
    done: () => {},
    unavailableReason: () => undefined,
    pendingEntries: () => 0,
    drain: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  return openCall(journal, {
    call: {
      callId: 'req_1',
      acceptedAtMs: 5,
      caller: { id: 'key_1', userId: 'user_1', userName: 'alice', name: 'ci', hint: 'x', createdAtMs: 0, strictTranslation: false },
      label: 'openai-chat',
      facts: { requestedModel: 'fast', stream: true, inputCharacters: 9, needs: [] },
      settings: { routing: { priceBook: { version: 'v1' } } },
    },
    target: {
      upstream: createFakeUpstream({ vendor: 'openai' }, { send: () => {}, close: () => Promise.resolve() }),
      upstreamModel: 'gpt',
    },
    translation: undefined,
    failed: [],
    pricingParameters: undefined,
  });
}

test('the opening is in the journal before anything else happens, and contains no prompt', async () => {
  const written: CallOpening[] = [];
  const opening = await ask((record, then) => {
    written.push(record);
    then?.(undefined);
  });
  assert.deepEqual(written, [opening]);
  assert.deepEqual(opening, {
    callId: 'req_1',
    acceptedAtMs: 5,
    userName: 'alice',
    keyId: 'key_1',
    keyName: 'ci',
    dialect: 'openai-chat',
    requestedModel: 'fast',
    upstream: 'one',
    vendor: 'openai',
    upstreamModel: 'gpt',
    stream: true,
    inputCharacters: 9,
    priceVersion: 'v1',
  });
});

test('journal-unavailable: a call that cannot be recorded is refused, and the client learns no path', async () => {
  const full = new JournalUnavailableError('no space left on /var/lib/weir');
  const refusals: Journal['open'][] = [
    () => {
      throw full;
    },
    (_record, then) => then?.(full),
  ];
  for (const refuse of refusals)
    await assert.rejects(
      ask(refuse),
      (error: Error & { code?: string; status?: number; retryAfterSeconds?: number; internal?: string }) => {
        assert.deepEqual([error.code, error.status, error.retryAfterSeconds], ['journal_unavailable', 503, 1]);
        assert.doesNotMatch(error.message, /var\/lib/);
        assert.match(error.internal ?? '', /no space left/);
        return error.cause === full;
      },
    );
});

test('a bug of the journal is not mistaken for a full disk', async () => {
  await assert.rejects(
    ask(() => {
      throw new TypeError('defect');
    }),
    TypeError,
  );
});
