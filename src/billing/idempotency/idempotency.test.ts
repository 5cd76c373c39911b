import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { GatewayError } from '../../inference/gateway-error.ts';
import { silentLogger } from '../../platform/log.ts';
import { createFakeIdempotencyStore } from './testing/fake-idempotency-store.ts';
import { createIdempotency, type Idempotency, type NamedRequest } from './idempotency.ts';
import type { IdempotencySettings } from './idempotency-settings.ts';
import type { IdempotencyStore } from './idempotency-store.ts';

const hourMs = 3_600_000;
const key = Buffer.alloc(32, 7);
let requests = 0;

type Process = Idempotency & { readonly ask: (name: string, more?: Partial<NamedRequest>) => ReturnType<Idempotency['begin']> };

/** Processes that share a store, and a wall clock that the test controls. */
function createWorld(context: TestContext, settings: Partial<IdempotencySettings> = {}) {
  const memory = createFakeIdempotencyStore();
  const world = { nowMs: 1_000_000, failure: undefined as Error | undefined, lostAnswer: undefined as Error | undefined };
  const store = Object.fromEntries(
    Object.entries(memory).map(([name, work]) => [
      name,
      typeof work !== 'function'
        ? work
        : async (...input: never[]) => {
            if (world.failure !== undefined) throw world.failure;
            const answer = await (work as (...parameters: never[]) => Promise<unknown>)(...input);
            if (world.lostAnswer !== undefined) throw world.lostAnswer;
            return answer;
          },
    ]),
  ) as unknown as IdempotencyStore;
  const start = (owner: string, with_: Uint8Array = key, deadPrefix?: string): Process => {
    const process = createIdempotency({
      store,
      key: with_,
      clock: { nowMs: () => world.nowMs, monotonicMs: () => performance.now() },
      logger: silentLogger,
      settings: () => ({ retentionHours: 24, replyBytesMax: 1000, totalBytesMax: 1e9, apiKeyBytesMax: 1e9, waitMs: 0, ...settings }),
      owner,
      ...(deadPrefix === undefined ? {} : { deadPrefix }),
    });
    context.after(() => process.close());
    const ask: Process['ask'] = (name, more) => {
      requests += 1;
      const { signal } = new AbortController();
      return process.begin({ keyId: 'key_1', name, digest: Buffer.from('body'), requestId: `req_${requests}`, signal, ...more });
    };
    return { ...process, ask };
  };
  return { world, memory, start };
}

async function claimOf(beginning: ReturnType<Idempotency['begin']>) {
  const { claim } = (await beginning) as { claim?: Extract<Awaited<typeof beginning>, { claim: unknown }>['claim'] };
  return claim ?? assert.fail('the request was answered before');
}

async function replyOf(beginning: ReturnType<Idempotency['begin']>) {
  const found = await beginning;
  if (!('kept' in found)) return assert.fail('the request was not answered before');
  const { body, ...kept } = found.kept;
  return { ...kept, text: Buffer.concat(await Array.fromAsync(body())).toString() };
}

const rejectsAs = (work: Promise<unknown>, code: string) =>
  assert.rejects(
    work,
    (error) => error instanceof GatewayError && error.code === code && assert.match(error.message, /Idempotency-Key/) === undefined,
  );

const head = { status: 201, headers: { 'content-type': 'text/plain' } };

test('a stored answer is repeated in every process until it expires', async (context) => {
  const { world, memory, start } = createWorld(context);
  const [one, two] = [start('one'), start('two')];
  const claim = await claimOf(one.ask('a', { requestId: 'req_first' }));
  assert.equal(claim.add(Buffer.from('hel')), true);
  claim.add(Buffer.from('lo'));
  await claim.keep(head);
  for (const process of [one, two]) assert.deepEqual(await replyOf(process.ask('a')), { ...head, requestId: 'req_first', text: 'hello' });
  world.nowMs += 24 * hourMs - 1;
  await replyOf(two.ask('a'));
  world.nowMs += 1;
  await (await claimOf(two.ask('a'))).release();
  const [row] = [...memory.rows.values()];
  assert.equal(row, undefined);
});

test('the store contains no key, body or answer in plain text', async (context) => {
  const { memory, start } = createWorld(context);
  const claim = await claimOf(start('one').ask('secret-name', { digest: Buffer.from('digest') }));
  claim.add(Buffer.from('secret-answer'));
  await claim.keep({ status: 200, headers: { 'x-secret': 'secret-header' } });
  const [row] = [...memory.rows.values()];
  const written = JSON.stringify({ ...row, head: Buffer.from(row?.head ?? []).toString('latin1') });
  for (const text of ['secret-name', 'secret-answer', 'secret-header', 'digest"', Buffer.from('digest').toString('hex')])
    assert.ok(!written.includes(text), text);
});

