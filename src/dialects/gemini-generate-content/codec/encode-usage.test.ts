import assert from 'node:assert/strict';
import { test } from 'node:test';

import { encodeUsage } from './encode-usage.ts';

test('sound and pictures stand beside text in the details, as far as they are known', () => {
  const usage = encodeUsage({
    inputTokens: 90,
    cacheReadTokens: 10,
    inputAudioTokens: 20,
    inputImageTokens: 30,
    cacheReadImageTokens: 5,
    outputTokens: 50,
    outputImageTokens: 40,
  });
  assert.deepEqual(usage.promptTokensDetails, [
    { modality: 'TEXT', tokenCount: 45 },
    { modality: 'AUDIO', tokenCount: 20 },
    { modality: 'IMAGE', tokenCount: 35 },
  ]);
  assert.deepEqual(usage.cacheTokensDetails, [
    { modality: 'TEXT', tokenCount: 5 },
    { modality: 'IMAGE', tokenCount: 5 },
  ]);
  assert.deepEqual(usage.candidatesTokensDetails, [
    { modality: 'TEXT', tokenCount: 10 },
    { modality: 'IMAGE', tokenCount: 40 },
  ]);
});

test('without them there are no details', () => {
  assert.deepEqual(encodeUsage({ inputTokens: 1, outputTokens: 2 }), { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 });
});
