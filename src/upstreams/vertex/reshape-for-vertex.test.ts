import assert from 'node:assert/strict';
import { test } from 'node:test';

import { reshapeForVertex } from './reshape-for-vertex.ts';

const body = { model: 'claude-opus-5', max_tokens: 5 };
const request = {
  route: { dialect: 'anthropic-messages', operation: 'generate', upstreamModel: 'claude-opus-5' },
  body,
  bytes: Buffer.from(JSON.stringify(body)),
  headers: { 'anthropic-beta': 'interleaved-thinking-2025-05-14,new-2026-11-01,other-2026-11-01' },
} as const;

test('flags that the operator names are sent besides those that are known', () => {
  const plain = reshapeForVertex(request, {});
  assert.equal(plain?.headers?.['anthropic-beta'], 'interleaved-thinking-2025-05-14');
  const extended = reshapeForVertex(request, { betas: ['new-2026-11-01'] });
  assert.equal(extended?.headers?.['anthropic-beta'], 'interleaved-thinking-2025-05-14,new-2026-11-01');
  assert.deepEqual(
    extended?.notes?.map(({ reason }) => reason),
    ['Vertex AI does not know other-2026-11-01'],
  );
});
