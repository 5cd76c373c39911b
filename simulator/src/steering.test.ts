import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPromptSteering, readSteering, SteeringError } from './steering.ts';
import { numberOf, parseFault, takeFault } from './faults.ts';
import { queueFault } from './settings.ts';

test('headers are read by name, and other headers control nothing', () => {
  const steering = readSteering({
    'x-simulator-stop': 'refusal',
    'x-simulator-text': 'caf%C3%A9',
    'x-simulator-output-tokens': '12',
    'x-simulator-tool-arguments': '%7B%22city%22%3A%22%C3%89vora%22%7D',
    'x-simulator-reasoning': 'first%2C%20then',
    'x-simulator-usage': '{"output_tokens":"absent"}',
    'x-simulator-pace': 'tokensPerSecond=40; chunkBytes=1',
    accept: '*/*',
  });
  assert.deepEqual(steering, {
    stop: 'refusal',
    text: 'café',
    outputTokens: 12,
    toolArguments: { city: 'Évora' },
    reasoning: 'first, then',
    usage: { output_tokens: 'absent' },
    pace: { tokensPerSecond: 40, chunkBytes: 1 },
  });
});

test('a mistyped name or value is refused instead of ignored', () => {
  const wrong = {
    'x-simulator-stopp': 'end',
    'x-simulator-constructor': 'x',
    'x-simulator-stop': 'ended',
    'x-simulator-text': '%E9',
    'x-simulator-output-tokens': '-1',
    'x-simulator-tool-calls': '9',
    'x-simulator-tool-arguments': '%5B1%5D',
    'x-simulator-usage': '[1]',
    'x-simulator-pace': 'speed=3',
  };
  for (const [name, value] of Object.entries(wrong)) assert.throws(() => readSteering({ [name]: value }), SteeringError, name);
  assert.throws(() => readPromptSteering('[[simulator stop]]'), SteeringError);
  assert.throws(() => parseFault('statuss'), SteeringError);
  assert.throws(() => parseFault('status;after=1'), SteeringError);
  assert.throws(() => numberOf(parseFault('status;status=many'), 'status', 500, 200, 599), SteeringError);
});

test('a queued fault applies as often as requested, and only to its vendor', () => {
  const queue = [queueFault({ fault: 'html', vendor: 'openai', times: 2 }), queueFault({ fault: 'gzip', times: null, every: 2 })];
  const struck = ['openai', 'xai', 'xai', 'openai', 'openai', 'openai'].map((vendor) => takeFault(queue, vendor)?.name);
  assert.deepEqual(struck, ['html', undefined, 'gzip', 'html', undefined, 'gzip']);
  assert.equal(queue.length, 1);
});
