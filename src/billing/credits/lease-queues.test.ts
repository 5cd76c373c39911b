import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CreditRefusal } from './credit-desk.ts';
import type { LeaseReply, LeaseRequest } from './credit-store.ts';
import { LeaseQueues } from './lease-queues.ts';
import type { LeasedPot } from './leased-pot.ts';
import { balanceOf, type Pot } from './pots.ts';
import { settle } from './testing/simulated-nodes.ts';

const ofUser = (userName: string): Pot => balanceOf({ level: 'user', userName });
const team = balanceOf({ level: 'team', teamId: 't' });
const organization = balanceOf({ level: 'organization' });

type Asked = { readonly ids: readonly string[]; readonly answer: () => void };

/** Queues over a store that grants every need when the test lets it, and the requests that wait for that. */
function createQueues() {
  const asked: Asked[] = [];
  const bugs: unknown[] = [];
  const world = { monotonicMs: 0, asked, bugs };
  const grant = (requests: readonly LeaseRequest[]): LeaseReply => ({
    status: 'leased',
    leases: requests.map(({ pot, version, generation, keep, need }) => {
      const rest = { limit: 1000n, remaining: 500n, leasedElsewhere: 0n, stranded: 0n, scarce: false };
      return { potId: pot.id, version: version + 1, generation, granted: keep + need, ...rest };
    }),
  });
  let generations = 0;
  const queues = new LeaseQueues(
    {
      store: {
        changeLeases: (_, requests) => {
          const { promise, resolve } = Promise.withResolvers<LeaseReply>();
          asked.push({ ids: requests.map(({ pot }) => pot.id), answer: () => resolve(grant(requests)) });
          return promise;
        },
      },
      node: { nodeId: 'n', sessionId: 's' },
      nowMs: () => 0,
      monotonicMs: () => world.monotonicMs,
      storeTimeoutMs: 1000,
      waitMs: 5000,
      contendMs: 1500,
      waitersMax: 100,
      onFenced: () => {},
      onStoreFailure: (error) => void bugs.push(error),
      onBug: (error) => void bugs.push(error),
    },
    () => `g${(generations += 1)}`,
  );
  const take = (nanoUsd: bigint, ...pots: readonly Pot[]): Promise<CreditRefusal | undefined> => {
    const leased: readonly LeasedPot[] = pots.map((pot) => queues.potFor(pot));
    return new Promise((resolve) => {
      queues.wait(leased, nanoUsd, (refusal) => {
        if (refusal === undefined) for (const pot of leased) pot.hold(nanoUsd);
        resolve(refusal);
      });
    });
  };
  return { world, asked, bugs, queues, take };
}

const ids = (asked: readonly Asked[]) => asked.map((each) => each.ids.toSorted());

test('a call that needs pots of several owners asks for all in one request', async () => {
  const { asked, take } = createQueues();
  const call = take(10n, ofUser('ann'), team, organization);
  await settle();
  assert.deepEqual(ids(asked), [['balance-of-organization:1', 'balance-of-team:t', 'balance:ann']]);
  asked[0]?.answer();
  assert.equal(await call, undefined);
});

test('payers without a common pot do not wait for each other', async () => {
  const { asked, take } = createQueues();
  const calls = [take(10n, ofUser('ann')), take(10n, ofUser('bob'))];
  await settle();
  assert.deepEqual(ids(asked), [['balance:ann'], ['balance:bob']]);
  asked[1]?.answer();
  assert.equal(await calls[1], undefined);
});

test('a lease has one request at a time, also if its queue becomes a part of another meanwhile', async () => {
  const { asked, bugs, queues, take } = createQueues();
  const [first, second] = [take(10n, ofUser('ann')), take(10n, team)];
  await settle();
  const both = take(20n, ofUser('ann'), team);
  await settle();
  assert.deepEqual(ids(asked), [['balance:ann'], ['balance-of-team:t']], 'nothing more is asked for until both are answered');
  assert.equal([...queues.all()].length, 1);
  for (const request of asked.slice(0, 2)) request.answer();
  await settle();
  assert.deepEqual(ids(asked.slice(2)), [['balance-of-team:t', 'balance:ann']]);
  asked[2]?.answer();
  assert.deepEqual(await Promise.all([first, second, both]), [undefined, undefined, undefined]);
  assert.deepEqual(bugs, []);
});

test('the owners of a queue are separated when nothing happens in it, and not before', async () => {
  const { asked, queues, take } = createQueues();
  const call = take(10n, ofUser('ann'), team);
  await settle();
  queues.tidy();
  assert.equal([...queues.all()].length, 1);
  asked[0]?.answer();
  await call;
  await settle();
  queues.tidy();
  assert.deepEqual(
    [...queues.all()].map((queue) => [...queue.pots()].map(({ pot }) => pot.id)),
    [['balance:ann'], ['balance-of-team:t']],
  );
  void take(500n, team);
  await settle();
  assert.deepEqual(ids(asked.slice(1)), [['balance-of-team:t']], 'a separated lease is asked for alone');
});

test('all queues of a call answer it in time if the store does not answer', async () => {
  const { world, asked, queues, take } = createQueues();
  void take(10n, team);
  await settle();
  const call = take(10n, ofUser('ann'), team);
  await settle();
  assert.equal(asked.length, 1);
  world.monotonicMs = 5000;
  for (const queue of queues.all()) queue.tick(60_000);
  assert.deepEqual(await call, { admitted: false, reason: 'unavailable' });
});

test('a lease that has ended is forgotten with its queue', async () => {
  const { world, asked, queues, take } = createQueues();
  const call = take(10n, ofUser('ann'));
  await settle();
  asked[0]?.answer();
  await call;
  const pot = queues.potFor(ofUser('ann'));
  pot.release(10n);
  world.monotonicMs = 60_000;
  for (const queue of queues.all()) queue.tick(60_000);
  await settle();
  asked[1]?.answer();
  await settle();
  for (const queue of queues.all()) queue.tick(60_000);
  await settle();
  queues.tidy();
  assert.equal(pot.removed, true);
  assert.deepEqual([[...queues.pots()].length, [...queues.all()].length], [0, 0]);
});
