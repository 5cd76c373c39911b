import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { AccessLimits, AccessLimitsChange } from '../../src/accounts/access-limits.ts';
import { type BookProblem, type NewTransaction, transactionIdOf, verifyStart } from '../../src/billing/credits/credit-books.ts';
import type { LeaseRequest, LeaseState } from '../../src/billing/credits/credit-store.ts';
import { balancePot, allPots, periodsOf, type Pot } from '../../src/billing/credits/pots.ts';
import type { Store } from '../../src/store/store.ts';
import { createEntry } from './call-entries.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { startMs } from './suite-start.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';
import { usualOrLong } from '../support/scale.ts';
import { compareWithModel, creditSteps, teamLimits, usd } from './compare-with-credit-model.ts';

const nowMs = startMs + 1000;

/** Verifies all the books, a few rows at a time. */
export async function verifyAll(store: Store): Promise<readonly BookProblem[]> {
  const found: BookProblem[] = [];
  for (let cursor = verifyStart; ;) {
    const { problems, next } = await store.verifyBooks({ cursor, limit: 7 });
    found.push(...problems);
    if (next === undefined) return found;
    cursor = next;
  }
}

const paid = (userName: string, amountNanoUsd: bigint, changes: Partial<NewTransaction> = {}): NewTransaction => ({
  transactionId: `top_up:${userName}:${amountNanoUsd}`,
  kind: 'top_up',
  owner: { level: 'user', userName },
  amountNanoUsd,
  against: 'deposits',
  postedAtMs: nowMs,
  actor: 'tester',
  ...changes,
});

