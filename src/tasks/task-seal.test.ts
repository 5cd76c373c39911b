import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createSealer } from '../platform/seal/sealer.ts';
import { openFinished, openSealedRequest, sealFinished, sealRequest } from './task-seal.ts';

const sealer = createSealer(Buffer.alloc(32, 7));
const request = { prompt: 'p', metadata: '{}', submission: { path: '/v', headers: { a: 'b' }, bodyBase64: '' } };
const finished = { result: 'r', durationMs: 5000, raw: { seconds: 5 }, finishedAtMs: 1 };

test('sealed data of a task opens only for this task', () => {
  const sealed = sealRequest(sealer, 'a', request);
  assert.deepEqual(openSealedRequest(sealer, { id: 'a', sealed }), request);
  assert.equal(openSealedRequest(sealer, { id: 'b', sealed }), undefined);
  assert.deepEqual(openFinished(sealer, { id: 'a', result: sealFinished(sealer, 'a', finished) }), finished);
});

test('another version: data with an unknown form counts as unreadable', () => {
  for (const value of [null, [], {}, { ...request, prompt: 1 }, { ...request, submission: {} }]) {
    const sealed = sealer.seal(Buffer.from('video-request\na'), Buffer.from(JSON.stringify(value)));
    assert.equal(openSealedRequest(sealer, { id: 'a', sealed }), undefined, JSON.stringify(value));
  }
  for (const value of [null, {}, { ...finished, result: 1 }, { ...finished, finishedAtMs: '1' }]) {
    const result = Buffer.from(sealer.seal(Buffer.from('video-result\na'), Buffer.from(JSON.stringify(value)))).toString('base64');
    assert.equal(openFinished(sealer, { id: 'a', result }), undefined, JSON.stringify(value));
  }
});
