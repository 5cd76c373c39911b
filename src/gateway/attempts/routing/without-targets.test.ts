import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import type { VendorId } from '../../../upstreams/upstream-vendor.ts';
import { createFakeUpstream } from '../exchange/testing/fake-exchange.ts';
import { createRoutingTable } from './routing-table.ts';
import type { Target, Upstream } from './target.ts';
import { withoutTargets } from './without-targets.ts';

const upstream = (id: string, vendor: VendorId): Upstream => ({
  ...createFakeUpstream({ vendor }, { send: () => {}, close: () => Promise.resolve() }),
  id,
});
const first = upstream('first', 'openai');
const second = upstream('second', 'openai');
const local = upstream('local', 'openai-compatible');
const when = { inputTokensMin: 100_000 };

const table = createRoutingTable({
  upstreams: [first, second, local],
  models: [
    {
      name: 'shared',
      targets: [
        { upstream: first, upstreamModel: 'gpt-5', priority: 1, when },
        { upstream: second, upstreamModel: 'gpt-5', priority: 1 },
        { upstream: local, upstreamModel: 'qwen', priority: 2 },
      ],
      ordered: true,
    },
    { name: 'other', targets: [{ upstream: local, upstreamModel: 'qwen', priority: 1 }] },
  ],
  priceBook: createPriceBook({ book: loadShippedPriceBook() }),
  configuredAtMs: 5,
});
const idsOf = (targets: readonly Target[]): readonly string[] => targets.map((target) => target.upstream.id);
const leaveOut = (...ids: readonly string[]) => withoutTargets(table, (target) => ids.includes(target.upstream.id));

test('a target that is taken out is in no tier of its model, and the others keep theirs', () => {
  const route = leaveOut('second').routeOf('shared');
  assert.deepEqual(idsOf(route?.targets ?? []), ['first', 'local']);
  const tiers = route?.tiersFor('openai-chat').map((tier) => idsOf(tier.map(({ target }) => target)));
  assert.deepEqual(tiers, [['first'], ['local']]);
});

test('a tier without targets is left out, so that its calls go to the next one', () => {
  const tiers = leaveOut('first', 'second').routeOf('shared')?.tiersFor('openai-chat');
  assert.deepEqual(
    tiers?.map((tier) => idsOf(tier.map(({ target }) => target))),
    [['local']],
  );
});

test('a model whose targets are all out keeps its route, which is not the same as an unknown model', () => {
  const without = leaveOut('local');
  assert.deepEqual(without.routeOf('other')?.targets, []);
  assert.deepEqual(without.routeOf('other')?.tiersFor('openai-chat'), []);
  assert.deepEqual(without.targetsOf('other'), []);
  assert.equal(without.routeOf('no-such-model'), undefined);
  assert.ok(without.models.some(({ id }) => id === 'other'));
});

test('a route without targets that are out is the same object, and a filtered one is made once', () => {
  const without = leaveOut('first');
  assert.equal(without.routeOf('other'), table.routeOf('other'));
  const route = without.routeOf('shared');
  assert.equal(without.routeOf('shared'), route);
  assert.equal(route?.tiersFor('openai-chat'), route?.tiersFor('openai-chat'));
});

test('conditions count only while a target that has some is in use', () => {
  assert.equal(table.routeOf('shared')?.isConditional, true);
  assert.equal(leaveOut('second').routeOf('shared')?.isConditional, true);
  assert.equal(leaveOut('first').routeOf('shared')?.isConditional, false);
});

test('models that are discovered later are filtered too', () => {
  const discovered = new Map([['local', [{ name: 'qwen' }, { name: 'new-model' }]]]);
  const before = table.withDiscovered(discovered);
  assert.deepEqual(idsOf(before.targetsOf('new-model')), ['local']);
  assert.deepEqual(leaveOut('local').withDiscovered(discovered).targetsOf('new-model'), []);
  assert.deepEqual(idsOf(leaveOut('first').withDiscovered(discovered).targetsOf('new-model')), ['local']);
});