/** The contract of every store for accounts, spent amounts and leased amounts. */
export function creditSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  async function createPayer(userName: string, userLimits: AccessLimitsChange, keyLimits: AccessLimits = {}): Promise<void> {
    const store = engine().store();
    const user = await store.ensureUser({ id: `id-${userName}`, name: userName, createdAtMs: 1 }, changeAt());
    const key = { id: `key-${userName}`, userId: user.id, userName, name: 'ci', hint: 'abcd', createdAtMs: 2, strictTranslation: false };
    await store.insertApiKey(
      { ...key, hash: `hash-${userName}`, ...(Object.keys(keyLimits).length === 0 ? {} : { limits: keyLimits }) },
      changeAt(),
    );
    await store.changeUserLimits(userName, userLimits, changeAt());
  }

  const callOf = (userName: string, callId: string, nanoUsd: bigint, heldPots = 0) =>
    createEntry(callId, {
      userName,
      keyId: `key-${userName}`,
      acceptedAtMs: nowMs,
      charge: { amountNanoUsd: nanoUsd, lines: [] },
      ...(heldPots === 0 ? {} : { heldNanoUsd: String(nanoUsd), heldPots }),
    });

  const ask = (pot: Pot, need: bigint, known?: LeaseState): LeaseRequest => ({
    pot,
    version: known?.version ?? 0,
    generation: known?.generation ?? 'unnamed',
    keep: known?.granted ?? 0n,
    need,
    recentSpend: 0n,
    close: false,
  });

  async function lease(nodeId: string, request: LeaseRequest, atMs = nowMs): Promise<LeaseState> {
    const node = { nodeId, sessionId: `${nodeId}.1`, nowMs: atMs };
    const generation = request.version === 0 ? `${nodeId}.1:1` : request.generation;
    const reply = await engine()
      .store()
      .changeLeases(node, [{ ...request, generation }]);
    assert.ok(reply.status === 'leased');
    return reply.leases[0] ?? assert.fail();
  }

  test('F10, M4: the costs of calls are posted in double entry with their rows, once, however often and in however many parts they are shipped', async () => {
    const store = engine().store();
    const entries = [callOf('poster', 'post-1', 100n), callOf('poster', 'post-2', 0n), callOf('poster', 'post-3', 50n)];
    await store.appendEntries(entries.slice(0, 2));
    await store.appendEntries(entries);
    await store.appendEntries(entries);
    const [account] = await store.readBalances({ owner: { level: 'user', userName: 'poster' }, limit: 1 });
    assert.equal(account?.balanceNanoUsd, -150n);
    const posted = await store.listTransactions({ owner: { level: 'user', userName: 'poster' }, limit: 10 });
    assert.deepEqual(new Set(posted.map(({ amountNanoUsd }) => amountNanoUsd)), new Set([-100n, -50n]));
    assert.ok(posted.every(({ kind, day, keyId }) => kind === 'usage' && day === '2026-01-05' && keyId === 'key-poster'));
    assert.deepEqual(await verifyAll(store), []);
  });

  test('a statement opens with what was before, closes with what is then, and its sums are between', async () => {
    const store = engine().store();
    const owner = { level: 'user', userName: 'stater' } as const;
    const post = (amount: bigint, postedAtMs: number) =>
      store.postTransaction(paid('stater', amount, { transactionId: `top_up/stater/${postedAtMs}`, postedAtMs }), changeAt());
    await post(500n, 1000);
    await post(30n, 2000);
    await post(7n, 2999);
    await post(4000n, 3000);
    const { openingNanoUsd, closingNanoUsd, sums, usage, postings } = await store.readStatement({ owner, fromMs: 2000, toMs: 3000 });
    assert.deepEqual([openingNanoUsd, closingNanoUsd], [500n, 537n]);
    assert.deepEqual(sums, [{ kind: 'top_up', count: 2, amountNanoUsd: 37n }]);
    assert.deepEqual(
      postings.map(({ amountNanoUsd }) => amountNanoUsd),
      [30n, 7n],
    );
    assert.deepEqual(usage, []);
    const spender = { level: 'user', userName: 'poster' } as const;
    const used = await store.readStatement({ owner: spender, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER });
    assert.deepEqual(used.usage, [{ day: '2026-01-05', amountNanoUsd: -150n }]);
    assert.deepEqual([used.openingNanoUsd, used.closingNanoUsd, used.postings.length], [0n, -150n, 0]);
    const nobody = await store.readStatement({ owner: { level: 'user', userName: 'nobody' }, fromMs: 0, toMs: 1 });
    assert.deepEqual([nobody.openingNanoUsd, nobody.closingNanoUsd, nobody.sums], [0n, 0n, []]);
  });

  test('M10: a payment that is posted twice counts once, and its reference cannot be used for another payment', async () => {
    const store = engine().store();
    assert.deepEqual(await store.postTransaction(paid('payer', 500n), changeAt()), { status: 'posted', balanceNanoUsd: 500n });
    assert.deepEqual(await store.postTransaction(paid('payer', 500n), changeAt()), { status: 'known', balanceNanoUsd: 500n });
    const other = paid('payer', 600n, { transactionId: 'top_up:payer:500' });
    assert.deepEqual(await store.postTransaction(other, changeAt()), { status: 'conflict', balanceNanoUsd: 500n });
    const refund = paid('payer', 30n, {
      transactionId: 'refund:c',
      kind: 'refund',
      against: 'revenue',
      callId: 'c',
      note: 'broken reply',
      postedAtMs: nowMs + 1,
    });
    assert.equal((await store.postTransaction(refund, changeAt())).balanceNanoUsd, 530n);
    const [last] = await store.listTransactions({ owner: { level: 'user', userName: 'payer' }, limit: 1 });
    assert.deepEqual([last?.kind, last?.callId, last?.note, last?.actor], ['refund', 'c', 'broken reply', 'tester']);
    const former = paid('payer', 500n, { transactionId: 'top_up/payer/500', formerId: 'top_up:payer:500' });
    assert.equal((await store.postTransaction(former, changeAt())).status, 'known', 'the posting of an earlier version is not repeated');
    const changed = { ...former, amountNanoUsd: 501n };
    assert.equal((await store.postTransaction(changed, changeAt())).status, 'conflict');
    const signals = { nodeId: 'watcher', sessionId: 'watcher.1', nowMs };
    await store.openCreditNode(signals);
    const before = await store.readCreditSignals(signals);
    await store.postTransaction(paid('payer', 1n), changeAt());
    assert.notDeepEqual(await store.readCreditSignals(signals), before, 'running processes notice it');
  });

  test('a reference is unique for each user: another user may have the same one', async () => {
    const store = engine().store();
    const pay = (userName: string, nanoUsd: bigint, reference: string) => {
      const transactionId = transactionIdOf({ kind: 'top_up', owner: { level: 'user', userName }, reference });
      return store.postTransaction(paid(userName, nanoUsd, { transactionId, formerId: `top_up:${reference}` }), changeAt());
    };
    // As an earlier version posted it.
    await store.postTransaction(paid('elder', 7n, { transactionId: 'top_up:2026-01' }), changeAt());
    assert.deepEqual(await pay('elder', 7n, '2026-01'), { status: 'known', balanceNanoUsd: 7n });
    assert.deepEqual(await pay('younger', 9n, '2026-01'), { status: 'posted', balanceNanoUsd: 9n });
    assert.deepEqual(await pay('younger', 9n, '2026-01'), { status: 'known', balanceNanoUsd: 9n });
    assert.deepEqual(await pay('elder/a', 1n, 'b'), { status: 'posted', balanceNanoUsd: 1n });
    assert.deepEqual(await pay('elder', 1n, 'a/b'), { status: 'posted', balanceNanoUsd: 8n });
  });

  test('the books are append-only, and a change that bypasses them is found with its owner', async () => {
    const store = engine().store();
    await store.appendEntries([callOf('victim', 'victim-1', 70n)]);
    for (const sql of [
      "update ledger_transactions set amount_nano = 1 where user_name = 'victim'",
      "delete from ledger_transactions where user_name = 'victim'",
      "update ledger_postings set amount_nano = 1 where account_id = 'user:victim'",
      "delete from ledger_postings where account_id = 'user:victim'",
    ])
      await assert.rejects(engine().tamper(sql), /append-only|never/);
    assert.deepEqual(await verifyAll(store), []);
    await engine().tamper("update ledger_accounts set balance_nano = balance_nano + 5 where account_id = 'user:victim'");
    assert.deepEqual(
      (await verifyAll(store)).map(({ accountId }) => accountId),
      ['user:victim'],
    );
    await engine().tamper("update ledger_accounts set balance_nano = balance_nano - 5 where account_id = 'user:victim'");
    await engine().tamper("update spend_periods set spent_nano = spent_nano + 5 where user_name = 'victim' and period = '2026-01'");
    assert.match(
      (await verifyAll(store)).map(({ what }) => what).join(),
      /^key key-victim: its spend in 2026-01 differs from its postings$/,
    );
    await engine().tamper("update spend_periods set spent_nano = spent_nano - 5 where user_name = 'victim' and period = '2026-01'");
  });

  test('a limit that is set later counts earlier spend, and a sum beyond 64 bits is exact', async () => {
    const store = engine().store();
    const huge = 2n ** 62n;
    await createPayer('early', {});
    // The sums of the statistics have 64 bits for each model.
    await store.appendEntries([1, 2, 3].map((count) => ({ ...callOf('early', `early-${count}`, huge), requestedModel: `m-${count}` })));
    await store.changeUserLimits('early', { spendPerMonth: '5' }, changeAt());
    const [, , , , , month] = allPots({ userName: 'early', keyId: 'key-early', acceptedAtMs: nowMs });
    assert.ok(month);
    const [report] = await store.readPots([month]);
    assert.deepEqual([report?.limitNanoUsd, report?.spentNanoUsd], [5_000_000_000n, 3n * huge]);
    assert.deepEqual(await verifyAll(store), []);
  });

  test('what keys have spent in a month is read for many of them at once, also without a limit', async () => {
    const store = engine().store();
    const names = ['thrifty', 'lavish', 'idle'];
    for (const name of names) await createPayer(name, {});
    await store.appendEntries([callOf('thrifty', 'thrifty.1', 3n), callOf('lavish', 'lavish.1', 5n), callOf('lavish', 'lavish.2', 6n)]);
    const keys = names.map((userName) => ({ userName, keyId: `key-${userName}` }));
    const { day, month } = periodsOf(startMs);
    const expected = new Map([
      ['key-thrifty', 3n],
      ['key-lavish', 11n],
    ]);
    assert.deepEqual([await store.readKeySpend(keys, day), await store.readKeySpend(keys, month)], [expected, expected]);
    assert.equal((await store.readKeySpend(keys, '1970-01')).size, 0);
    assert.equal((await store.readKeySpend([{ userName: 'idle', keyId: 'key-lavish' }], day)).size, 0, 'a key of another user');
  });

  test('F1 F3 F6: processes that lease simultaneously never have more than exists, also of an unused key', async () => {
    await createPayer('crowd', { prepaid: true });
    await engine().store().postTransaction(paid('crowd', 1000n), changeAt());
    const stores = [engine().store(), await engine().openAnother(), await engine().openAnother()];
    const nodes = Array.from({ length: 12 }, (_, count) => `crowd-${count}`);
    await Promise.all(nodes.map((nodeId) => engine().store().openCreditNode({ nodeId, sessionId: 's', nowMs })));
    const replies = await Promise.all(
      nodes.map((nodeId, count) =>
        (stores[count % 3] ?? assert.fail()).changeLeases({ nodeId, sessionId: 's', nowMs }, [ask(balancePot('crowd'), 150n)]),
      ),
    );
    const granted = replies.flatMap((reply) => (reply.status === 'leased' ? reply.leases.map((each) => each.granted) : []));
    assert.equal(
      granted.reduce((sum, each) => sum + each, 0n),
      1000n,
    );
  });

  test('a run of a process ends with the next one, and its leases with their release', async () => {
    const store = engine().store();
    await createPayer('phoenix', { prepaid: true });
    await store.postTransaction(paid('phoenix', 1000n), changeAt());
    await store.openCreditNode({ nodeId: 'ash', sessionId: 'ash.1', nowMs });
    await lease('ash', ask(balancePot('phoenix'), 600n));
    await store.openCreditNode({ nodeId: 'ash', sessionId: 'ash.2', nowMs });
    const old = { nodeId: 'ash', sessionId: 'ash.1', nowMs };
    assert.deepEqual(await store.changeLeases({ ...old }, [ask(balancePot('phoenix'), 1n)]), { status: 'fenced' });
    assert.deepEqual(await store.readCreditSignals(old), { status: 'fenced' });
    assert.equal(await store.releaseCreditNode({ nodeId: 'ash', sessionId: 'ash.1' }), 0);
    assert.deepEqual(
      (await store.listLeases()).filter(({ nodeId }) => nodeId === 'ash').map(({ leasedNanoUsd }) => leasedNanoUsd),
      [600n],
    );
    assert.equal(await store.releaseCreditNode({ nodeId: 'ash', sessionId: 'ash.2' }), 1);
    assert.equal((await store.readBalances({ owner: { level: 'user', userName: 'phoenix' }, limit: 1 }))[0]?.leasedNanoUsd, 0n);
  });

  test('unused leases of one process are requested back when another needs them', async () => {
    const store = engine().store();
    await createPayer('lender', { prepaid: true });
    await store.postTransaction(paid('lender', 100n), changeAt());
    for (const nodeId of ['rich', 'poor']) await store.openCreditNode({ nodeId, sessionId: `${nodeId}.1`, nowMs });
    const pot = balancePot('lender');
    const rich = await lease('rich', ask(pot, 90n));
    const poor = await lease('poor', ask(pot, 50n));
    assert.deepEqual([rich.granted, poor.granted, poor.leasedElsewhere], [90n, 10n, 90n]);
    const signals = await store.readCreditSignals({ nodeId: 'rich', sessionId: 'rich.1', nowMs });
    assert.ok(signals.status === 'current');
    assert.deepEqual(signals.recalled, [pot.id]);
    await lease('rich', { ...ask(pot, 0n, rich), keep: 20n });
    assert.equal((await lease('poor', ask(pot, 50n, poor))).granted, 60n);
  });

  test('leases of a dead process are distinguished from those that others may release', async () => {
    const store = engine().store();
    await createPayer('heir', { prepaid: true });
    await store.postTransaction(paid('heir', 100n), changeAt());
    const pot = balancePot('heir');
    for (const nodeId of ['dead', 'living', 'asker']) await store.openCreditNode({ nodeId, sessionId: `${nodeId}.1`, nowMs });
    await lease('dead', ask(pot, 40n));
    await lease('living', ask(pot, 30n));
    const asked = await lease('asker', ask(pot, 50n), nowMs + 9000);
    assert.deepEqual([asked.leasedElsewhere, asked.stranded], [70n, 0n], 'processes that received no request need not have answered');
    const signals = await store.readCreditSignals({ nodeId: 'living', sessionId: 'living.1', nowMs: nowMs + 9500 });
    assert.deepEqual(signals.status === 'current' ? signals.recalled : undefined, [pot.id]);
    const later = await lease('asker', ask(pot, 50n, asked), nowMs + 11_000);
    assert.deepEqual([later.leasedElsewhere, later.stranded], [70n, 40n], 'a live process that received the request has answered');
    await store.openCreditNode({ nodeId: 'dead', sessionId: 'dead.2', nowMs: nowMs + 11_500 });
    const starting = await lease('asker', ask(pot, 50n, later), nowMs + 11_500);
    assert.equal(starting.stranded, 40n, 'a new run has yet to book the spend of the last one');
    await store.releaseCreditNode({ nodeId: 'dead', sessionId: 'dead.2' });
    const settled = await lease('asker', ask(pot, 20n, starting), nowMs + 11_500);
    assert.deepEqual([settled.leasedElsewhere, settled.stranded, settled.granted], [30n, 0n, asked.granted + 20n]);
  });

  test('verifications are kept, the last of each process alone, and old ones are removed', async () => {
    const store = engine().store();
    const keep = (id: string, endedAtMs: number, problems: readonly BookProblem[] = []) =>
      store.keepVerification({ id, author: 'somebody', startedAtMs: endedAtMs - 5, endedAtMs, checked: 3, problemCount: 200, problems });
    const many = Array.from({ length: 150 }, (_, index) => ({ accountId: `user:${index}`, what: 'wrong' }));
    await keep('ver_1', startMs, many);
    await keep('node:a', startMs + 1);
    await keep('ver_2', startMs + 2);
    await keep('node:a', startMs + 3, [{ what: 'of nobody' }]);
    const listed = await store.listVerifications({ limit: 2 });
    const about = { author: 'somebody', checked: 3, problemCount: 200 };
    assert.deepEqual(listed, [
      { ...about, id: 'node:a', startedAtMs: startMs - 2, endedAtMs: startMs + 3, problems: [{ what: 'of nobody' }] },
      { ...about, id: 'ver_2', startedAtMs: startMs - 3, endedAtMs: startMs + 2, problems: [] },
    ]);
    const rest = await store.listVerifications({ after: { endedAtMs: startMs + 2, id: 'ver_2' }, limit: 9 });
    assert.deepEqual(
      rest.map(({ id, problems }) => [id, problems.length]),
      [['ver_1', 100]],
    );
    await keep('ver_3', startMs + 3 + 400 * 86_400_000);
    assert.deepEqual(
      (await store.listVerifications({ limit: 9 })).map(({ id }) => id),
      ['ver_3', 'node:a'],
    );
  });

  test('M6 M7: the store leases and books as its model does, for any operations in any order', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(creditSteps, async (plan) => {
        const userName = `model-${(run += 1)}`;
        await createPayer(userName, { prepaid: true, spendPerMonth: usd(700) }, { spendPerDay: usd(400) });
        await engine()
          .store()
          .insertTeam({ id: `t-${userName}`, name: userName, createdAtMs: 1, limits: teamLimits }, changeAt());
        // Late enough that no process of another test counts as alive.
        await compareWithModel(engine().store(), userName, plan, nowMs + run * 100_000);
      }),
      { numRuns: usualOrLong(6, 12) },
    );
    assert.deepEqual(await verifyAll(engine().store()), []);
  });
}
