import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSimulator } from './start-simulator.ts';

const tokensPerSecond = 40;
const outputTokens = 40;

test('a pace is kept after a pause: overdue frames are not sent at once', async (context) => {
  const simulator = await startSimulator();
  context.after(() => simulator.close());
  const reply = await fetch(`${simulator.addresses.openai}/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer k',
      'content-type': 'application/json',
      'x-simulator-pace': `tokensPerSecond=${tokensPerSecond};tokensPerFrame=4`,
      'x-simulator-output-tokens': String(outputTokens),
    },
    body: JSON.stringify({ model: 'gpt-4.1', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  // The whole process stalls, for longer than the whole reply takes.
  const pausedMs = performance.now();
  while (performance.now() - pausedMs < (outputTokens / tokensPerSecond) * 1000);
  const { emittedTokens = outputTokens } = simulator.records()[0] ?? {};
  const onMs = performance.now();
  assert.match(await reply.text(), /\[DONE\]/);
  // Of the unsent frames, one is due at once.
  const leastMs = ((outputTokens - emittedTokens - 8) / tokensPerSecond) * 1000;
  const tookMs = performance.now() - onMs;
  assert.ok(tookMs >= leastMs - 20, `${tookMs} ms for output of at least ${leastMs}`);
});
