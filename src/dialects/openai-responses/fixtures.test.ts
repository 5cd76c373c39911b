import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { openFixtures, testFixtures } from '../testing/fixture-suite.ts';
import { openaiResponses } from './openai-responses.ts';

const fixtures = openFixtures(join(import.meta.dirname, 'fixtures'));
const { readBytes, readJson, casesOf } = fixtures;

testFixtures({
  dialect: openaiResponses,
  fixtures,
  findEnd: (body) => body.lastIndexOf('event: response.'),
});

for (const name of casesOf('.reply.json')) {
  test(`reply ${name} passes unchanged`, () => {
    const bytes = readBytes(`${name}.reply.json`);
    assert.equal(openaiResponses.editReply(bytes), bytes);
  });
}

test('a reply may be replayed as input, item by item', () => {
  for (const name of casesOf('.reply.json')) {
    const { output } = readJson(`${name}.reply.json`);
    if (!Array.isArray(output) || output.length === 0) continue;
    const body = { model: 'm', input: [...(output as JsonObject[]), { role: 'user', content: 'Go on.' }] };
    openaiResponses.validateRequest({ operation: 'generate', body, headers: {} }, 'compatible');
  }
});
