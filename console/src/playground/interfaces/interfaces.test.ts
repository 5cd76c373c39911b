import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import type { DialectId } from '../../../../src/dialects/dialect-id.ts';
import { chatDialects } from '../../../../src/dialects/registry.ts';
import type { JsonObject as WireObject } from '../../../../src/platform/json/json-value.ts';
import type { ChatInterface, InterfaceId, Json, Reply, Turn, Wish } from '../conversation.ts';
import { createEventReader, readEvents } from '../read-events.ts';
import { chatInterfaces, interfaceIds, interfaceOfBook } from './registry.ts';

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };
const picture = { name: 'kite.png', mediaType: 'image/png', mark: 'iVBORw0KGgo=' };
const ask: Turn = { role: 'user', text: 'Weather in Oslo?', pictures: [] };
const call = { id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' };
const answers: Turn = { role: 'answers', answers: [{ id: 'call_1', name: 'weather', output: 'sunny' }] };
const spoken = (by: InterfaceId, content: Json): Turn => ({ role: 'assistant', text: '', calls: [call], spoken: { by, content } });

const plain: Wish = { model: 'some-model', system: '', turns: [ask], tools: [], stream: false };
const full: Wish = {
  ...plain,
  system: 'Be short.',
  turns: [{ ...ask, pictures: [picture] }],
  tools: [{ name: 'weather', description: 'Weather of a city', parameters: schema }],
  schema,
  temperature: 1,
  maxTokens: 200,
  thinking: 'low',
  stream: true,
};
/** A conversation that began in another interface. */
const moved: Wish = { ...full, turns: [ask, spoken('messages', [{ type: 'text', text: 'in the words of another' }]), answers, ask] };

const encode = (id: InterfaceId, wish: Wish): Json => chatInterfaces[id].encode(wish);

for (const id of interfaceIds) {
  const { book, headers } = chatInterfaces[id];
  const dialect = chatDialects[book as DialectId];
  for (const [name, wish] of Object.entries({ plain, full, moved }))
    test(`${id}: the gateway takes what is written for a ${name} request`, () => {
      const body = encode(id, id === 'messages' && name === 'moved' ? { ...wish, turns: wish.turns.map(neutral) } : wish);
      const request = { operation: 'generate' as const, pathModel: wish.model, body: body as WireObject, headers };
      dialect.validateRequest(request, 'compatible');
      // The strict rules are of a time before structured output.
      if (name === 'plain') dialect.validateRequest(request, 'documented');
    });
  test(`${id} is found by its name in the books`, () => assert.equal(interfaceOfBook(book), id));
}

const neutral = (turn: Turn): Turn => (turn.role === 'assistant' ? { ...turn, spoken: { by: 'responses', content: [] } } : turn);

test('each interface has its own words for the same wish', () => {
  assert.deepEqual(encode('messages', plain), {
    model: 'some-model',
    max_tokens: 1024,
    messages: [{ role: 'user', content: 'Weather in Oslo?' }],
  });
  assert.deepEqual(encode('responses', plain), { model: 'some-model', input: [{ role: 'user', content: 'Weather in Oslo?' }] });
  assert.deepEqual(encode('generate-content', plain), { contents: [{ role: 'user', parts: [{ text: 'Weather in Oslo?' }] }] });
  assert.deepEqual(encode('chat-completions', plain), {
    model: 'some-model',
    messages: [{ role: 'user', content: 'Weather in Oslo?' }],
  });
  const paths = interfaceIds.map((id) => chatInterfaces[id].pathOf({ model: 'a/b', stream: true }));
  assert.deepEqual(paths, ['/v1/messages', '/v1/responses', '/v1beta/models/a%2Fb:streamGenerateContent?alt=sse', '/v1/chat/completions']);
});

test('Responses go on by the id of the last response with what is new alone, and otherwise with everything', () => {
  const said: Turn = { role: 'assistant', text: 'Sunny', calls: [], spoken: { by: 'responses', content: [], id: 'resp_1' } };
  const wish = { ...plain, byId: true, background: true };
  const { previous_response_id: previous, input, background } = chatInterfaces.responses.encode({ ...wish, turns: [ask, said, ask] });
  assert.deepEqual([previous, (input as Json[]).length, background], ['resp_1', 1, true]);
  const elsewhere = chatInterfaces.responses.encode({ ...wish, turns: [ask, spoken('messages', []), answers] });
  assert.equal(elsewhere['previous_response_id'], undefined);
  assert.equal((elsewhere['input'] as Json[]).length, 3);
});

test('thoughts have room of their own in Messages, where the bound counts both', () => {
  const { max_tokens: most, thinking } = chatInterfaces.messages.encode(full);
  assert.deepEqual([most, thinking], [1224, { type: 'enabled', budget_tokens: 1024 }]);
});

test('a reply is repeated in its own words, and in plain ones for another interface', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm', signature: 'S' },
    { type: 'tool_use', id: 'call_1', name: 'weather', input: {} },
  ];
  const wish = { ...plain, turns: [ask, spoken('messages', content), answers] };
  assert.deepEqual((encode('messages', wish) as { messages: Json[] }).messages.slice(1), [
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' }] },
  ]);
  assert.deepEqual((encode('chat-completions', wish) as { messages: Json[] }).messages.slice(1), [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  ]);
  assert.deepEqual((encode('generate-content', wish) as { contents: Json[] }).contents.slice(1), [
    { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'Oslo' } } }] },
    { role: 'user', parts: [{ functionResponse: { id: 'call_1', name: 'weather', response: { result: 'sunny' } } }] },
  ]);
});

