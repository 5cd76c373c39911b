import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { openFixtures, testFixtures } from '../testing/fixture-suite.ts';
import { geminiGenerateContent } from './gemini-generate-content.ts';

const fixtures = openFixtures(join(import.meta.dirname, 'fixtures'));
const { readJson, casesOf } = fixtures;

const score = '"vendorSearchDynamicRetrievalScore":0.8125,';

testFixtures({
  dialect: geminiGenerateContent,
  fixtures,
  findEnd: (body, framing) => {
    const end = body.lastIndexOf(framing === 'sse' ? 'finishReason' : ']');
    return end === -1 ? undefined : end;
  },
  // Every byte is forwarded, except for the score's second name.
  checkBytes: ({ forwarded, edited }, body, name) => {
    assert.equal(edited, name.startsWith('grounding') ? 1 : 0);
    assert.equal(forwarded.toString().replace(score, ''), body.toString());
  },
});

test('the content of a reply may be replayed as a turn', () => {
  for (const name of casesOf('.reply.json')) {
    const { candidates } = readJson(`${name}.reply.json`);
    const content = Array.isArray(candidates) ? (candidates[0] as { content?: JsonObject }).content : undefined;
    if (content?.parts === undefined) continue;
    const body = { contents: [{ role: 'user', parts: [{ text: 'x' }] }, content] };
    geminiGenerateContent.validateRequest({ operation: 'generate', body, headers: {} }, 'compatible');
  }
});
