import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import type { ConfigLayer } from '../../control/layers/config-layer.ts';
import { readEnvironment } from '../environment.ts';
import { openLayers } from './open-layers.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-kept-layer-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const layer = (number: number): ConfigLayer => ({
  number,
  publishedAtMs: 5,
  actor: 'ann',
  document: '{}',
  secrets: '{}',
  seal: `s${number}`,
});
const state = { newest: undefined as ConfigLayer | undefined, isDown: false, reads: 0, warnings: [] as string[] };
const start = () =>
  openLayers({
    environment: readEnvironment({ WEIR_DATA_DIR: folder }),
    store: {
      newestConfigLayer: async () => {
        state.reads += 1;
        if (state.isDown) throw new Error('the database is down');
        return state.newest && { ...state.newest };
      },
    },
    logger: { warn: (_fields: object, message: string) => void state.warnings.push(message) } as never,
    byDefault: true,
  });
const files = (used: ConfigLayer | undefined) => ({ text: '', prices: undefined, published: undefined, layer: used });

test('the newest layer is read at the start, and again only if its number changes', async () => {
  const layers = await start();
  assert.deepEqual([layers.newest(), layers.kept, state.reads], [undefined, undefined, 1]);
  assert.equal(await layers.follow(0), false);
  assert.equal(state.reads, 1);
  state.newest = layer(1);
  assert.equal(await layers.follow(1), true);
  const known = layers.newest();
  assert.equal(known?.number, 1);
  assert.equal(await layers.follow(1), false);
  assert.equal(layers.newest(), known, 'the same object, so that nothing is loaded again');
  layers.onInForce(files(known));
});

test('a start while the database is down has the layer of the last run, which is followed when the database is back', async () => {
  state.isDown = true;
  const layers = await start();
  assert.deepEqual([layers.newest(), layers.kept, state.warnings], [layer(1), layer(1), ['reading the published layer failed']]);
  await assert.rejects(layers.follow(2), /down/);
  assert.equal(layers.newest()?.number, 1);
  state.isDown = false;
  state.newest = layer(2);
  assert.equal(await layers.follow(2), true);
  layers.onInForce(files(layers.newest()));
  assert.match(readFileSync(join(folder, 'layer.published.json'), 'utf8'), /"number":2/);
});

test('without a layer in force none is kept', async () => {
  state.newest = undefined;
  const layers = await start();
  assert.equal(layers.kept?.number, 2);
  layers.onInForce(files(undefined));
  assert.equal((await start()).kept, undefined);
});