const fixtures = (book: string): URL => new URL(`../../../../src/dialects/${book}/fixtures/`, import.meta.url);

function readStream({ createReader }: ChatInterface, text: string): Reply {
  const reader = createReader();
  for (const event of readEvents(text)) reader.push(event);
  return reader.read();
}
/** What the page shows. The raw content of a stream may have other parts than that of the whole reply. */
const shown = ({ text, thought, calls, stop, usage }: Reply) => ({
  text,
  thought,
  calls: calls.map((each) => ({ ...each, arguments: JSON.stringify(JSON.parse(each.arguments)) })),
  stop,
  usage,
});

for (const id of interfaceIds) {
  const of = chatInterfaces[id];
  const folder = fixtures(of.book);
  const names = readdirSync(folder).filter((name) => name.endsWith('.stream.sse'));
  for (const name of names) {
    const whole = new URL(name.replace('.stream.sse', '.reply.json'), folder);
    const stream = readFileSync(new URL(name, folder), 'utf8');
    if (existsSync(whole) && /^(?:text|tools-parallel|reasoning|thinking-signature|refusal|structured-output)\./.test(name))
      test(`${id}: the stream of ${name} is read as its whole reply is`, () => {
        assert.deepEqual(shown(readStream(of, stream)), shown(of.readWhole(JSON.parse(readFileSync(whole, 'utf8')) as Json)));
      });
    else test(`${id}: ${name} is read without a failure`, () => void readStream(of, stream));
  }
  test(`${id}: an error in the middle of a stream is kept in the vendor's words, with what came before it`, () => {
    const reply = readStream(of, readFileSync(new URL('error-mid-stream.stream.sse', folder), 'utf8'));
    assert.notEqual(reply.error, undefined);
  });
}

test('what the readers find in replies with thoughts and tools', () => {
  const stream = (id: InterfaceId, name: string) =>
    readStream(chatInterfaces[id], readFileSync(new URL(`${name}.stream.sse`, fixtures(chatInterfaces[id].book)), 'utf8'));
  const thought = stream('messages', 'thinking-signature');
  assert.deepEqual([thought.thought, thought.text, thought.stop], ['The bell rings twice; twice two is four.', 'Four times.', 'end_turn']);
  assert.deepEqual(thought.content, [
    { type: 'thinking', thinking: 'The bell rings twice; twice two is four.', signature: 'EqQBCkgIBhABGAIiQFdlaXJTaWduYXR1cmU=' },
    { type: 'redacted_thinking', data: 'EmwKAhgBEgyOPAQUE=' },
    { type: 'text', text: 'Four times.' },
  ]);
  assert.deepEqual(
    stream('responses', 'tools-parallel').calls.map(({ id, name }) => [id, name]),
    [
      ['call_A1', 'get_weather'],
      ['call_B2', 'get_weather'],
    ],
  );
  assert.deepEqual(
    stream('chat-completions', 'tools-parallel').calls.map(({ arguments: text }) => text),
    ['{"gauge":"upper"}', '{"gauge":"lower"}'],
  );
  assert.deepEqual(
    stream('generate-content', 'tools-parallel').calls.map(({ name, arguments: text }) => [name, text]),
    [
      ['get_weather', '{"city":"Zürich"}'],
      ['get_weather', '{"city":"Oslo"}'],
      ['now', '{}'],
    ],
  );
});

test('events are the same however a stream is cut', () => {
  const text = 'event: a\r\ndata: {"x":\r\ndata: 1}\r\n\r\n: a comment\n\ndata: [DONE]\n\nevent: last\ndata: cut';
  const expected = [
    { event: 'a', data: '{"x":\n1}' },
    { event: undefined, data: '[DONE]' },
    { event: 'last', data: 'cut' },
  ];
  for (let size = 1; size <= text.length; size += 1) {
    const read = createEventReader();
    const events = Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size));
    assert.deepEqual([...events.flatMap((piece) => read(piece)), ...read('', true)], expected, `pieces of ${size}`);
  }
});
