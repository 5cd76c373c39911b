import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Availability } from '../health/health.ts';
import { type FakeCall, fakeHealth, fakeTable, fakeTarget, fakeUpstream, idsOf, rankFake } from './testing/fake-routing.ts';
import { mayReach } from './rank-targets.ts';
import type { RoutingTable } from './routing-table.ts';
import type { Target } from './target.ts';

const chat = ['openai-chat'] as const;
const failing = (againInMs: number): Availability => ({ usable: false, reason: 'failing', againInMs });
const limited = (againInMs: number): Availability => ({ usable: false, reason: 'rate-limited', againInMs });
const rejected: Availability = { usable: false, reason: 'rejected', againInMs: Infinity };
const suspect: Availability = { usable: true, state: 'suspect' };
const probe: Availability = { usable: true, state: 'probe' };

describe('priorities order targets', () => {
  test('they decide before everything else, whatever the order of the list', () => {
    const table = fakeTable([
      fakeTarget('third', { priority: 3 }),
      fakeTarget('first', { priority: 1 }),
      fakeTarget('second', { priority: 2 }),
    ]);
    assert.deepEqual(idsOf(rankFake(table)), ['first', 'second', 'third']);
    assert.deepEqual(idsOf(table.targetsOf('m')), ['first', 'second', 'third']);
  });

  test('they come before the interface; within one, targets that speak it come first', () => {
    const messages = (id: string, priority: number): Target => fakeTarget(id, { priority, upstream: fakeUpstream(id, 'anthropic') });
    const table = fakeTable([messages('one', 1), messages('two-a', 2), fakeTarget('two-b', { priority: 2 })]);
    assert.deepEqual(idsOf(rankFake(table)), ['one', 'two-b', 'two-a']);
    assert.deepEqual(idsOf(rankFake(table, { dialect: 'anthropic-messages' })), ['one', 'two-a', 'two-b']);
  });

  test('with `balance`, targets of one priority share the calls whatever they speak', () => {
    const foreign = fakeTarget('foreign', { priority: 1, weight: 1000, upstream: fakeUpstream('foreign', 'anthropic') });
    const table = fakeTable([fakeTarget('native', { priority: 1 }), foreign], { balance: 'random' });
    assert.deepEqual(idsOf(rankFake(table, { random: () => 0.5 })), ['foreign', 'native']);
  });

  test('without priorities, targets that speak the interface come first, each in the order of the list', () => {
    const table = fakeTable(
      [
        fakeTarget('a', { upstream: fakeUpstream('a', 'anthropic') }),
        fakeTarget('b'),
        fakeTarget('c', { upstream: fakeUpstream('c', 'gemini') }),
        fakeTarget('d'),
      ],
      { ordered: false },
    );
    assert.deepEqual(idsOf(rankFake(table)), ['b', 'd', 'a', 'c']);
    assert.deepEqual(idsOf(rankFake(table, { dialect: 'gemini-generate-content' })), ['c', 'a', 'b', 'd']);
  });
});

test('a model with one target costs nothing: no new list, no reading of the request, no draw', () => {
  const table = fakeTable([fakeTarget('one')]);
  const unread = new Proxy({ operation: 'generate', body: {}, headers: {} } as const, { get: () => assert.fail('the request was read') });
  const ranked = rankFake(table, { request: unread, random: () => assert.fail('it was drawn') });
  assert.equal(ranked, table.targetsOf('m'));
});

