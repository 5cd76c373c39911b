import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReportedUsage, rewriteUsage } from './rewrite-usage.ts';

const start = 'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}   \n\n';
const delta = 'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":9}}\n\n';
const chunk = 'data: {"choices":[],"usage":{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}\n\n';

test('each word replaces its member and the framing stays', () => {
  assert.deepEqual(rewriteUsage([start, delta], { output_tokens: 'absent' }), [
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":7}}}   \n\n',
    'event: message_delta\ndata: {"type":"message_delta","usage":{}}\n\n',
  ]);
  const words = { input_tokens: 'string', output_tokens: 'negative' };
  assert.match(rewriteUsage([start], words)[0] as string, /"input_tokens":"7","output_tokens":-1/);
  assert.match(rewriteUsage([chunk], { 'prompt_tokens_details.cached_tokens': 'zero' })[0] as string, /"cached_tokens":0/);
  assert.match(rewriteUsage([chunk], { prompt_tokens: 'huge' })[0] as string, /1e\+308/);
  assert.match(rewriteUsage([chunk], { extra_tokens: 5 })[0] as string, /"extra_tokens":5/);
});

test('the whole usage can be absent or null', () => {
  assert.equal(rewriteUsage([chunk], 'absent')[0], 'data: {"choices":[]}\n\n');
  assert.equal(rewriteUsage([chunk], 'null')[0], 'data: {"choices":[],"usage":null}\n\n');
});

test('the reported usage is the written one: later reports win, unwritten ones do not count', () => {
  assert.deepEqual(readReportedUsage([start, delta], 2), { input_tokens: 7, output_tokens: 9 });
  assert.deepEqual(readReportedUsage([start, delta], 1), { input_tokens: 7, output_tokens: 1 });
  assert.equal(readReportedUsage([start, delta], 0), undefined);
  assert.equal(readReportedUsage(['data: {"usage":null}\n\n', 'data: {"usage":{broken\n\n'], 2), undefined);
});
