import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ConfigLayer, LayerDocument } from './config-layer.ts';
import { createLayerOpener, createLayerSealer } from './layer-seal.ts';
import { type LayerFacts, type LayerSource, publishLayer } from './publish-layer.ts';

const key = Buffer.alloc(32, 7);
const secret = 'sk-a-credential-that-is-long-1234';
const upstream = (more: object = {}) => ({ vendor: 'openai-compatible', baseUrl: 'https://one.example/v1', apiKey: secret, ...more });
const change = { actor: 'person:ann', via: 'api', atMs: 5 } as const;

/** A store of layers, and what checks were asked. */
function open({ lost = [] }: { readonly lost?: readonly string[] } = {}) {
  const layers: ConfigLayer[] = [];
  const checked: unknown[] = [];
  const store = {
    newestConfigLayer: () => Promise.resolve(layers.at(-1)),
    findConfigLayer: (number: number) => Promise.resolve(layers[number - 1]),
    insertConfigLayer: (layer: ConfigLayer) => {
      if (layers.length >= layer.number) return Promise.resolve(false);
      layers.push(layer);
      return Promise.resolve(true);
    },
  };
  const check = (document: unknown) => {
    checked.push(document);
    return Promise.resolve({ problems: [], lostModels: lost });
  };
  const publish = (source: LayerSource, facts: Partial<LayerFacts> = {}) =>
    publishLayer({ store, sealer: createLayerSealer(key), check }, source, { dropModels: [], ...facts }, change);
  return { layers, checked, publish };
}

const openWith = (layer: ConfigLayer | undefined, own = key): LayerDocument =>
  createLayerOpener(own).open(layer ?? assert.fail('no layer'));

test('a layer opens as it was published, and neither its row nor its checks have the credential', async () => {
  const { layers, checked, publish } = open();
  const document = { upstreams: { one: upstream() }, models: { m: { targets: [{ upstream: 'one' }] } } };
  await publish({ document }, { note: 'why' });
  assert.deepEqual(openWith(layers[0]), document);
  assert.ok(!JSON.stringify([layers, checked]).includes(secret));
  assert.deepEqual([layers[0]?.number, layers[0]?.note, layers[0]?.actor], [1, 'why', 'person:ann']);
  assert.match(layers[0]?.secrets ?? '', /"endsIn":"1234"/);
});

test('a short credential shows nothing of itself, and equal ones are checked as equal', async () => {
  const { layers, checked, publish } = open();
  await publish({ document: { upstreams: { one: { ...upstream(), apiKey: undefined, apiKeys: ['short', 'short', 'other'] } } } });
  assert.ok(!(layers[0]?.secrets ?? '').includes('endsIn'));
  const [document] = checked as { upstreams: { one: { apiKeys: string[] } } }[];
  const [first, second, third] = document?.upstreams.one.apiKeys ?? [];
  assert.ok(first === second && first !== third);
  assert.deepEqual(openWith(layers[0]).upstreams?.['one']?.['apiKeys'], ['short', 'short', 'other']);
});

test('a credential is kept by its layer, at the same place and for the same destination only', async () => {
  const { layers, publish } = open();
  await publish({ document: { upstreams: { one: upstream(), two: upstream({ apiKey: 'sk-two' }) } } });
  const kept = (more: object, name = 'one', apiKey: unknown = { layer: 1 }) =>
    publish({ document: { upstreams: { [name]: upstream({ apiKey, ...more }) } } });
  await kept({ discoverModels: false });
  await kept({}, 'one', { set: true, ends_in: '1234', layer: 2 });
  assert.equal(openWith(layers[2]).upstreams?.['one']?.['apiKey'], secret);
  for (const [more, name] of [
    [{ baseUrl: 'https://two.example/v1' }],
    [{ vendor: 'openai' }],
    [{ preset: 'vllm' }],
    [{ proxy: 'http://proxy.example:3128' }],
    [{}, 'other'],
  ] as const)
    await assert.rejects(kept(more, name), { code: 'problems' }, JSON.stringify([more, name]));
  for (const wrong of [{ layer: 9 }, { layer: '1' }, { layer: 0 }, 5, null, '', '${HOME}', [secret]])
    await assert.rejects(kept({}, 'one', wrong), { code: 'problems' }, JSON.stringify(wrong));
  assert.equal(layers.length, 3);
});

test('a stored credential opens for its destination only, also if the row is changed', async () => {
  const { layers, publish } = open();
  await publish({ document: { upstreams: { one: upstream() } } });
  const [layer] = layers;
  assert.ok(layer !== undefined);
  const elsewhere = layer.document.replace('one.example', 'two.example');
  assert.throws(() => openWith({ ...layer, document: elsewhere }), { code: 'foreign' });
  // Even a program that can seal whole layers cannot lead the credential to another address.
  const forged = { ...layer, document: elsewhere };
  assert.throws(() => openWith({ ...forged, seal: createLayerSealer(key).seal(forged) }), { code: 'foreign', message: /cannot be opened/ });
  assert.throws(() => openWith({ ...layer, number: 2 }), { code: 'foreign' }, 'nor is an old layer the newest under another number');
  assert.throws(() => openWith(layer, Buffer.alloc(32, 8)), { code: 'foreign' });
});

test('an earlier layer is published again with its credentials', async () => {
  const { layers, checked, publish } = open();
  await publish({ document: { upstreams: { one: upstream() } } });
  await publish({ document: {} });
  const again = await publish({ from: 1 });
  assert.deepEqual([again.number, again.restored], [3, 1]);
  assert.deepEqual(openWith(layers[2]), openWith(layers[0]));
  assert.ok(!JSON.stringify(checked).includes(secret));
  await assert.rejects(publish({ from: 9 }), { code: 'unknown' });
});

test('somebody who has not seen the newest layer publishes nothing', async () => {
  const { layers, publish } = open();
  await publish({ document: {} }, { expectedNewest: 0 });
  await assert.rejects(publish({ document: {} }, { expectedNewest: 0 }), { code: 'meanwhile' });
  const both = await Promise.allSettled([publish({ document: {} }), publish({ document: {} })]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  assert.equal(layers.length, 2);
});

test('models in use lose their last target only if they are named', async () => {
  const { layers, publish } = open({ lost: ['a', 'b'] });
  await assert.rejects(publish({ document: {} }, { dropModels: ['a'] }), { code: 'drops', models: ['b'] });
  assert.equal(layers.length, 0);
  await publish({ document: {} }, { dropModels: ['a', 'b'] });
});
