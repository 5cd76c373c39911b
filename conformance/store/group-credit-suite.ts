import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AccessLimits, AccessLimitsChange } from '../../src/accounts/access-limits.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import type { NewTransaction } from '../../src/billing/credits/credit-books.ts';
import type { LeaseReply, LeaseRequest } from '../../src/billing/credits/credit-store.ts';
import { accountIdOf, allPots, balanceOf, type GroupPayer, type Pot, type PotOwner } from '../../src/billing/credits/pots.ts';
import { createEntry } from './call-entries.ts';
import { verifyAll } from './credit-suite.ts';
import { createTask } from './tasks/task-fixtures.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';
import { startMs } from './suite-start.ts';

const nowMs = startMs + 1000;
const nano = (nanoUsd: number): string => `0.${String(nanoUsd).padStart(9, '0')}`;
const organization: PotOwner = { level: 'organization' };
const team = (label: string): PotOwner => ({ level: 'team', teamId: `t-${label}` });

/** The contract of every store for the money of teams and of the organization. */
export function groupCreditSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  /** A team with one user, whose key has these limits. */
  async function createTeam(
    label: string,
    limits: AccessLimits,
    { user = {}, key = {} }: { readonly user?: AccessLimitsChange; readonly key?: AccessLimits } = {},
  ): Promise<void> {
    const store = engine().store();
    const { id: userId } = await store.ensureUser({ id: `id-${label}`, name: label, createdAtMs: 1 }, changeAt());
    const plain = { id: `key-${label}`, userId, userName: label, name: 'ci', hint: 'abcd', createdAtMs: 2, strictTranslation: false };
    await store.insertApiKey({ ...plain, hash: `hash-${label}`, ...(Object.keys(key).length === 0 ? {} : { limits: key }) }, changeAt());
    await store.changeUserLimits(label, user, changeAt());
    await store.insertTeam({ id: `t-${label}`, name: label, createdAtMs: 1, limits }, changeAt());
    await store.setUserTeam(label, label, changeAt());
  }

  const callOf = (
    label: string,
    callId: string,
    nanoUsd: bigint,
    more: { readonly pots?: readonly Pot[]; readonly payer?: GroupPayer } = {},
  ) =>
    createEntry(callId, {
      userName: label,
      keyId: `key-${label}`,
      team: { id: `t-${label}`, name: label },
      acceptedAtMs: nowMs,
      charge: { amountNanoUsd: nanoUsd, lines: [] },
      ...(more.pots !== undefined && { heldNanoUsd: String(nanoUsd), heldPots: more.pots.reduce((sum, { bit }) => sum + bit, 0) }),
      ...(more.payer !== undefined && { payer: more.payer }),
    });

  const potOf = (label: string, id: string): Pot =>
    allPots({ userName: label, keyId: `key-${label}`, teamId: `t-${label}`, acceptedAtMs: nowMs }).find((pot) => pot.id === id) ??
    assert.fail(`no pot ${id}`);

  const paid = (owner: PotOwner, amountNanoUsd: bigint, reference: string): NewTransaction => ({
    transactionId: reference,
    kind: 'top_up',
    owner,
    amountNanoUsd,
    against: 'deposits',
    postedAtMs: nowMs,
    actor: 'tester',
  });

  const ask = (pot: Pot, need: bigint): LeaseRequest => {
    return { pot, version: 0, generation: 's:1', keep: 0n, need, recentSpend: 0n, close: false };
  };
  const granted = (reply: LeaseReply): readonly bigint[] =>
    reply.status === 'leased' ? reply.leases.map((each) => each.granted) : assert.fail('fenced');
  const spentOf = async (pot: Pot): Promise<bigint | undefined> => (await engine().store().readPots([pot]))[0]?.spentNanoUsd;

  test('the spend of a team and of the organization grows with the calls of their users, also if another level pays, and calls of others do not count', async () => {
    const store = engine().store();
    await createTeam('spender', { spendPerMonth: nano(900) });
    const periods = ['team:2026-01:t-spender', 'team:2026-01-05:t-spender', 'team:total:t-spender'].map((id) => potOf('spender', id));
    const everything = potOf('spender', 'organization:total:1');
    const before = (await spentOf(everything)) ?? 0n;
    await store.appendEntries([callOf('spender', 'spend-1', 100n), callOf('spender', 'spend-2', 50n, { payer: 'team' })]);
    await store.appendEntries([
      createEntry('spend-3', { userName: 'spender', keyId: 'key-spender', acceptedAtMs: nowMs, charge: { amountNanoUsd: 7n, lines: [] } }),
    ]);
    for (const pot of periods) assert.equal(await spentOf(pot), 150n, pot.id);
    assert.equal(await spentOf(everything), before + 157n);
    assert.deepEqual(await verifyAll(store), []);
  });

  test('a call is paid once: from the account of the team or the organization if the call names it, otherwise from that of the user', async () => {
    const store = engine().store();
    await createTeam('payer', { prepaid: true });
    await store.postTransaction(paid(team('payer'), 1000n, 'payer:1'), changeAt());
    await store.postTransaction(paid(organization, 500n, 'payer:2'), changeAt());
    await store.appendEntries([
      callOf('payer', 'pay-1', 100n, { payer: 'team' }),
      callOf('payer', 'pay-2', 10n, { payer: 'organization' }),
      callOf('payer', 'pay-3', 1n),
    ]);
    const balance = async (owner: PotOwner) => (await store.readBalances({ owner, limit: 1 }))[0]?.balanceNanoUsd;
    assert.deepEqual(
      [await balance(team('payer')), await balance(organization), await balance({ level: 'user', userName: 'payer' })],
      [900n, 490n, -1n],
    );
    const all = await store.readBalances({ limit: 10_000 });
    assert.deepEqual(
      all.map(({ owner }) => accountIdOf(owner)).filter((id) => ['organization:1', 'team:t-payer', 'user:payer'].includes(id)),
      ['organization:1', 'team:t-payer', 'user:payer'],
    );
    const listed = await store.listTransactions({ owner: team('payer'), limit: 10 });
    const shown = listed.map(({ kind, amountNanoUsd, userName, teamId }) => [kind, amountNanoUsd, userName, teamId]);
    assert.deepEqual(
      new Set(shown),
      new Set([
        ['top_up', 1000n, '', 't-payer'],
        ['usage', -100n, 'payer', 't-payer'],
      ]),
    );
    assert.deepEqual(await verifyAll(store), []);
  });

  test('one request leases from all levels, and each level is granted what it has', async () => {
    const store = engine().store();
    await createTeam(
      'levels',
      { spendPerDay: nano(300), prepaid: true },
      { user: { spendTotal: nano(500) }, key: { spendPerMonth: nano(200) } },
    );
    await store.postTransaction(paid(team('levels'), 250n, 'levels:1'), changeAt());
    const node = { nodeId: 'levels', sessionId: 's', nowMs };
    await store.openCreditNode(node);
    const pots = ['balance-of-team:t-levels', 'key:2026-01:key-levels', 'user:total:levels', 'team:2026-01-05:t-levels'].map((id) =>
      potOf('levels', id),
    );
    const reply = await store.changeLeases(
      node,
      pots.map((pot) => ask(pot, 1000n)),
    );
    assert.deepEqual(granted(reply), [250n, 200n, 500n, 300n]);
    await store.appendEntries([callOf('levels', 'levels-1', 200n, { pots, payer: 'team' })], 'levels');
    const reports = await store.readPots(pots);
    assert.deepEqual(
      reports.map(({ limitNanoUsd, spentNanoUsd, leasedNanoUsd }) => [limitNanoUsd, spentNanoUsd, leasedNanoUsd]),
      [
        [50n, 0n, 50n],
        [200n, 200n, 0n],
        [500n, 200n, 300n],
        [300n, 200n, 100n],
      ],
      'booking moves the amount from the leases to the spend of each level',
    );
    assert.equal(await store.releaseCreditNode({ nodeId: 'levels' }), 4);
    assert.deepEqual(await verifyAll(store), []);
  });

  test('overshoot 0: processes that lease and book together through several connections never lease more than a team has', async () => {
    await createTeam('crowded', { spendPerMonth: nano(1000) });
    const stores = [engine().store(), await engine().openAnother(), await engine().openAnother()];
    const members = Array.from({ length: 9 }, (_, count) => `crowded-${count}`);
    const nodeOf = (name: string) => ({ nodeId: name, sessionId: 's', nowMs });
    for (const name of members) {
      await engine()
        .store()
        .ensureUser({ id: `id-${name}`, name, createdAtMs: 1 }, changeAt());
      await engine()
        .store()
        .changeUserLimits(name, { spendPerMonth: nano(100_000) }, changeAt());
      await engine().store().openCreditNode(nodeOf(name));
    }
    const ofTeam = potOf('crowded', 'team:2026-01:t-crowded');
    // Each process serves another user, so only the team is common. Half of them ask for it first: the store has its
    // own order of locks.
    const replies = await Promise.all(
      members.map(async (name, count) => {
        const store = stores[count % 3] ?? assert.fail();
        const ofUser = potOf(name, `user:2026-01:${name}`);
        const requests = count % 2 === 0 ? [ask(ofTeam, 150n), ask(ofUser, 150n)] : [ask(ofUser, 150n), ask(ofTeam, 150n)];
        const amounts = granted(await store.changeLeases(nodeOf(name), requests));
        const amount = amounts[count % 2] ?? assert.fail();
        const booked = { ...callOf('crowded', name, amount, { pots: [ofTeam, ofUser] }), userName: name, keyId: `key-${name}` };
        await store.appendEntries([booked], name);
        return amount;
      }),
    );
    assert.equal(
      replies.reduce((sum, each) => sum + each, 0n),
      1000n,
    );
    assert.equal(await spentOf(ofTeam), 1000n);
    assert.deepEqual(await verifyAll(engine().store()), []);
    for (const nodeId of members) await engine().store().releaseCreditNode({ nodeId });
  });

  test('the hold of an unfinished video counts for its team, and for the balance that will pay it, until the video is booked', async () => {
    const store = engine().store();
    await createTeam('films', { spendTotal: nano(1000), prepaid: true });
    await store.postTransaction(paid(team('films'), 800n, 'films:1'), changeAt());
    const node = { nodeId: 'films', sessionId: 's', nowMs };
    await store.openCreditNode(node);
    const pots = [potOf('films', 'team:total:t-films'), balanceOf(team('films')), balanceOf({ level: 'user', userName: 'films' })];
    const [ofTeam, ofBalance] = pots;
    assert.ok(ofTeam !== undefined && ofBalance !== undefined);
    await store.changeLeases(node, [ask(ofTeam, 300n), ask(ofBalance, 300n)]);
    const owned = {
      userName: 'films',
      keyId: 'key-films',
      createdAtMs: nowMs,
      team: { id: 't-films', name: 'films' },
      payer: 'team',
    } as const;
    const task = createTask('films-1', { ...owned, heldNanoUsd: 300n, heldPots: ofTeam.bit + ofBalance.bit });
    await store.insertTask(task, { owner: 'films', untilMs: nowMs + 1000 }, undefined, 'films');
    const states = async () => (await store.readPots(pots)).map(({ leasedNanoUsd, videosNanoUsd }) => [leasedNanoUsd, videosNanoUsd]);
    // A process that is alone leases all of what is scarce; the task has its part now.
    assert.deepEqual(await states(), [
      [700n, 300n],
      [500n, 300n],
      [0n, 0n],
    ]);
    const entry = callOf('films', task.callId, 120n, { payer: 'team' });
    assert.equal(await store.refuseTask({ id: task.id, owner: 'films', entry }), true);
    const reports = await store.readPots(pots.slice(0, 2));
    assert.deepEqual(
      reports.map(({ limitNanoUsd, spentNanoUsd, videosNanoUsd }) => [limitNanoUsd, spentNanoUsd, videosNanoUsd]),
      [
        [1000n, 120n, 0n],
        [680n, 0n, 0n],
      ],
    );
    assert.equal(await store.releaseCreditNode({ nodeId: 'films' }), 2);
    assert.deepEqual(await verifyAll(store), []);
  });

  test('a deleted team, a removed limit and a balance that is not prepaid limit nothing', async () => {
    const store = engine().store();
    await createTeam('gone', { spendPerMonth: nano(10), prepaid: true });
    const pots = [potOf('gone', 'team:2026-01:t-gone'), balanceOf(team('gone'))];
    const limits = async () => (await store.readPots(pots)).map(({ limitNanoUsd }) => limitNanoUsd);
    assert.deepEqual(await limits(), [10n, 0n]);
    await store.changeTeam('gone', { limits: { prepaid: null } }, changeAt());
    assert.deepEqual(await limits(), [10n, undefined]);
    await store.setUserTeam('gone', undefined, changeAt());
    await store.postTransaction(paid(team('gone'), 5n, 'gone:1'), changeAt());
    assert.equal(await store.deleteTeam('gone', changeAt()), 'has-balance');
    await store.postTransaction(paid(team('gone'), -5n, 'gone:2'), changeAt());
    assert.equal(await store.deleteTeam('gone', changeAt()), 'deleted');
    assert.deepEqual(await limits(), [undefined, undefined]);
    await store.appendEntries([callOf('gone', 'gone-1', 3n)]);
    assert.equal(await spentOf(pots[0] ?? assert.fail()), 3n, 'calls that were under way are still counted for their team');
  });

  test('M4: a change of any sum of a team or of the organization is found, and names its account', async () => {
    const store = engine().store();
    await createTeam('victim', {});
    await store.appendEntries([callOf('victim', 'victim-1', 100n)]);
    for (const [account, period] of [
      ['team:t-victim', '2026-01-05'],
      ['team:t-victim', '2026-01'],
      ['team:t-victim', 'total'],
      ['organization:1', '2026-01'],
      ['organization:1', 'total'],
    ] as const) {
      const change = (by: string) =>
        engine().tamper(`update group_spend set spent_nano = spent_nano ${by} where account_id = '${account}' and period = '${period}'`);
      await change('+ 5');
      const problems = await verifyAll(store);
      assert.deepEqual(new Set(problems.map(({ accountId }) => accountId)), new Set([account]), period);
      await change('- 5');
    }
    assert.deepEqual(await verifyAll(store), []);
  });
}
