import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Store } from '../../../store/store.ts';
import { type AskOthers, createCoalesced, shareStore } from './share-store.ts';

/** A store whose rows come into it when the others are asked to write them. */
function setUp(held: Record<string, string>, complete = true) {
  const rows = new Map<string, string>();
  const asked: string[] = [];
  const store = {
    findReplyOwner: async (replyId: string) => rows.get(replyId),
    findProofs: async ({ lookups }: { lookups: readonly string[] }) =>
      lookups.flatMap((lookup) => (rows.has(lookup) ? [{ lookup, sealed: rows.get(lookup) ?? '', expiresAtMs: 1 }] : [])),
  } as unknown as Store;
  const askOthers: AskOthers = async (topic) => {
    asked.push(topic);
    for (const [name, value] of Object.entries(held)) rows.set(name, value);
    return complete;
  };
  return { shared: shareStore(store, askOthers), rows, asked };
}

describe('the store as a worker reads it', () => {
  test('what is there costs no question', async () => {
    const { shared, rows, asked } = setUp({});
    rows.set('resp_1', 'ann');
    assert.equal(await shared.findReplyOwner('resp_1'), 'ann');
    assert.equal((await shared.findProofs({ lookups: ['resp_1'], nowMs: 0, bytesMax: 1 })).length, 1);
    assert.deepEqual(asked, []);
  });

  test('what another worker has not written yet is found', async () => {
    const { shared, asked } = setUp({ resp_2: 'ann', proof: 'sealed' });
    assert.equal(await shared.findReplyOwner('resp_2'), 'ann');
    assert.equal((await shared.findProofs({ lookups: ['proof', 'other'], nowMs: 0, bytesMax: 1 })).length, 1);
    assert.deepEqual(asked, ['ship-journal', 'write-proofs']);
  });

  test('a reply is unknown only when everybody has said so', async () => {
    assert.equal(await setUp({}).shared.findReplyOwner('resp_3'), undefined);
    await assert.rejects(async () => await setUp({}, false).shared.findReplyOwner('resp_3'), /Not all workers/);
    // Proofs are never worth a failed call.
    assert.deepEqual(await setUp({}, false).shared.findProofs({ lookups: ['x'], nowMs: 0, bytesMax: 1 }), []);
  });
});

test('who asks while others are asked gets an answer that was begun after his question', async () => {
  const runs: PromiseWithResolvers<number>[] = [];
  const ask = createCoalesced(() => {
    const run = Promise.withResolvers<number>();
    runs.push(run);
    return run.promise;
  });
  const [first, second, third] = [ask(), ask(), ask()];
  assert.equal(runs.length, 1);
  runs[0]?.reject(new Error('no'));
  await assert.rejects(first, /no/);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(runs.length, 2, 'both wait for one');
  runs[1]?.resolve(2);
  assert.deepEqual(await Promise.all([second, third]), [2, 2]);
  const later = ask();
  assert.equal(runs.length, 3);
  runs[2]?.resolve(3);
  assert.equal(await later, 3);
});
