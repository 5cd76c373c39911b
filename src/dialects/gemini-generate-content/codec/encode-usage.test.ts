import assert from 'node:assert/strict';
import { test } from 'node:test';

import { encodeUsage } from './encode-usage.ts';

test('details contain audio and images beside text, if they are known', () => {
  const used = {
    inputTokens: 90,
    cacheReadTokens: 10,
    inputAudioTokens: 20,
    inputImageTokens: 30,
    cacheReadImageTokens: 5,
    outputTokens: 50,
    outputImageTokens: 40,
  };
  const usage = encodeUsage({ usage: used });
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

test('without known parts there are no details', () => {
  const metadata = { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 };
  assert.deepEqual(encodeUsage({ usage: { inputTokens: 1, outputTokens: 2 } }), metadata);
});

test('if the vendor reported the kinds of its input, text alone is in the details too', () => {
  const { promptTokensDetails } = encodeUsage({ usage: { inputTokens: 7, outputTokens: 2 }, splitsInput: true });
  assert.deepEqual(promptTokensDetails, [{ modality: 'TEXT', tokenCount: 7 }]);
});

test('tokens that tools added to the prompt are separate, part of the total, and never more than the input', () => {
  const metadata = encodeUsage({ usage: { inputTokens: 90, cacheReadTokens: 10, outputTokens: 5 }, toolPromptTokens: 30 });
  assert.deepEqual([metadata.promptTokenCount, metadata.toolUsePromptTokenCount, metadata.totalTokenCount], [70, 30, 105]);
  const disputed = encodeUsage({ usage: { inputTokens: 4, outputTokens: 5 }, toolPromptTokens: 30 });
  assert.deepEqual([disputed.promptTokenCount, disputed.toolUsePromptTokenCount, disputed.totalTokenCount], [0, 4, 9]);
});
