import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createOperations, type StartOperation } from '../../src/control/operations/create-operations.ts';
import {
  createOperationRunner,
  OperationFailure,
  type OperationHandler,
  type RunnerOptions,
} from '../../src/control/operations/operation-runner.ts';
import type { OperationStore } from '../../src/control/operations/long-operation.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createIds } from '../../src/platform/ids.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const change = { actor: 'person:ann', via: 'api', atMs: 5 } as const;
const newOperation = (id: string, kind = id) =>
  ({ id, kind, permission: 'usage:read', actor: 'person:ann', input: { of: '\0\ud800 "x"' }, createdAtMs: 10 }) as const;
const signal = (): AbortSignal => AbortSignal.timeout(10_000);

/** A runner and what begins and shows its operations, with short times. */
function openRunner(store: OperationStore, handlers: Readonly<Record<string, OperationHandler>>, more: Partial<RunnerOptions> = {}) {
  const lines: string[] = [];
  const log = (_fields: object, message: string): void => void lines.push(message);
  const logger = { warn: log, error: log } as unknown as RunnerOptions['logger'];
  const times = { pollMs: 20, reportMs: 20, leaseMs: 400 };
  const runner = createOperationRunner({ store, handlers, clock: systemClock, logger, ...times, ...more });
  const operations = createOperations({ store, clock: systemClock, newId: createIds(systemClock), onStart: runner.wake, pollMs: 10 });
  const start = (kind: string, start: Partial<StartOperation> = {}) =>
    operations.start({ kind, permission: 'usage:read', input: null, change, isAudited: false, ...start });
  runner.start();
  return { runner, operations, start, lines };
}

