import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assistant, call, result, text, user } from '../../../inference/testing/fake-turns.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { InferenceRequest, Part, Turn } from '../../../inference/inference-request.ts';
import { objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createFakeRequest } from '../../testing/fake-translation.ts';
import { validateRequest } from '../validate-request.ts';
import { decodeRequest } from './decode-request.ts';
import { createFit, encode, origin } from './testing/test-kit.ts';

type Written = ReturnType<typeof encode>;

function write(...members: Parameters<typeof encode>): Written {
  const written = encode(...members);
  validateRequest({ operation: 'generate', body: written.body, headers: {} }, 'compatible');
  return written;
}

const lookup = { kind: 'function', name: 'lookup', parameters: { type: 'object', properties: {} } } as const;
const messagesOf = (turns: readonly Turn[], differences = {}): readonly JsonObject[] => write({ turns }, differences).messages;

function refusedAt(members: Partial<InferenceRequest>, differences = {}): string | undefined {
  try {
    encode(members, differences);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'untranslatable_field') return error.param;
    throw error;
  }
  return assert.fail('was not refused');
}

test('the smallest request has only the members that were set', () => {
  assert.deepEqual(write({}).body, { model: 'm-1', messages: [{ role: 'user', content: 'Hi' }] });
});

test('system text is one message before the conversation, with the role that the server accepts', () => {
  const members = { instructions: [{ kind: 'text', text: 'A' } as const, { kind: 'text', text: 'B' } as const] };
  assert.deepEqual(write(members).messages[0], { role: 'system', content: 'A\n\nB' });
  assert.equal(write(members, { chat: { systemRole: 'developer' } }).messages[0]?.role, 'developer');
});

test('text alone is never a list, because DeepSeek and many servers do not accept lists', () => {
  assert.deepEqual(messagesOf([user(text('A'), text('B'))]), [{ role: 'user', content: 'A\n\nB' }]);
});

test('an empty text block is dropped, and so is a turn that is empty without it (anthropics/claude-code#50082)', () => {
  assert.deepEqual(messagesOf([user(text('')), user(text(''), text('A')), assistant(text('')), user(text('B'))]), [
    { role: 'user', content: 'A' },
    { role: 'user', content: 'B' },
  ]);
});

test('a conversation with calls has one message per result, and then the user content', () => {
  assert.deepEqual(
    messagesOf([user(text('A')), assistant(text('B'), call('a'), call('b', 'g', '')), user(result('b', '2'), result('a', '1'), text('C'))]),
    [
      { role: 'user', content: 'A' },
      {
        role: 'assistant',
        content: 'B',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      { role: 'user', content: 'C' },
    ],
  );
});

test('content is null beside calls and never without them', () => {
  const messages = messagesOf([
    user(text('A')),
    assistant(call('a')),
    user(result('a')),
    assistant({ kind: 'refusal', text: 'no' }),
    user(text('B')),
  ]);
  assert.equal(messages[1]?.content, null);
  assert.deepEqual(messages[3], { role: 'assistant', content: '', refusal: 'no' });
});

test('a call without a result receives one that says so', () => {
  const written = write({ turns: [user(text('A')), assistant(call('a')), user(text('B'))] });
  assert.deepEqual(written.messages[2], { role: 'tool', tool_call_id: 'a', content: 'Error: The tool call was not executed.' });
  assert.deepEqual(written.notes, ['adapted messages']);
});

test('an error result is marked as an error', () => {
  const failed: Part = { kind: 'tool-result', callId: 'a', content: [{ kind: 'text', text: 'boom' }], isError: true };
  assert.equal(messagesOf([user(text('A')), assistant(call('a')), user(failed)])[2]?.content, 'Error: boom');
});

test('ids longer than 64 characters are shortened alike in call and result', () => {
  const id = 'x'.repeat(80);
  const messages = messagesOf([user(text('A')), assistant(call(id)), user(result(id))]);
  const [written] = objectsOf(messages[1]?.tool_calls);
  assert.equal(written?.id, messages[2]?.tool_call_id);
  assert.match(textOf(written?.id) ?? '', /^call_.{1,59}$/);
});

test('names that the vendor does not permit are mapped alike everywhere, and back', () => {
  const name = 'ns.tool:é';
  const written = write({
    turns: [user(text('A')), assistant(call('a', name)), user(result('a'))],
    tools: [{ kind: 'function', name }],
    toolChoice: { kind: 'function', name },
  });
  const [tool] = written.body.tools as unknown as readonly { function: JsonObject }[];
  const sent = textOf(tool?.function.name) ?? '';
  assert.match(sent, /^[a-zA-Z0-9_-]{1,64}$/);
  assert.deepEqual(written.toolNames, new Map([[sent, name]]));
  assert.deepEqual(written.body.tool_choice, { type: 'function', function: { name: sent } });
  assert.match(JSON.stringify(written.messages[1]), new RegExp(`"name":"${sent}"`));
  assert.equal(write({ tools: [lookup] }).toolNames, undefined);
});

test('arguments that are not a JSON object are refused with their path', () => {
  const broken: Part = { kind: 'tool-call', id: 'a', name: 'f', arguments: '{"x', path: 'messages.1.content.0' };
  assert.equal(refusedAt({ turns: [user(text('A')), assistant(broken), user(result('a'))] }), 'messages.1.content.0');
});

test('images of a tool follow its result in a user message that names the call', () => {
  const image: Part = { kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'QUJD' } };
  const shot: Part = { kind: 'tool-result', callId: 'a', content: [{ kind: 'text', text: 'done' }, image], isError: false, path: 'p' };
  const written = write({ turns: [user(text('A')), assistant(call('a'), call('b')), user(shot, result('b'), text('And?'))] });
  assert.deepEqual(written.messages.slice(2), [
    { role: 'tool', tool_call_id: 'a', content: 'done\n(The image of this result is in the next user message.)' },
    { role: 'tool', tool_call_id: 'b', content: 'ok' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'The image returned by tool call a:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
        { type: 'text', text: 'And?' },
      ],
    },
  ]);
  assert.deepEqual(written.notes, ['adapted p']);
});

