import assert from 'node:assert/strict';
import { test } from 'node:test';

import { serverPresets } from '../../../../src/upstreams/openai-compatible/server-presets.ts';
import { upstreamVendors } from '../../../../src/upstreams/registry.ts';
import { addToLayer, needsAddress, presets, settingsOf, vendors, withKey, yamlOf } from './new-upstream.ts';

const draft = { name: 'my.vllm', kind: 'vllm', baseUrl: 'http://10.0.0.5:8000/v1', apiKey: 'sk-1' };

test('every vendor but the clouds and every preset can be chosen, and those without an address of their own ask for one', () => {
  const ofLayers = Object.values(upstreamVendors).flatMap(({ id, facts }) => (facts === undefined ? [id] : []));
  assert.deepEqual([...vendors.map(({ value }) => value), 'openai-compatible'], ofLayers);
  assert.deepEqual([...presets].toSorted(), Object.keys(serverPresets).toSorted());
  const without = Object.entries(serverPresets).flatMap(([name, { baseUrl }]) => (baseUrl === undefined ? [name] : []));
  assert.deepEqual(presets.filter(needsAddress).toSorted(), without.toSorted());
  assert.equal(needsAddress('other'), true);
});

test('a draft is what weir.yaml has', () => {
  assert.deepEqual(settingsOf(draft), { vendor: 'openai-compatible', preset: 'vllm', baseUrl: draft.baseUrl, apiKey: 'sk-1' });
  assert.deepEqual(settingsOf({ ...draft, kind: 'openai', baseUrl: '', apiKey: '' }), { vendor: 'openai' });
  assert.deepEqual(settingsOf({ ...draft, kind: 'other', apiKey: '' }), { vendor: 'openai-compatible', baseUrl: draft.baseUrl });
});

test('an upstream is added to a layer whose other parts stay, with their masked credentials', () => {
  const before = { models: { fast: {} }, upstreams: { a: { vendor: 'xai', apiKey: { set: true, ends_in: 'last', layer: 1 } } } };
  const after = addToLayer(before, { ...draft, name: 'b' });
  assert.deepEqual(after, { ...before, upstreams: { ...before.upstreams, b: settingsOf(draft) } });
  assert.deepEqual(addToLayer(undefined, { ...draft, name: 'b' }), { upstreams: { b: settingsOf(draft) } });
});

test('the text for weir.yaml names a variable in the place of the key', () => {
  const yaml = yamlOf(draft);
  assert.doesNotMatch(yaml, /sk-1/);
  assert.match(yaml, /^upstreams:\n  my\.vllm:\n    vendor: "openai-compatible"\n/);
  assert.ok(yaml.includes('apiKey: "${MY_VLLM_API_KEY}"'), yaml);
});

test('another key of an upstream leaves the rest of the layer, and is for an upstream of the layer only', () => {
  const before = { models: { fast: {} }, upstreams: { a: { vendor: 'xai', apiKey: { set: true, ends_in: 'last', layer: 1 } } } };
  assert.deepEqual(withKey(before, 'a', 'sk-2'), { ...before, upstreams: { a: { vendor: 'xai', apiKey: 'sk-2' } } });
  assert.equal(withKey(before, 'b', 'sk-2'), undefined);
  assert.equal(withKey(undefined, 'a', 'sk-2'), undefined);
});