describe('health orders targets', () => {
  const table = fakeTable([fakeTarget('a', { priority: 1 }), fakeTarget('b', { priority: 2 }), fakeTarget('c', { priority: 3 })]);
  const ranked = (states: Parameters<typeof fakeHealth>[0]): readonly string[] => idsOf(rankFake(table, { health: fakeHealth(states) }));

  test('failing targets are left out, slow ones come after healthy ones', () => {
    assert.deepEqual(ranked({ a: { availability: failing(1) } }), ['b', 'c']);
    assert.deepEqual(ranked({ a: { availability: suspect } }), ['b', 'c', 'a']);
    assert.deepEqual(ranked({ a: { availability: suspect }, c: { availability: suspect } }), ['b', 'a', 'c']);
    assert.deepEqual(ranked({ a: { availability: suspect }, b: { availability: limited(5) }, c: { availability: rejected } }), ['a']);
  });

  test('a target on probation is called as the first choice only, so that no call meets two failing targets', () => {
    assert.deepEqual(ranked({ a: { availability: probe } }), ['a', 'b', 'c']);
    assert.deepEqual(ranked({ b: { availability: probe } }), ['a', 'c', 'b']);
    assert.deepEqual(ranked({ a: { availability: probe }, b: { availability: probe } }), ['a', 'c', 'b']);
    assert.deepEqual(ranked({ a: { availability: failing(1) }, b: { availability: probe } }), ['b', 'c']);
    assert.deepEqual(ranked({ a: { availability: suspect }, b: { availability: probe }, c: { availability: failing(1) } }), ['a', 'b']);
    assert.deepEqual(ranked({ a: { availability: probe }, b: { availability: suspect } }), ['a', 'c', 'b']);
  });

  test('if none works all are returned: limited ones before failing ones, and rejected ones last', () => {
    assert.deepEqual(ranked({ a: { availability: rejected }, b: { availability: failing(1) }, c: { availability: limited(9000) } }), [
      'c',
      'b',
      'a',
    ]);
  });

  test('of several failing targets, the one that was not called for longest is first, so that a recovery is noticed soon', () => {
    const all = { availability: failing(1000) };
    assert.deepEqual(ranked({ a: { ...all, lastSentMs: 30 }, b: { ...all, lastSentMs: 10 }, c: { ...all, lastSentMs: 20 } }), [
      'b',
      'c',
      'a',
    ]);
  });

  test('the last target is never left out', () => {
    const single = fakeTable([fakeTarget('a')]);
    for (const availability of [rejected, failing(5000), limited(60_000), suspect, probe]) {
      assert.deepEqual(idsOf(rankFake(single, { health: fakeHealth({ a: { availability } }) })), ['a']);
    }
  });
});

describe('some calls continue a reply that an upstream stores', () => {
  const both = [...chat, 'openai-responses'] as const;
  const at = (id: string, credentialId = id): Target =>
    fakeTarget(id, { upstream: { ...fakeUpstream(id, 'openai-compatible', both), credentialId }, priority: id === 'a' ? 1 : 2 });
  const table = fakeTable([at('a'), at('b', 'b#1'), at('b', 'b#2')]);
  const continues = { replyId: 'resp_1', param: 'previous_response_id' };
  const continued = { dialect: 'openai-responses', facts: { continues } } as const;

  test('they go to that upstream and to no other, with any of its credentials', () => {
    assert.deepEqual(idsOf(rankFake(table, { ...continued, keptAt: 'b' })).toSorted(), ['b#1', 'b#2']);
    assert.deepEqual(idsOf(rankFake(table, { ...continued, keptAt: 'a' })), ['a']);
  });

  test('they go there also if the upstream does not work, because no other has the reply', () => {
    const health = fakeHealth({ a: { availability: failing(1000) } });
    assert.deepEqual(idsOf(rankFake(table, { ...continued, keptAt: 'a', health })), ['a']);
  });

  test('they are answered as unknown if the model does not go there, or only through another interface', () => {
    assert.throws(() => rankFake(table, { ...continued, keptAt: 'gone' }), {
      code: 'reply_not_found',
      status: 400,
      param: 'previous_response_id',
    });
    const foreign = fakeTable([fakeTarget('a', { upstream: fakeUpstream('a', 'anthropic') })]);
    assert.throws(() => rankFake(foreign, { ...continued, keptAt: 'a' }), { code: 'reply_not_found' });
  });

  test('a new thread goes to all upstreams that store threads, and a continued one to its own', () => {
    const claude = (id: string): Target => fakeTarget(id, { upstream: fakeUpstream(id, 'anthropic') });
    const threads = fakeTable([
      claude('x'),
      fakeTarget('local', { upstream: fakeUpstream('local', 'openai-compatible', ['anthropic-messages']) }),
      claude('y'),
    ]);
    const create = { dialect: 'anthropic-messages', facts: { needs: ['threads'] } } as const;
    assert.deepEqual(idsOf(rankFake(threads, create)), ['x', 'y']);
    const goesOn = { ...create, facts: { ...create.facts, continues: { replyId: 'msg_1', param: 'thread.previous_message_id' } } };
    assert.deepEqual(idsOf(rankFake(threads, { ...goesOn, keptAt: 'y' })), ['y']);
    assert.throws(() => rankFake(threads, { ...goesOn, keptAt: 'local' }), {
      code: 'reply_not_found',
      details: { error_code: 'thread_not_found' },
    });
  });
});