test('media of the user is written', () => {
  const media = (part: Partial<Extract<Part, { kind: 'media' }>>): unknown =>
    messagesOf([user({ kind: 'media', media: 'file', source: { kind: 'text', text: 'T' }, ...part })])[0]?.content;
  assert.equal(media({ title: 'A', context: 'about' }), 'A\nabout\nT');
  assert.equal(media({ source: { kind: 'inline', mediaType: 'text/csv', data: Buffer.from('a,b').toString('base64') } }), 'a,b');
  assert.deepEqual(media({ source: { kind: 'inline', mediaType: 'application/pdf', data: 'QUJD' }, filename: 'x.pdf' }), [
    { type: 'file', file: { filename: 'x.pdf', file_data: 'data:application/pdf;base64,QUJD' } },
  ]);
  assert.deepEqual(media({ media: 'audio', source: { kind: 'inline', mediaType: 'audio/x-wav', data: 'QUJD' } }), [
    { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
  ]);
  assert.deepEqual(media({ media: 'image', source: { kind: 'url', url: 'https://a.example/i' }, detail: 'low' }), [
    { type: 'image_url', image_url: { url: 'https://a.example/i', detail: 'low' } },
  ]);
});

test('parts that this dialect does not support are refused with their path', () => {
  const path = 'messages.0.content.0';
  const of = (part: Partial<Extract<Part, { kind: 'media' }>>): Part => ({
    kind: 'media',
    media: 'image',
    source: { kind: 'vendor-file', id: 'f' },
    path,
    ...part,
  });
  const parts: readonly Part[] = [
    of({}),
    of({ media: 'file' }),
    of({ media: 'file', source: { kind: 'url', url: 'https://a.example/a.pdf' } }),
    of({ media: 'video', source: { kind: 'inline', mediaType: 'video/mp4', data: 'QUJD' } }),
    of({ media: 'audio', source: { kind: 'inline', mediaType: 'audio/ogg', data: 'QUJD' } }),
    { kind: 'vendor', name: 'x', wire: {}, elsewhere: 'refuse', path },
  ];
  for (const part of parts) assert.equal(refusedAt({ turns: [user(part)] }), path, JSON.stringify(part));
  assert.equal(refusedAt({ tools: [{ kind: 'vendor', name: 'computer', wire: {}, path }] }), path);
});

test('tools that the upstream does not have are omitted and noted, because agents offer them with every call', () => {
  for (const kind of ['web-search', 'code-execution'] as const) {
    const { body, notes } = write({ tools: [{ kind, path: 'tools.8' }] }, { webSearch: false });
    assert.deepEqual([body.tools, body.web_search_options, notes], [undefined, undefined, ['dropped tools.8']]);
  }
});

test('a reply that has begun is refused if the server cannot continue it', () => {
  const turns = [user(text('A')), assistant({ kind: 'text', text: 'B', path: 'messages.1' })];
  assert.equal(refusedAt({ turns }), 'messages.1');
  assert.equal(messagesOf(turns, { prefill: true }).length, 2);
});

test('reasoning is sent only to the server that generated it, and never becomes text (BerriAI/litellm#26916)', () => {
  const entry = { type: 'reasoning.text', signature: 's', index: 0 };
  const encrypted = { type: 'reasoning.encrypted', data: 'e', id: 'x' };
  const parts: readonly Part[] = [
    { kind: 'reasoning', text: ['own'], proof: { origin, blob: JSON.stringify(entry) } },
    { kind: 'reasoning', text: [], proof: { origin, blob: JSON.stringify(encrypted), hidden: true } },
    { kind: 'reasoning', text: ['foreign'], proof: { origin: 'anthropic', blob: 'sig' } },
    { kind: 'reasoning', text: ['nobody’s'] },
    text('B'),
  ];
  const turns = [user(text('A')), assistant(...parts), user(text('C'))];
  const details = [{ ...entry, text: 'own' }, encrypted];
  assert.deepEqual(messagesOf(turns)[1], { role: 'assistant', content: 'B', reasoning_details: details });
  assert.deepEqual(messagesOf(turns, { chat: { reasoningHistoryField: 'reasoning_content' } })[1], {
    role: 'assistant',
    content: 'B',
    reasoning_content: 'own\n\nnobody’s',
    reasoning_details: details,
  });
  assert.deepEqual(write({ turns }, {}, true).notes, ['adapted messages']);
  assert.deepEqual(messagesOf([user(text('A')), assistant(...parts.slice(2, 4)), user(text('C'))]).length, 2);
});

test('reasoning without a proof is sent to servers that require it, and is empty if the client has lost it', () => {
  const chat = { reasoningHistoryField: 'reasoning_content' } as const;
  const turns = (...reasoning: Part[]): readonly Turn[] => [user(text('A')), assistant(...reasoning, call('a')), user(result('a'))];
  const shown: Part = { kind: 'reasoning', text: ['hm'], proof: { origin, blob: '' } };
  assert.equal(messagesOf(turns(shown), { chat })[1]?.reasoning_content, 'hm');
  assert.equal(messagesOf(turns(), { chat })[1]?.reasoning_content, '');
  assert.equal(messagesOf(turns(shown))[1]?.reasoning_content, undefined);
  assert.equal(messagesOf(turns(shown))[1]?.reasoning_details, undefined);
});

test('the proof of a call is sent only to its origin', () => {
  const signed = (maker: string): Part => ({
    kind: 'tool-call',
    id: 'a',
    name: 'f',
    arguments: '{}',
    proof: { origin: maker, blob: 'sig' },
  });
  const written = (maker: string): string => JSON.stringify(messagesOf([user(text('A')), assistant(signed(maker)), user(result('a'))]));
  assert.match(written(origin), /"thought_signature":"sig"/);
  assert.doesNotMatch(written('gemini'), /signature/);
});

test('tool runs of another vendor and parts without meaning elsewhere are omitted and noted', () => {
  const search: Part = { kind: 'server-tool', tool: 'web-search', id: 's', input: ['q'], wire: [], path: 'p1' };
  const vendor: Part = { kind: 'vendor', name: 'x', wire: {}, elsewhere: 'drop', path: 'p2' };
  assert.deepEqual(write({ turns: [user(text('A')), assistant(search, vendor, text('B')), user(text('C'))] }).notes, [
    'dropped p1',
    'dropped p2',
  ]);
});

test('code that ran elsewhere becomes a paragraph between the texts around it', () => {
  const run: Part = {
    kind: 'server-tool',
    tool: 'code-execution',
    id: 'c',
    input: ['print(1)'],
    results: [{ text: '1' }],
    wire: [],
    path: 'p1',
  };
  const { messages, notes } = write({ turns: [user(text('A')), assistant(text('B'), run, text('C'), text('D')), user(text('E'))] });
  assert.equal(messages[1]?.content, `B\n\n${'[Code that was run]\n```\nprint(1)\n```\n[Its output]\n```\n1\n```'}\n\nCD`);
  assert.deepEqual(notes, ['adapted p1']);
});

test('valid names of speakers are passed on', () => {
  const named = (name: string): unknown => messagesOf([{ role: 'user', parts: [text('A')], name }])[0]?.name;
  assert.deepEqual(['ann', 'two words'].map(named), ['ann', undefined]);
});

test('handwritten conversations are read back unchanged', () => {
  const turns: readonly Turn[] = [
    { role: 'user', parts: [text('A')], name: 'ann' },
    assistant(text('B'), call('a', 'f', '{"x":1}'), call('b', 'g')),
    user(result('a', '1'), result('b', '2')),
    assistant({ kind: 'refusal', text: 'no' }),
    { role: 'system', parts: [text('S')] },
    user({ kind: 'media', media: 'image', source: { kind: 'inline', mediaType: 'image/png', data: 'QUJD' }, detail: 'low' }, text('C')),
  ];
  const request = createFakeRequest({ turns, instructions: [{ kind: 'text', text: 'I' }] });
  const { body } = write(request);
  const read = decodeRequest({ operation: 'generate', body, headers: {} });
  const bare = JSON.stringify(read.turns, (key, value: unknown) => (key === 'path' || key === 'namePath' ? undefined : value));
  assert.deepEqual(JSON.parse(bare), turns);
  assert.equal(read.instructions[0]?.text, 'I');
  assert.equal(createFit().notes.list().length, 0);
});
