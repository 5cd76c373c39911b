import assert from 'node:assert/strict';
import { test } from 'node:test';

import { encodeUsage } from './encode-usage.ts';

test('sound and pictures stand beside text in the details, as far as they are known', () => {
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

test('without them there are no details', () => {
  const told = { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 };
  assert.deepEqual(encodeUsage({ usage: { inputTokens: 1, outputTokens: 2 } }), told);
});

test('where the vendor said what its input was, text alone is told too', () => {
  const { promptTokensDetails } = encodeUsage({ usage: { inputTokens: 7, outputTokens: 2 }, splitsInput: true });
  assert.deepEqual(promptTokensDetails, [{ modality: 'TEXT', tokenCount: 7 }]);
});

test('what tools put into the prompt stands beside it, in the total, and is never more than was input', () => {
  const told = encodeUsage({ usage: { inputTokens: 90, cacheReadTokens: 10, outputTokens: 5 }, toolPromptTokens: 30 });
  assert.deepEqual([told.promptTokenCount, told.toolUsePromptTokenCount, told.totalTokenCount], [70, 30, 105]);
  const disputed = encodeUsage({ usage: { inputTokens: 4, outputTokens: 5 }, toolPromptTokens: 30 });
  assert.deepEqual([disputed.promptTokenCount, disputed.toolUsePromptTokenCount, disputed.totalTokenCount], [0, 4, 9]);
});
