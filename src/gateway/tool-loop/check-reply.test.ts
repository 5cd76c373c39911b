import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { CallFacts } from '../../inference/call-facts.ts';
import type { Target } from '../routing/routing-table.ts';
import { chooseReplyCheck, type ReplyCheck } from './check-reply.ts';
import { startLoop } from './fake-loop.ts';

const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'], additionalProperties: false };

const facts: CallFacts = { requestedModel: 'm', stream: false, inputCharacters: 1, needs: [], strictSchema: true };
const target = (vendor: string, dialects: readonly string[], structuredOutput: boolean): Target =>
  ({ upstream: { vendor: { id: vendor }, dialects, traitsOf: () => ({ structuredOutput }) }, upstreamModel: 'm' }) as unknown as Target;

const choices: readonly (readonly [string, ReplyCheck, Target, string | undefined])[] = [
  ['its vendor promises it', 'auto', target('openai', ['openai-responses'], true), undefined],
  ['its vendor promises it in another dialect', 'auto', target('gemini', ['gemini-generate-content'], true), undefined],
  ['a forced tool stands in', 'auto', target('anthropic', ['anthropic-messages'], false), 'repair'],
  ['a server says that it does', 'auto', target('openai-compatible', ['openai-chat'], true), undefined],
  ['it passes through', 'auto', target('openai-compatible', ['openai-responses'], true), undefined],
  ['it is asked for', 'report', target('openai', ['openai-responses'], true), 'report'],
  ['it is switched off', 'off', target('openai-compatible', ['openai-chat'], false), undefined],
];
for (const [title, wanted, chosen, expected] of choices) {
  test(`a strict schema, ${wanted}, ${title}: ${expected ?? 'no check'}`, () => {
    assert.equal(chooseReplyCheck(facts, 'openai-responses', [chosen], wanted), expected);
    const { strictSchema: _strict, ...loose } = facts;
    assert.equal(chooseReplyCheck(loose, 'openai-responses', [chosen], wanted), undefined);
  });
}

describe('a reply that is checked', () => {
  test('that fits is shown when it is whole', async () => {
    const call = await startLoop({ tools: [], check: { schema, repairs: true }, dialect: 'openai-responses' });
    await call.say('{"age":36}');
    assert.match(call.response.text(), /response\.completed/);
    assert.equal(call.sent.length, 1);
  });

  test('that does not fit is asked for once more, and the client sees only the one that does', async () => {
    const call = await startLoop({ tools: [], check: { schema, repairs: true }, dialect: 'openai-responses' });
    await call.say('{"age":"old"}');
    assert.doesNotMatch(call.response.text(), /old/);
    assert.match(JSON.stringify(call.asked().messages), /\/age: must be integer/);
    await call.say('{"age":36}');
    assert.match(call.response.text(), /36/);
    assert.doesNotMatch(call.response.text(), /old/);
    assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.2 finished']);
  });

  test('that does not fit a second time is an error with a status', async () => {
    const call = await startLoop({ tools: [], check: { schema, repairs: true }, dialect: 'openai-responses' });
    await call.say('I am 36.');
    await call.say('I said that I am 36.');
    assert.equal(call.response.status, 502);
    assert.match(call.response.text(), /does not fit the JSON schema/);
    assert.doesNotMatch(call.response.text(), /I am 36|I said/);
    assert.equal(call.sent.length, 2);
  });

  test('is an error at once where that is wanted', async () => {
    const call = await startLoop({ tools: [], check: { schema, repairs: false }, stream: false });
    await call.say('I am 36.');
    assert.equal(call.response.status, 502);
    assert.equal(call.sent.length, 1);
  });

  test('is checked after its tools have run', async () => {
    const call = await startLoop({ check: { schema, repairs: true }, dialect: 'openai-responses' });
    await call.call(['web_search', { query: 'age' }, 'c1']);
    await call.say('{"age":"old"}');
    await call.say('{"age":36}');
    assert.match(call.response.text(), /response\.completed/);
    assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 finished', 'req_1.3 finished']);
  });
});
