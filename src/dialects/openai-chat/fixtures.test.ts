import assert from 'node:assert/strict';
import { join } from 'node:path';
import { openFixtures, testFixtures } from '../testing/fixture-suite.ts';
import { openaiChat } from './openai-chat.ts';

testFixtures({
  dialect: openaiChat,
  fixtures: openFixtures(join(import.meta.dirname, 'fixtures')),
  modes: ['compatible', 'documented'],
  // Servers omit `[DONE]`, so a stream is complete with its last finish reason and its usage.
  findEnd: (body) => (body.includes('"finish_reason":"') ? body.lastIndexOf('"finish_reason":"') : undefined),
  // Every byte is passed on, except a usage chunk that was not requested.
  checkBytes: ({ forwarded, hidden, edited }, body) => {
    assert.equal(edited, 0);
    if (hidden.length === 0) assert.ok(forwarded.equals(body));
    for (const data of hidden) assert.equal(forwarded.toString(), body.toString().replace(`data: ${data}\n\n`, ''));
  },
});
