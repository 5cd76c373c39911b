import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findRoute } from '../../endpoints/registry.ts';
import { suggestPath } from './describe-no-route.ts';

const isThere = (path: string): boolean => {
  const match = findRoute('POST', path);
  return match.found || match.allowedMethods.length > 0;
};

test('a path from a wrong base address leads to the right one', () => {
  for (const [asked, meant] of [
    ['/v1/v1/messages', '/v1/messages'],
    ['/v1/v1/messages/count_tokens', '/v1/messages/count_tokens'],
    ['/messages', '/v1/messages'],
    ['/chat/completions', '/v1/chat/completions'],
    ['/v1/v1/chat/completions', '/v1/chat/completions'],
    ['/responses', '/v1/responses'],
    ['/v1beta/openai/chat/completions', '/v1/chat/completions'],
    ['/openai/v1/responses', '/v1/responses'],
    ['/api/v1/messages', '/v1/messages'],
    ['/anthropic/v1/messages', '/v1/messages'],
    ['/v1/v1beta/models/gemini-2.5-flash:generateContent', '/v1beta/models/gemini-2.5-flash:generateContent'],
    ['/models/gemini-2.5-flash:streamGenerateContent', '/v1beta/models/gemini-2.5-flash:streamGenerateContent'],
    ['/models', '/v1/models'],
    ['/embeddings', '/v1/embeddings'],
    ['/v1/health', '/health'],
    ['/v1/mesages', '/v1/messages'],
    ['/v1/chat/completion', '/v1/chat/completions'],
    ['/v1/Chat/Completions', '/v1/chat/completions'],
    ['/v1//messages', '/v1/messages'],
  ] as const)
    assert.equal(suggestPath(asked, isThere), meant, asked);
});

test('a path that resembles nothing gets no suggestion, however long it is', () => {
  for (const asked of ['/favicon.ico', '/wp-login.php', '/', `/${'a/'.repeat(5000)}`, `/v1/${'m'.repeat(5000)}`])
    assert.equal(suggestPath(asked, isThere), undefined, asked.slice(0, 30));
});