test('a model that the caller may not call is never suggested', () => {
  const table = fakeTable([fakeTarget('one')], { name: 'secret-model' });
  const refusal = (models?: readonly string[]): string => {
    const caller = { userId: 'user', ...(models === undefined ? {} : { limits: { models } }) };
    try {
      rankFake(table, { facts: { requestedModel: 'secret-modle' }, caller });
    } catch (error) {
      return error instanceof Error ? error.message : '';
    }
    return 'served';
  };
  assert.match(refusal(), /did you mean secret-model\?/);
  assert.doesNotMatch(refusal(['other']), /secret-model\b/);
});

describe('upstreams that a caller may use', () => {
  const table = fakeTable(['east-1', 'east-2', 'west'].map((id) => fakeTarget(id, { upstream: fakeUpstream(id, 'openai') })));
  const ranked = (caller: object): readonly string[] => idsOf(rankFake(table, { caller: { userId: 'u', ...caller } }));

  test('targets elsewhere are left out, whichever level has the list', () => {
    const upstreams = ['east*'];
    for (const caller of [
      { limits: { upstreams } },
      { userLimits: { upstreams } },
      { team: { id: 't', name: 'research', limits: { upstreams } } },
      { organizationLimits: { upstreams } },
    ])
      assert.deepEqual(ranked(caller).toSorted(), ['east-1', 'east-2']);
    assert.deepEqual(ranked({}).toSorted(), ['east-1', 'east-2', 'west']);
  });

  test('every level must allow an upstream', () => {
    assert.deepEqual(ranked({ limits: { upstreams: ['east*'] }, organizationLimits: { upstreams: ['west', 'east-2'] } }), ['east-2']);
  });

  test('a model without a target that is left is unknown, and no upstream is named', () => {
    const caller = { userId: 'u', organizationLimits: { upstreams: ['north'] } };
    assert.equal(mayReach(caller, table, 'm'), false);
    assert.throws(
      () => rankFake(table, { caller }),
      (error: Error & { code?: string }) => error.code === 'model_not_found' && !/east|west|north/.test(error.message),
    );
    assert.equal(mayReach(caller, table, 'unknown'), true, 'what is not served is answered by routing');
    assert.equal(mayReach({ ...caller, limits: { models: ['other'] } }, table, 'unknown'), false);
  });
});

describe('an explanation is told which targets are left out, and why', () => {
  const reasonsOf = (table: RoutingTable, call: FakeCall = {}): readonly string[] => {
    const reasons: string[] = [];
    rankFake(table, {
      ...call,
      onLeftOut: ({ upstream }, { reason, detail = '' }) => reasons.push(`${upstream.id} ${reason} ${detail}`.trim()),
    });
    return reasons;
  };
  const three = fakeTable([
    fakeTarget('a', { priority: 1, when: { stream: true } }),
    fakeTarget('b', { priority: 1 }),
    fakeTarget('c', { priority: 2, kind: 'embeddings' }),
    fakeTarget('d', { priority: 2 }),
  ]);

  test('by conditions, by kind and by health', () => {
    const health = fakeHealth({ b: { availability: failing(4000) } });
    assert.deepEqual(reasonsOf(three, { kind: 'chat', health }), ['c other-kind', 'a condition it takes calls for a stream', 'b failing']);
  });

  test('by the list of upstreams of the caller', () => {
    const caller = { userId: 'user', limits: { upstreams: ['b', 'd'] } };
    assert.deepEqual(reasonsOf(three, { caller }), ['a not-allowed', 'c not-allowed']);
  });

  test('none is named if all of them can take the call', () => {
    assert.deepEqual(reasonsOf(three, { facts: { stream: true } }), []);
  });
});
