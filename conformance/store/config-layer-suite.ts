import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ConfigLayer } from '../../src/control/layers/config-layer.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const change = { actor: 'person:ann', via: 'api', atMs: 5 } as const;
const createLayer = (number: number, more: Partial<ConfigLayer> = {}): ConfigLayer => ({
  number,
  publishedAtMs: 1000 + number,
  actor: 'person:ann',
  document: '{"upstreams":{"main":{"vendor":"openai","apiKey":null}},"models":{"é\\u0000":{"targets":[]}}}',
  secrets: '{"/upstreams/main/apiKey":{"sealed":"c2VhbGVk","since":1}}',
  seal: `seal-${number}`,
  ...more,
});

/** Published layers of the configuration, on each engine. */
export function configLayerSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('a number is assigned once, with its audit row and the signal to gateways, however many processes want it', async () => {
    const store = engine().store();
    const another = await engine().openAnother();
    assert.equal(await store.newestConfigLayer(), undefined);
    assert.equal((await store.readControl(0)).newestLayer, 0);
    const rivals = [1, 2, 3, 4].map((rival) =>
      (rival % 2 === 0 ? another : store).insertConfigLayer(createLayer(1, { actor: `rival ${rival}` }), change),
    );
    assert.equal((await Promise.all(rivals)).filter(Boolean).length, 1);
    assert.equal((await another.readControl(0)).newestLayer, 1);
    const audit = await store.listAudit({ action: 'config.publish', limit: 9 });
    assert.deepEqual(
      audit.map(({ subject }) => subject),
      ['config_layer:1'],
    );
    assert.match(audit[0]?.after ?? '', /"upstreams":\["main"\]/);
    assert.ok(!JSON.stringify(audit).includes('c2VhbGVk'), 'not even a sealed secret is in the audit log');
  });

  test('a layer is read as it was published, and layers are listed the newest first', async () => {
    const store = engine().store();
    const second = createLayer(2, { note: 'autumn “layer”', restored: 1 });
    assert.equal(await store.insertConfigLayer(second, change), true);
    assert.deepEqual(await store.newestConfigLayer(), second);
    assert.deepEqual(await (await engine().openAnother()).findConfigLayer(2), second);
    assert.equal(await store.findConfigLayer(3), undefined);
    await store.insertConfigLayer(createLayer(3), change);
    const numbers = async (page: { before?: number; limit: number }) => (await store.listConfigLayers(page)).map(({ number }) => number);
    assert.deepEqual(await numbers({ limit: 2 }), [3, 2]);
    assert.deepEqual(await numbers({ limit: 9, before: 2 }), [1]);
    const { document: _document, secrets: _secrets, seal: _seal, ...summary } = second;
    assert.deepEqual((await store.listConfigLayers({ limit: 1, before: 3 }))[0], summary);
    assert.equal((await store.readControl(0)).newestLayer, 3);
  });

  test('a published layer can be neither changed nor deleted, also not outside the store', async () => {
    const before = await engine().store().findConfigLayer(1);
    for (const sql of ["update config_layers set document = '{}'", 'delete from config_layers'])
      await assert.rejects(engine().tamper(sql), /append-only/, sql);
    assert.equal(
      await engine()
        .store()
        .insertConfigLayer(createLayer(1, { document: '{}' }), change),
      false,
    );
    assert.deepEqual(await engine().store().findConfigLayer(1), before);
  });
}