test('another body with the same key is refused at any time, and idempotency keys belong to their API key', async (context) => {
  const { start } = createWorld(context, { waitMs: 10_000 });
  const [one, two] = [start('one'), start('two')];
  const claim = await claimOf(one.ask('a'));
  for (const process of [one, two]) await rejectsAs(process.ask('a', { digest: Buffer.from('other') }), 'idempotency_conflict');
  const foreign = await claimOf(two.ask('a', { keyId: 'key_2', digest: Buffer.from('other') }));
  await foreign.release();
  await claim.keep(head);
  await rejectsAs(two.ask('a', { digest: Buffer.from('other') }), 'idempotency_conflict');
});

test('a repetition waits for the running request, and is refused if that takes too long', async (context) => {
  const { start } = createWorld(context, { waitMs: 40 });
  const [one, two] = [start('one'), start('two')];
  const claim = await claimOf(one.ask('a'));
  for (const process of [one, two])
    await assert.rejects(
      process.ask('a'),
      (error) => error instanceof GatewayError && error.code === 'idempotency_in_progress' && error.retryAfterSeconds === 2,
    );
  const patient = createWorld(context, { waitMs: 20_000 });
  const [three, four] = [patient.start('three'), patient.start('four')];
  const held = await claimOf(three.ask('a', { requestId: 'req_held' }));
  const waiting = [three, three, four, four].map((process) => replyOf(process.ask('a')));
  held.add(Buffer.from('answer'));
  await held.keep(head);
  for (const reply of await Promise.all(waiting)) assert.deepEqual([reply.requestId, reply.text], ['req_held', 'answer']);
  await claim.release();
});

test('repetitions that wait for a request without effect run one after the other', async (context) => {
  const { start } = createWorld(context, { waitMs: 20_000 });
  const one = start('one');
  const first = await claimOf(one.ask('a'));
  const waiting = [one.ask('a'), one.ask('a'), one.ask('a')];
  await first.release();
  const next = await Promise.race(waiting.map(async (beginning) => ({ claim: await claimOf(beginning), beginning })));
  next.claim.add(Buffer.from('x'));
  await next.claim.keep(head);
  const others = waiting.filter((beginning) => beginning !== next.beginning).map(replyOf);
  assert.deepEqual(
    (await Promise.all(others)).map(({ text }) => text),
    ['x', 'x'],
  );
});

test('a client that disconnects while it waits ends its wait', async (context) => {
  const { start } = createWorld(context, { waitMs: 60_000 });
  const [one, two] = [start('one'), start('two')];
  const claim = await claimOf(one.ask('a'));
  for (const process of [one, two]) {
    const left = new AbortController();
    const beginning = process.ask('a', { signal: left.signal });
    setImmediate(() => left.abort());
    await assert.rejects(beginning);
  }
  await claim.release();
});

test('a request whose process dies has an unknown outcome: it is named, and never repeated', async (context) => {
  const { world, start } = createWorld(context);
  await claimOf(start('dead').ask('a', { requestId: 'req_dead' }));
  const two = start('two');
  await rejectsAs(two.ask('a'), 'idempotency_in_progress');
  world.nowMs += 30_001;
  await assert.rejects(two.ask('a'), (error) => {
    assert.ok(error instanceof GatewayError);
    assert.deepEqual([error.code, error.headers?.['x-should-retry']], ['idempotency_spent', 'false']);
    assert.match(error.message, /req_dead/);
    return true;
  });
  world.nowMs += 24 * hourMs;
  await (await claimOf(two.ask('a'))).release();
});

test('a request is not repeated if its answer was too long or sealed under another key', async (context) => {
  const { memory, start } = createWorld(context);
  const one = start('one');
  const long = await claimOf(one.ask('long'));
  long.add(Buffer.alloc(1000));
  assert.equal(long.add(Buffer.alloc(1)), true);
  await long.keep(head);
  await rejectsAs(one.ask('long'), 'idempotency_spent');
  const exact = await claimOf(one.ask('exact'));
  exact.add(Buffer.alloc(1000));
  await exact.keep(head);
  assert.equal((await replyOf(one.ask('exact'))).text.length, 1000);
  const spent = await claimOf(one.ask('spent'));
  await spent.spend();
  await spent.release();
  await rejectsAs(one.ask('spent'), 'idempotency_spent');
  assert.equal(memory.rows.size, 3);
});

test('a long answer is stored piece by piece, and its writer waits for the store', async (context) => {
  const { start } = createWorld(context, { replyBytesMax: 8 * 1024 * 1024 });
  const one = start('one');
  const claim = await claimOf(one.ask('a'));
  const piece = Buffer.alloc(100_000, 'x');
  let pauses = 0;
  for (let written = 0; written < 50; written += 1)
    if (!claim.add(piece)) {
      pauses += 1;
      await claim.whenRoom();
    }
  await claim.keep(head);
  assert.equal((await replyOf(one.ask('a'))).text.length, 5_000_000);
  assert.ok(pauses > 0);
});