/** The contract of every store for long operations, and the runner on it. */
export function operationSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('operations are listed newest first, to those who may see them, by kind and state, page by page', async () => {
    const store = engine().store();
    const insert = (id: string, more: object): Promise<boolean> =>
      store.insertOperation({ ...newOperation(id, 'op_listed'), permission: 'prices:stage', ...more }, 99);
    await insert('op_list_1', { createdAtMs: 11 });
    await insert('op_list_2', { createdAtMs: 12 });
    await insert('op_list_3', { createdAtMs: 12, actor: 'person:\0bob' });
    await insert('op_list_4', { createdAtMs: 13, permission: 'config:write' });
    await store.cancelOperation('op_list_1', 99, change);
    const list = async (query: object): Promise<string[]> => {
      const rows = await store.queryOperations({
        permissions: ['prices:stage', 'config:read', 'usage:read'],
        kind: 'op_listed',
        limit: 9,
        ...query,
      });
      return rows.map(({ id }) => id.slice(-1));
    };
    assert.deepEqual(await list({}), ['3', '2', '1']);
    assert.deepEqual(await list({ permissions: ['config:write'] }), ['4']);
    assert.deepEqual(await list({ permissions: [] }), []);
    assert.deepEqual(await list({ actor: 'person:\0bob' }), ['3']);
    assert.deepEqual(await list({ states: ['cancelled', 'done'] }), ['1']);
    assert.deepEqual(await list({ kind: 'op_other_kind' }), []);
    assert.deepEqual(await list({ limit: 1, after: { createdAtMs: 12, id: 'op_list_3' } }), ['2']);
  });

  test('an operation is stored as it was begun, is audited if asked, and only so many of a kind are open', async () => {
    const store = engine().store();
    assert.equal(await store.insertOperation(newOperation('op_whole'), 1, change), true);
    const found = await store.findOperation('op_whole');
    const { createdAtMs, ...given } = newOperation('op_whole');
    assert.deepEqual(found, { ...given, createdAtMs, state: 'waiting', isCancelling: false, version: 1, attempts: 0 });
    assert.equal(await store.insertOperation(newOperation('op_second', 'op_whole'), 1, change), false);
    assert.equal(await store.insertOperation(newOperation('op_second', 'op_other'), 1), true);
    assert.equal(await store.findOperation('op_none'), undefined);
    assert.equal((await store.listAudit({ subject: 'operation:op_whole', limit: 9 })).length, 1);
    assert.equal((await store.listAudit({ subject: 'operation:op_second', limit: 9 })).length, 0);
  });

  test('only the process that runs an operation reads what is sealed in it', async () => {
    const store = engine().store();
    await store.insertOperation({ ...newOperation('op_sealed'), sealed: 'c2VhbGVk' }, 9);
    const claimed = await store.claimOperation({ kinds: ['op_sealed'], owner: 'p', nowMs: 1, leaseUntilMs: 2 });
    assert.equal(claimed?.sealed, 'c2VhbGVk');
    const query = { permissions: ['usage:read'], kind: 'op_sealed', limit: 9 } as const;
    const shown = [
      await store.findOperation('op_sealed'),
      ...(await store.queryOperations(query)),
      await store.cancelOperation('op_sealed', 9, change),
    ];
    assert.ok(shown.every((operation) => operation !== undefined && !JSON.stringify(operation).includes('c2VhbGVk')));
  });

  test('operations are listed while they run, and for a time after their end', async () => {
    const store = engine().store();
    await store.insertOperation({ ...newOperation('op_listed'), createdAtMs: 30 }, 9);
    await store.insertOperation({ ...newOperation('op_over'), createdAtMs: 40 }, 9);
    await store.cancelOperation('op_over', 1000, change);
    const list = async (keptUntilMs: number, limit = 9) =>
      (await store.listOperations({ keptUntilMs, limit })).map(({ id }) => id).filter((id) => /_listed|_over/.test(id));
    assert.deepEqual(await list(1000), ['op_over', 'op_listed']);
    assert.deepEqual(await list(1001), ['op_listed']);
    assert.deepEqual(await list(1000, 1), ['op_over']);
    await store.cancelOperation('op_listed', 1000, change);
    assert.deepEqual(await list(1001), []);
  });

  test('of many processes one gets an operation, and another one after the lease; the loser of the lease changes nothing', async () => {
    const store = engine().store();
    const another = await engine().openAnother();
    await store.insertOperation(newOperation('op_lease'), 9);
    const claim = (from: OperationStore, owner: string, nowMs: number) =>
      from.claimOperation({ kinds: ['op_lease', 'unused'], owner, nowMs, leaseUntilMs: nowMs + 100 });
    const claims = await Promise.all([store, another, store, another].map((from, index) => claim(from, `p${index}`, 1000)));
    assert.equal(claims.filter((claimed) => claimed !== undefined).length, 1);
    const first = `p${claims.findIndex((claimed) => claimed !== undefined)}`;
    assert.equal(await claim(another, 'late', 1099), undefined);
    assert.deepEqual((await claim(another, 'late', 1100))?.attempts, 2);
    const end = { state: 'done', result: { n: 1 }, endedAtMs: 1200, keepUntilMs: 2000 } as const;
    assert.equal(await store.reportOperation({ id: 'op_lease', owner: first, leaseUntilMs: 9e9 }), 'lost');
    assert.equal(await store.endOperation('op_lease', first, end), false);
    const progress = { done: 1, total: 2, unit: 'calls', partial: ['a'] };
    assert.equal(await store.reportOperation({ id: 'op_lease', owner: 'late', leaseUntilMs: 1300, progress }), 'go-on');
    assert.deepEqual((await store.findOperation('op_lease'))?.progress, progress);
    assert.equal(await store.endOperation('op_lease', 'late', end), true);
    assert.equal(await store.endOperation('op_lease', 'late', end), false);
    const { state, result, endedAtMs } = (await store.findOperation('op_lease')) ?? assert.fail();
    assert.deepEqual({ state, result, endedAtMs }, { state: 'done', result: { n: 1 }, endedAtMs: 1200 });
  });

  test('cancelling ends a waiting operation, asks a running one, and changes no ended one; each request is audited once', async () => {
    const store = engine().store();
    const cancel = (id: string) => store.cancelOperation(id, 9e12, change);
    await store.insertOperation(newOperation('op_waits'), 9);
    assert.equal((await cancel('op_waits'))?.state, 'cancelled');
    assert.equal((await cancel('op_waits'))?.version, 2);
    assert.equal((await store.listAudit({ subject: 'operation:op_waits', limit: 9 })).length, 1);
    await store.insertOperation(newOperation('op_runs'), 9);
    await store.claimOperation({ kinds: ['op_runs'], owner: 'p', nowMs: 1, leaseUntilMs: 2 });
    const asked = await cancel('op_runs');
    assert.deepEqual([asked?.state, asked?.isCancelling], ['running', true]);
    assert.equal(await store.reportOperation({ id: 'op_runs', owner: 'p', leaseUntilMs: 3 }), 'cancel');
    await store.endOperation('op_runs', 'p', { state: 'done', endedAtMs: 4, keepUntilMs: 5e12 });
    assert.equal((await cancel('op_runs'))?.state, 'done');
    assert.equal(await cancel('op_none'), undefined);
  });

  test('an operation that no process begins in time fails, and results are deleted after their time', async () => {
    const store = engine().store();
    await store.insertOperation({ ...newOperation('op_late'), startByMs: 50 }, 9);
    await store.insertOperation(newOperation('op_patient'), 9);
    await store.sweepOperations({ nowMs: 50, keepUntilMs: 80, limit: 100 });
    assert.equal((await store.findOperation('op_late'))?.state, 'waiting');
    await store.sweepOperations({ nowMs: 51, keepUntilMs: 80, limit: 100 });
    assert.equal((await store.findOperation('op_late'))?.problem?.code, 'not_begun');
    await store.sweepOperations({ nowMs: 81, keepUntilMs: 99, limit: 100 });
    assert.equal(await store.findOperation('op_late'), undefined);
    assert.equal((await store.findOperation('op_patient'))?.state, 'waiting');
  });

  test('a runner does the work, reports it, and tells failures from mistakes', async () => {
    const handlers: Record<string, OperationHandler> = {
      'run.good': async (input, { report }) => {
        report({ done: 2, total: 2, unit: 'calls' });
        return { doubled: Number(input) * 2 };
      },
      'run.failing': () => Promise.reject(new OperationFailure('no_calls', 'There are no calls.')),
      'run.wrong': () => Promise.reject(new TypeError('a secret reason')),
      'run.large': () => Promise.resolve('x'.repeat(2 ** 20)),
    };
    const { runner, operations, start, lines } = openRunner(engine().store(), handlers);
    await using opened = new AsyncDisposableStack();
    opened.defer(() => runner.close());
    const end = async (kind: string, input: unknown = 21) => operations.ended((await start(kind, { input })).id, signal());
    const good = await end('run.good');
    assert.deepEqual([good.state, good.result, good.progress], ['done', { doubled: 42 }, { done: 2, total: 2, unit: 'calls' }]);
    const failing = await end('run.failing');
    assert.deepEqual([failing.state, failing.problem], ['failed', { code: 'no_calls', detail: 'There are no calls.' }]);
    const wrong = await end('run.wrong');
    assert.deepEqual([wrong.state, wrong.problem?.code, JSON.stringify(wrong).includes('secret')], ['failed', 'internal_error', false]);
    assert.equal((await end('run.large')).problem?.code, 'internal_error');
    assert.deepEqual(lines, ['operation failed', 'operation failed']);
    await assert.rejects(start('run.good', { input: 'x'.repeat(2 ** 20) }), { code: 'input_too_large' });
  });

  test('a cancelled operation keeps its finished part; an ended one cannot be cancelled', async () => {
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const handlers: Record<string, OperationHandler> = {
      'stop.partial': async (_input, { signal: stopped }) => {
        resolve();
        await new Promise((done) => stopped.addEventListener('abort', done));
        return { priced: 7 };
      },
      'stop.quick': () => Promise.resolve(1),
    };
    const { runner, operations, start } = openRunner(engine().store(), handlers);
    await using opened = new AsyncDisposableStack();
    opened.defer(() => runner.close());
    const { id } = await start('stop.partial');
    await begun;
    const seen: string[] = [];
    assert.equal((await operations.cancel(id, change))?.isCancelling, true);
    for await (const { state } of operations.follow(id, signal())) seen.push(state);
    assert.deepEqual([seen[0], seen.at(-1)], ['running', 'cancelled']);
    assert.deepEqual((await operations.find(id))?.result, { priced: 7 });
    const quick = await start('stop.quick');
    await operations.ended(quick.id, signal());
    await assert.rejects(operations.cancel(quick.id, change), { code: 'operation_ended' });
  });

  test('an operation that is claimed while its process begins to stop is not begun, and is free for another process', async () => {
    const store = engine().store();
    const [claimed, stopping] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const late = Object.assign(Object.create(store) as OperationStore, {
      claimOperation: async (claim: Parameters<OperationStore['claimOperation']>[0]) => {
        const operation = await store.claimOperation(claim);
        if (operation === undefined) return undefined;
        claimed.resolve();
        await stopping.promise;
        return operation;
      },
    });
    let begun = 0;
    const first = openRunner(late, { 'move.late': () => Promise.resolve((begun += 1)) }, { leaseMs: 60_000 });
    const { id } = await first.start('move.late');
    await claimed.promise;
    const closed = first.runner.close();
    stopping.resolve();
    await closed;
    const left = await store.findOperation(id);
    assert.deepEqual([begun, left?.state, left?.attempts], [0, 'waiting', 0]);
  });

  test('another process takes over at once from one that stops, and after the lease from one that was killed', async () => {
    const store = engine().store();
    const another = await engine().openAnother();
    const waiting: OperationHandler = (_input, { signal: stopped }) =>
      new Promise((_done, reject) => stopped.addEventListener('abort', () => reject(stopped.reason)));
    const first = openRunner(store, { 'move.on': waiting }, { leaseMs: 60_000 });
    const { id } = await first.start('move.on');
    for await (const { state } of first.operations.follow(id, signal())) if (state === 'running') break;
    await first.runner.close();
    assert.deepEqual([(await store.findOperation(id))?.state, (await store.findOperation(id))?.attempts], ['waiting', 0]);
    // Three processes that are killed: they lease and never report again.
    await store.insertOperation(newOperation('op_killed', 'move.killed'), 9);
    for (const at of [1, 2, 3])
      await store.claimOperation({ kinds: ['move.killed'], owner: `dead${at}`, nowMs: at * 10, leaseUntilMs: at * 10 + 5 });
    const calls: number[] = [];
    const done: OperationHandler = (_input, { operation }) => Promise.resolve(calls.push(operation.attempts));
    // With the short lease of this suite, a machine that stalls for half a second would let it run twice.
    const second = openRunner(another, { 'move.on': done, 'move.killed': done }, { leaseMs: 60_000 });
    await using opened = new AsyncDisposableStack();
    opened.defer(() => second.runner.close());
    assert.equal((await second.operations.ended(id, signal())).state, 'done');
    assert.equal((await second.operations.ended('op_killed', signal())).problem?.code, 'interrupted');
    assert.deepEqual(calls, [1]);
  });
}
