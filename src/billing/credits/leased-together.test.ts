import assert from 'node:assert/strict';
import { test } from 'node:test';

import { leasedTogether } from './leased-together.ts';
import { balancePot, allPots } from './pots.ts';

const lease = (potId: string, leasedNanoUsd: bigint, nodeId = 'one') => ({ nodeId, potId, leasedNanoUsd });

test('an amount that all limits of a call hold counts once, and amounts of different users and processes are added up', () => {
  const potsOfCall = (userName: string) =>
    allPots({ userName, keyId: `key of ${userName}`, teamId: 'team', acceptedAtMs: 0 }).map(({ id }) => id);
  assert.equal(leasedTogether(potsOfCall('ann').map((id) => lease(id, 5n))), 5n);
  const ofUsers = ['ann', 'b:ob'].flatMap((name) => potsOfCall(name).filter((id) => !/team|organization/.test(id)));
  assert.equal(leasedTogether(ofUsers.map((id) => lease(id, 5n))), 10n);
  assert.equal(leasedTogether(['one', 'two'].map((node) => lease(balancePot('ann').id, 5n, node))), 10n);
  assert.equal(leasedTogether([]), 0n);
});

test('of several limits the one that has leased most says how much is held', () => {
  const pots = allPots({ userName: 'ann', keyId: 'k', acceptedAtMs: 0 }).map(({ id }, index) => lease(id, BigInt(index)));
  assert.equal(leasedTogether(pots), BigInt(pots.length - 1));
});