test('without its store no request begins; writes that the store did not accept are repeated', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { world, memory, start } = createWorld(context);
  const one = start('one');
  const claim = await claimOf(one.ask('a'));
  world.failure = new Error('the store is down');
  await rejectsAs(one.ask('b'), 'idempotency_unavailable');
  claim.add(Buffer.from('x'));
  await claim.keep(head);
  context.mock.timers.tick(5000);
  await new Promise((resolve) => setImmediate(resolve));
  world.failure = undefined;
  await rejectsAs(one.ask('a'), 'idempotency_in_progress');
  context.mock.timers.tick(5000);
  await new Promise((resolve) => setImmediate(resolve));
  await rejectsAs(one.ask('a'), 'idempotency_spent');
  assert.equal(memory.rows.size, 1);
});

test('a claim whose answer was lost is released', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { world, memory, start } = createWorld(context);
  const one = start('one');
  world.lostAnswer = new Error('the connection broke');
  await rejectsAs(one.ask('a'), 'idempotency_unavailable');
  assert.equal(memory.rows.size, 1);
  world.lostAnswer = undefined;
  context.mock.timers.tick(5000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(memory.rows.size, 0);
});

test('ending a claim twice counts once: the process still renews the leases of its other keys', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { world, memory, start } = createWorld(context);
  const one = start('one');
  const claim = await claimOf(one.ask('a'));
  await claimOf(one.ask('b'));
  await claim.release();
  await claim.release();
  world.nowMs += 5000;
  context.mock.timers.tick(5000);
  assert.deepEqual(
    [...memory.rows.values()].map(({ leaseUntilMs }) => leaseUntilMs),
    [1_000_000 + 5000 + 30_000],
  );
});

test('a process renews its leases as long as it holds a key, and sweeps expired keys', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { world, memory, start } = createWorld(context);
  const one = start('one');
  const claim = await claimOf(one.ask('a'));
  world.nowMs += 29_000;
  context.mock.timers.tick(5000);
  await new Promise((resolve) => setImmediate(resolve));
  world.nowMs += 29_000;
  await rejectsAs(start('two').ask('a'), 'idempotency_in_progress');
  assert.equal([...memory.rows.values()][0]?.leaseUntilMs, 1_000_000 + 29_000 + 30_000);
  let isSettled = false;
  const settled = one.settled(60_000).then(() => (isSettled = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isSettled, false);
  await claim.release();
  await settled;
  await start('three').settled(0);
});

test('an answer beyond the budget is not stored: its key is spent, and other answers stay', async (context) => {
  const { memory, start } = createWorld(context, { totalBytesMax: 25, apiKeyBytesMax: 12 });
  const one = start('one');
  const answerWith = async (name: string, bytes: number, keyId = 'key_1'): Promise<void> => {
    const claim = await claimOf(one.ask(name, { keyId }));
    for (let at = 0; at < bytes; at += 1) claim.add(Buffer.from('x'));
    await claim.keep(head);
  };
  await answerWith('first', 10);
  await answerWith('too much of one API key', 3);
  await rejectsAs(one.ask('too much of one API key'), 'idempotency_spent');
  await answerWith('another API key', 12, 'key_2');
  await answerWith('too much of all', 4, 'key_3');
  await rejectsAs(one.ask('too much of all', { keyId: 'key_3' }), 'idempotency_spent');
  // Refused, spent and released requests use no budget.
  await (await claimOf(one.ask('released'))).release();
  const spentClaim = await claimOf(one.ask('spent'));
  spentClaim.add(Buffer.from('xx'));
  await spentClaim.spend();
  await answerWith('it fits', 2);
  assert.equal((await replyOf(one.ask('it fits'))).text, 'xx');
  assert.equal((await replyOf(one.ask('first'))).text.length, 10);
  assert.equal([...memory.rows.values()].filter(({ state }) => state === 'kept').length, 3);
});

test('stored answers count against the budget when a process starts', async (context) => {
  const { start } = createWorld(context, { totalBytesMax: 100 });
  const first = await claimOf(start('one').ask('a'));
  first.add(Buffer.alloc(60));
  await first.keep(head);
  const two = start('two');
  await new Promise((resolve) => setImmediate(resolve));
  const second = await claimOf(two.ask('b'));
  second.add(Buffer.alloc(60));
  await second.keep(head);
  await rejectsAs(two.ask('b'), 'idempotency_spent');
});

test('keys of a dead process with the same prefix are spent at once, and not after their lease', async (context) => {
  const { start } = createWorld(context);
  await claimOf(start('node/0 first').ask('a'));
  await claimOf(start('node/01 other').ask('b'));
  const next = start('node/0 next', key, 'node/0 ');
  const own = await claimOf(next.ask('c'));
  await new Promise((resolve) => setImmediate(resolve));
  await rejectsAs(next.ask('a'), 'idempotency_spent');
  await rejectsAs(start('elsewhere').ask('b'), 'idempotency_in_progress');
  await rejectsAs(start('elsewhere').ask('c'), 'idempotency_in_progress');
  await own.release();
});
