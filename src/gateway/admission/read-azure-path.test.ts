import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readRequestTarget } from './read-request.ts';

for (const [url, path, model] of [
  ['/openai/v1/responses?api-version=preview', '/v1/responses', undefined],
  ['/openai/v1/chat/completions', '/v1/chat/completions', undefined],
  ['/openai/deployments/gpt-4o-prod/chat/completions?api-version=2025-01-01-preview', '/v1/chat/completions', 'gpt-4o-prod'],
  ['/openai/deployments/my%20model/audio/speech', '/v1/audio/speech', 'my model'],
  ['/openai/responses?api-version=2025-04-01-preview', '/v1/responses', undefined],
  ['/openai/deployments/%ff/embeddings', '/v1/deployments/%ff/embeddings', undefined],
  ['/anthropic/v1/messages?beta=true', '/v1/messages', undefined],
  ['/anthropic/messages', '/anthropic/messages', undefined],
  ['/v1/messages', '/v1/messages', undefined],
  ['/openai', '/openai', undefined],
] as const) {
  test(`${url} means ${path}${model === undefined ? '' : ` for ${model}`}`, () => {
    const target = readRequestTarget(url);
    assert.deepEqual([target?.path, target?.model], [path, model]);
  });
}
