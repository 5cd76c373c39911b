import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { startSimulator, type RunningSimulator } from './start-simulator.ts';

// Replies are read loosely.
type Loose = any;

let simulator: RunningSimulator;
before(async () => {
  simulator = await startSimulator({});
});
beforeEach(() => simulator.reset());
after(() => simulator.close());

type Interface = {
  readonly url: () => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (more?: object) => object;
};

const messages: Interface = {
  url: () => `${simulator.addresses.anthropic}/v1/messages`,
  headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
  body: (more) => ({ model: 'claude-test', max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }], ...more }),
};
const responses: Interface = {
  url: () => `${simulator.addresses.openai}/responses`,
  headers: { authorization: 'Bearer k' },
  body: (more) => ({ model: 'gpt-4.1', input: 'Hello', ...more }),
};
const chat: Interface = {
  url: () => `${simulator.addresses.openai}/chat/completions`,
  headers: { authorization: 'Bearer k' },
  body: (more) => ({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }], ...more }),
};
const generate: Interface = {
  url: () => `${simulator.addresses.gemini}/v1beta/models/gemini-2.5-flash:generateContent`,
  headers: { 'x-goog-api-key': 'k' },
  body: (more) => ({ contents: [{ parts: [{ text: 'Hello' }] }], ...more }),
};
const grok: Interface = { ...chat, url: () => `${simulator.addresses.xai}/chat/completions` };

async function ask(of: Interface, more: object = {}, steering: Readonly<Record<string, string>> = {}): Promise<Response> {
  const headers = Object.fromEntries(Object.entries(steering).map(([name, value]) => [`x-simulator-${name}`, value]));
  return await fetch(of.url(), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...of.headers, ...headers },
    body: JSON.stringify(of.body(more)),
  });
}

const tool = { name: 'f', input_schema: { type: 'object' } };

test('the number of calls and their arguments are as requested', async () => {
  const steering = { 'tool-calls': '4', 'tool-arguments': encodeURIComponent('{"deep":{"名":null}}') };
  const reply: Loose = await (await ask(messages, { tools: [tool] }, steering)).json();
  const calls = reply.content.filter(({ type }: Loose) => type === 'tool_use');
  assert.equal(calls.length, 4);
  assert.equal(new Set(calls.map(({ id }: Loose) => id)).size, 4);
  for (const { input } of calls) assert.deepEqual(input, { deep: { 名: null } });
});

test('thoughts are the requested ones, and only from a model that thinks', async () => {
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  const steering = { reasoning: 'First%20this.', text: 'Then%20that.' };
  const reply: Loose = await (await ask(messages, { thinking, max_tokens: 2000 }, steering)).json();
  assert.equal(reply.content[0].thinking, 'First this.');
  const without: Loose = await (await ask(messages, {}, steering)).json();
  assert.deepEqual(without.content, [{ type: 'text', text: 'Then that.' }]);
});

test('the record of a call has the planned answer, unless it is too long to keep', async () => {
  await (await ask(chat, {}, { text: 'Meant%20so.', stop: 'end' })).text();
  await (await ask(chat, {}, { 'output-tokens': '20000' })).text();
  await (await ask(chat, {}, { fault: 'status;status=500' })).text();
  const [kept, long, failed] = simulator.records();
  assert.deepEqual(kept?.plannedReply, { text: 'Meant so.', toolCalls: [], stop: 'end' });
  assert.equal(long?.plannedReply, undefined);
  assert.equal(failed?.plannedReply, undefined);
});

test('context-overflow: every vendor refuses a long prompt with its own message', async () => {
  const expected: readonly (readonly [of: Interface, words: RegExp])[] = [
    [messages, /"invalid_request_error".*prompt is too long: \d+ tokens > \d+ maximum/],
    [responses, /exceeds the context window.*"context_length_exceeded"/],
    [chat, /maximum context length is \d+ tokens.*"context_length_exceeded"/],
    [generate, /input token count \(\d+\) exceeds the maximum number of tokens allowed \(\d+\)/],
    [grok, /maximum prompt length is \d+ but the request contains \d+ tokens/],
  ];
  for (const [of, words] of expected) {
    const reply = await ask(of, {}, { fault: 'context-overflow' });
    assert.equal(reply.status, 400);
    assert.match(await reply.text(), words);
  }
});

const search = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
const said = { text: encodeURIComponent('世界 has a weir 😀. It is old.') };

test('web search of Messages: the reply has the search, its result, and a block of text that cites it', async () => {
  const reply: Loose = await (await ask(messages, search, said)).json();
  assert.deepEqual(
    reply.content.map(({ type }: Loose) => type),
    ['server_tool_use', 'web_search_tool_result', 'text', 'text'],
  );
  const [use, result, cited, rest] = reply.content;
  assert.equal(result.tool_use_id, use.id);
  assert.deepEqual(use.input, { query: 'Hello' });
  assert.equal(cited.text, '世界 has a weir 😀.');
  assert.equal(cited.citations[0].url, result.content[0].url);
  assert.equal(rest.text, ' It is old.');
  assert.equal(reply.usage.server_tool_use.web_search_requests, 1);
});

test('web search of Messages, streamed: the blocks are the same, delivered with all tokens', async () => {
  const text = await (await ask(messages, { ...search, stream: true }, said)).text();
  const events: readonly Loose[] = [...text.matchAll(/^data: (\{.*\})\s*$/gm)].map((match) => JSON.parse(match[1] ?? ''));
  const started = events.filter(({ type }) => type === 'content_block_start').map((event) => event.content_block.type);
  assert.deepEqual(started, ['server_tool_use', 'web_search_tool_result', 'text', 'text']);
  const deltas = events.flatMap((event) => event.delta?.text ?? []);
  assert.equal(deltas.join(''), '世界 has a weir 😀. It is old.');
  assert.equal(events.filter((event) => event.delta?.type === 'citations_delta').length, 1);
  const [record] = simulator.records();
  assert.equal(record?.emittedTokens, record?.plannedUsage?.outputTokens);
});

test('no search is run if it is not permitted, or if functions are called', async () => {
  for (const more of [
    { ...search, tool_choice: { type: 'none' } },
    { tools: [...search.tools, tool], tool_choice: { type: 'any' } },
  ]) {
    const reply: Loose = await (await ask(messages, more)).json();
    assert.ok(!reply.content.some(({ type }: Loose) => type === 'server_tool_use'));
  }
});

test('web search of chat completions: the text is cited in code points, whole and streamed', async () => {
  const reply: Loose = await (await ask(chat, { web_search_options: {} }, said)).json();
  const [{ url_citation: cited }] = reply.choices[0].message.annotations;
  assert.equal(Array.from(reply.choices[0].message.content).slice(cited.start_index, cited.end_index).join(''), '世界 has a weir 😀.');
  const streamed = await (await ask(chat, { web_search_options: {}, stream: true }, said)).text();
  assert.match(streamed, /"annotations":\[\{"type":"url_citation"/);
});
