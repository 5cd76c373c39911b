import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createCompactionSealer, openSummaries } from './compaction-summaries.ts';

const sealer = createCompactionSealer(Buffer.alloc(32, 7));
const item = (encrypted_content: string): JsonObject => ({ type: 'compaction', id: 'cmp_1', encrypted_content });
const bodyWith = (sealed: string): JsonObject => ({ model: 'm', input: [{ role: 'user', content: 'Before.' }, item(sealed)] });
const open = (sealed: string, userName = 'alice') => openSummaries(bodyWith(sealed), { sealer, userName });

const isRefused = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'invalid_value' && error.param === 'input[1].encrypted_content';

describe('a sealed summary', () => {
  test('a sealed summary is opened for its user as a user message, which has no more authority', () => {
    const opened: any = open(sealer.seal('alice', 'The summary: ünïcödé.'));
    assert.equal(opened.input[1].role, 'user');
    assert.match(opened.input[1].content[0].text, /The summary: ünïcödé\./);
    assert.deepEqual(opened.input[0], { role: 'user', content: 'Before.' });
  });

  test('a sealed summary reveals nothing, differs each time, and does not open for others or after any change', () => {
    const sealed = sealer.seal('alice', 'secret words');
    assert.doesNotMatch(sealed, /secret/);
    assert.notEqual(sealed, sealer.seal('alice', 'secret words'));
    assert.throws(() => open(sealed, 'bob'), isRefused);
    const other = createCompactionSealer(Buffer.alloc(32, 8));
    assert.throws(() => openSummaries(bodyWith(sealed), { sealer: other, userName: 'alice' }), isRefused);
    const begin = sealed.indexOf('.') + 1;
    for (let at = begin; at < sealed.length - 1; at++) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
      assert.throws(() => open(changed), isRefused, `changed at ${at}`);
    }
    assert.throws(() => open(sealed.slice(0, begin)), isRefused, 'cut off');
  });

  test('a vendor’s summary stays as it is, and so does a body without any', () => {
    const body = bodyWith('gAAAAA-vendor');
    assert.equal(openSummaries(body, { sealer, userName: 'alice' }), body);
    const plain = { model: 'm', input: 'Hello' };
    assert.equal(openSummaries(plain, { sealer, userName: 'alice' }), plain);
  });
});
