import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Store } from '../../../store/store.ts';
import { type BroadcastToWorkers, createCoalesced, shareStore } from './share-store.ts';

/** A store that gets its rows when a worker requests the others to write them. */
function setUp(held: Record<string, string>, complete = true) {
  const rows = new Map<string, string>();
  const asked: string[] = [];
  const store = {
    findReplyOwner: async (replyId: string) => rows.get(replyId),
    findProofs: async ({ lookups }: { lookups: readonly string[] }) =>
      lookups.flatMap((lookup) => (rows.has(lookup) ? [{ lookup, sealed: rows.get(lookup) ?? '', expiresAtMs: 1 }] : [])),
  } as unknown as Store;
  const askOthers: BroadcastToWorkers = async (topic) => {
    asked.push(topic);
    for (const [name, value] of Object.entries(held)) rows.set(name, value);
    return complete;
  };
  return { shared: shareStore(store, askOthers), rows, asked };
}

describe('the store as a worker reads it', () => {
  test('an existing row causes no request to other workers', async () => {
    const { shared, rows, asked } = setUp({});
    rows.set('resp_1', 'ann');
    assert.equal(await shared.findReplyOwner('resp_1'), 'ann');
    assert.equal((await shared.findProofs({ lookups: ['resp_1'], nowMs: 0, bytesMax: 1 })).length, 1);
    assert.deepEqual(asked, []);
  });

  test('a row that another worker has not written yet is found', async () => {
    const { shared, asked } = setUp({ resp_2: 'ann', proof: 'sealed' });
    assert.equal(await shared.findReplyOwner('resp_2'), 'ann');
    assert.equal((await shared.findProofs({ lookups: ['proof', 'other'], nowMs: 0, bytesMax: 1 })).length, 1);
    assert.deepEqual(asked, ['ship-journal', 'write-proofs']);
  });

  test('a reply is unknown only after every worker has answered', async () => {
    assert.equal(await setUp({}).shared.findReplyOwner('resp_3'), undefined);
    await assert.rejects(async () => await setUp({}, false).shared.findReplyOwner('resp_3'), /Not all workers/);
    // A missing proof must not fail a call.
    assert.deepEqual(await setUp({}, false).shared.findProofs({ lookups: ['x'], nowMs: 0, bytesMax: 1 }), []);
  });
});

test('a caller during a run gets the result of the next run', async () => {
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
