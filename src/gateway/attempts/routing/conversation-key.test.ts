import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatDialects } from '../../../dialects/registry.ts';
import { drawFor, hashConversation, hashText } from './conversation-hash.ts';

const body = { messages: [{ role: 'user', content: 'hello' }] };
const hashOf = (headers: Readonly<Record<string, string>>, userId = 'alice', more = {}): number =>
  hashConversation(chatDialects['openai-chat'], { operation: 'generate', body: { ...body, ...more }, headers }, userId);

test('every header in which agent programs name their session counts', () => {
  const names = [
    'x-weir-session',
    'x-claude-code-session-id',
    'session-id',
    'session_id',
    'conversation_id',
    'x-session-id',
    'x-session-affinity',
  ];
  for (const name of names) {
    assert.equal(hashOf({ [name]: 's1' }), hashOf({ [name]: 's1' }, 'alice', { messages: [] }), `${name} beats what is said`);
    assert.notEqual(hashOf({ [name]: 's1' }), hashOf({ [name]: 's2' }), name);
  }
  assert.equal(hashOf({ 'x-weir-session': 's1', 'session-id': 's2' }), hashOf({ 'x-weir-session': 's1' }), 'ours wins');
});

test('other headers, and empty ones, change nothing', () => {
  for (const headers of [{ 'x-weir-session': '' }, { 'user-agent': 'x' }, { 'x-client-request-id': '1' }, { authorization: 'Bearer x' }]) {
    assert.equal(hashOf(headers), hashOf({}));
  }
});

test('two users who send the same text share no conversation', () => {
  assert.notEqual(hashOf({}, 'alice'), hashOf({}, 'bob'));
  assert.notEqual(hashOf({ 'session-id': 's1' }, 'alice'), hashOf({ 'session-id': 's1' }, 'bob'));
});

test('a session of any length costs no more than a short one, and hashes evenly', () => {
  assert.equal(hashOf({ 'session-id': 'x'.repeat(10_000) }), hashOf({ 'session-id': 'x'.repeat(20_000) }));
  const buckets = Array.from({ length: 64 }, () => 0);
  for (let index = 0; index < 64_000; index++) {
    const bucket = Math.floor(drawFor(hashText(`session-${index}`), 12_345) * 64);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  const chi = buckets.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
  // 0.1 % of even hashes exceed this with 63 degrees of freedom.
  assert.ok(chi < 103.4, String(chi));
});

test('a draw is never 0 or 1, which have no score', () => {
  for (let seed = 0; seed < 100_000; seed++) {
    const draw = drawFor(seed, 0);
    assert.ok(draw > 0 && draw < 1);
  }
});
