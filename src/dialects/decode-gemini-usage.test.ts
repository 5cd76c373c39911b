import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decodeGeminiUsage } from './decode-gemini-usage.ts';
test('image tokens are separated from the totals that include them: input, cached and output', () => {
  const image = (tokenCount: number) => [{ modality: 'IMAGE', tokenCount }];
  const report = decodeGeminiUsage(
    {
      promptTokenCount: 300,
      cachedContentTokenCount: 100,
      candidatesTokenCount: 1290,
      promptTokensDetails: image(258),
      cacheTokensDetails: image(58),
      candidatesTokensDetails: image(1290),
    },
    true,
  );
  assert.deepEqual(report?.usage, {
    inputTokens: 200,
    cacheReadTokens: 100,
    outputTokens: 1290,
    inputImageTokens: 200,
    cacheReadImageTokens: 58,
    outputImageTokens: 1290,
  });
});
