import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { z } from 'zod';

import { post } from '../support/http.ts';
import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { assertLeft } from './assert-left.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { longReply, pixelPng, saying, steer } from './steer.ts';

const model = 'claude-sonnet-5';
const leftModel = 'left-in-the-middle';
const hello: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello' }];
const weatherTool: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** The Anthropic SDK on Messages: whole, streamed, with tools, schemas, thinking, images, caches and counts. */
describe('Anthropic SDK', () => {
  let running: SimulatedWeir;
  let client: Anthropic;
  const seen = createSeenUsage();
  const see = (message: Pick<Anthropic.Message, 'usage'>, of = model): Anthropic.Usage => {
    const { usage } = message;
    const cacheRead = usage.cache_read_input_tokens ?? 0;
    const cacheWrite = usage.cache_creation_input_tokens ?? 0;
    seen.add(of, { input: usage.input_tokens + cacheRead + cacheWrite, output: usage.output_tokens, cacheRead, cacheWrite });
    return usage;
  };
  const textOf = (message: Pick<Anthropic.Message, 'content'>): string =>
    message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const callsOf = (message: Anthropic.Message) => message.content.filter((block) => block.type === 'tool_use');
  const recordOf = (tag: string) => running.simulator.records().find((record) => record.tag === tag);
  before(async () => {
    running = await startSimulatedWeir({ models: { [leftModel]: { targets: [{ upstream: 'anthropic', model }] } } });
    client = new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  test('a whole call is answered', async () => {
    const message = await client.messages.create({ model, max_tokens: 500, messages: hello }, saying('Grüße, 世界 🌊'));
    assert.equal(message.type, 'message');
    assert.equal(message.role, 'assistant');
    assert.equal(message.stop_reason, 'end_turn');
    assert.equal(message.stop_sequence, null);
    assert.equal(textOf(message), 'Grüße, 世界 🌊');
    assert.ok(see(message).output_tokens > 0);
  });

  test('the key may also be a bearer token', async () => {
    const bearer = new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey: null, authToken: running.weir.apiKey, maxRetries: 0 });
    see(await bearer.messages.create({ model, max_tokens: 500, messages: hello }));
  });

  test('a raw stream has its events in order, the deltas are the text, and the last delta has the usage', async () => {
    const text = 'One two three, 世界 and 🚰 and so on until the end.';
    const stream = await client.messages.create({ model, max_tokens: 500, messages: hello, stream: true }, saying(text));
    const types: string[] = [];
    let joined = '';
    let usage: Partial<Anthropic.Usage> = {};
    for await (const event of stream) {
      if (types.at(-1) !== event.type) types.push(event.type);
      if (event.type === 'message_start') usage = { ...event.message.usage };
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') joined += event.delta.text;
      if (event.type === 'message_delta') usage.output_tokens = event.usage.output_tokens;
    }
    assert.equal(joined, text);
    assert.deepEqual(types, [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    see({ usage: usage as Anthropic.Usage });
  });

  test('the stream helper reports text events and the final message', async () => {
    const stream = client.messages.stream({ model, max_tokens: 500, messages: hello }, saying('The helper puts it together.'));
    const deltas: string[] = [];
    stream.on('text', (delta) => deltas.push(delta));
    const final = await stream.finalMessage();
    assert.equal(deltas.join(''), 'The helper puts it together.');
    assert.equal(await stream.finalText(), 'The helper puts it together.');
    assert.ok(deltas.length > 1);
    see(final);
  });

  test('a tool round trip works whole', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How is the weather in Bern?' }];
    const params = { model, max_tokens: 500, tools: [weatherTool] };
    const firstReply = await client.messages.create({ ...params, messages }, steer({ 'tool-calls': 1 }));
    see(firstReply);
    assert.equal(firstReply.stop_reason, 'tool_use');
    const [call] = callsOf(firstReply);
    assert.equal(call?.name, 'get_weather');
    assert.equal(typeof (call.input as { city?: unknown }).city, 'string');
    messages.push({ role: 'assistant', content: firstReply.content });
    messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '21 degrees' }] });
    const answered = await client.messages.create({ ...params, messages });
    see(answered);
    assert.equal(answered.stop_reason, 'end_turn');
    assert.ok(textOf(answered));
  });

  test('a tool round trip works streamed, with two parallel calls of which one fails', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Bern and Basel?' }];
    const params = { model, max_tokens: 500, tools: [weatherTool] };
    const asking = client.messages.stream({ ...params, messages }, steer({ 'tool-calls': 2 }));
    const inputs: string[] = [];
    asking.on('inputJson', (delta) => inputs.push(delta));
    const firstReply = await asking.finalMessage();
    see(firstReply);
    const calls = callsOf(firstReply);
    assert.equal(calls.length, 2);
    assert.ok(inputs.length > 1);
    messages.push({ role: 'assistant', content: firstReply.content });
    messages.push({
      role: 'user',
      content: calls.map((call, index) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: [{ type: 'text', text: index === 0 ? 'rain' : 'no such city' }],
        is_error: index === 1,
      })),
    });
    const answered = await client.messages.stream({ ...params, messages }).finalMessage();
    see(answered);
    assert.ok(textOf(answered));
  });

  test("a call without its result is refused in the vendor's format", async () => {
    const messages: Anthropic.MessageParam[] = [
      ...hello,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Bern' } }] },
      { role: 'user', content: 'Well?' },
    ];
    await assert.rejects(
      client.messages.create({ model, max_tokens: 500, messages, tools: [weatherTool] }),
      (error) => error instanceof Anthropic.BadRequestError && /tool_use.*toolu_1/s.test(error.message),
    );
  });

  test('every tool choice works: any, a certain tool, none, and one call at most', async () => {
    const params = { model, max_tokens: 500, messages: hello, tools: [weatherTool, { ...weatherTool, name: 'get_tide' }] };
    const certain = await client.messages.create({ ...params, tool_choice: { type: 'tool', name: 'get_tide' } });
    see(certain);
    assert.deepEqual([...new Set(callsOf(certain).map(({ name }) => name))], ['get_tide']);
    const one = await client.messages.create({ ...params, tool_choice: { type: 'any', disable_parallel_tool_use: true } });
    see(one);
    assert.equal(callsOf(one).length, 1);
    const none = await client.messages.create({ ...params, tool_choice: { type: 'none' } });
    see(none);
    assert.equal(callsOf(none).length, 0);
  });

  test('structured output is parsed by the schema, whole and streamed', async () => {
    const Forecast = z.object({ city: z.string(), days: z.array(z.object({ high: z.number(), wet: z.boolean() })) });
    const params = { model, max_tokens: 2000, messages: hello, output_config: { format: zodOutputFormat(Forecast) } };
    const parsed = await client.messages.parse(params);
    see(parsed);
    Forecast.parse(parsed.parsed_output);
    const streamed = await client.messages.stream(params).finalMessage();
    see(streamed);
    Forecast.parse(streamed.parsed_output);
  });

  test('thinking: the signature is returned and accepted in the next turn, and a changed one is not', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather in Chur?' }];
    const params = {
      model,
      max_tokens: 4000,
      thinking: { type: 'enabled' as const, budget_tokens: 1024 },
      tools: [weatherTool],
    };
    const asking = client.messages.stream({ ...params, messages }, steer({ 'tool-calls': 1 }));
    const thoughts: string[] = [];
    const signatures: string[] = [];
    asking.on('thinking', (delta) => thoughts.push(delta));
    asking.on('signature', (signature) => signatures.push(signature));
    const firstReply = await asking.finalMessage();
    see(firstReply);
    const [thought] = firstReply.content;
    assert.ok(thought?.type === 'thinking');
    assert.equal(thoughts.join(''), thought.thinking);
    assert.deepEqual(signatures, [thought.signature]);
    const [call] = callsOf(firstReply);
    assert.ok(call);
    const results: Anthropic.MessageParam = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: call.id, content: 'snow' }],
    };
    const answered = await client.messages.create({
      ...params,
      messages: [...messages, { role: 'assistant', content: firstReply.content }, results],
    });
    see(answered);
    assert.equal(answered.stop_reason, 'end_turn');
    const changed = firstReply.content.map((block) => (block.type === 'thinking' ? { ...block, thinking: `${block.thinking}!` } : block));
    await assert.rejects(
      client.messages.create({ ...params, messages: [...messages, { role: 'assistant', content: changed }, results] }),
      (error) => error instanceof Anthropic.BadRequestError && /signature/.test(error.message),
    );
  });

  test('thinking without its text is accepted', async () => {
    const message = await client.messages.create({
      model,
      max_tokens: 2000,
      thinking: { type: 'adaptive', display: 'omitted' },
      messages: hello,
    });
    see(message);
    const [thought] = message.content;
    assert.ok(thought?.type === 'thinking');
    assert.equal(thought.thinking, '');
    assert.ok(thought.signature);
  });

  test('an image, a document, a system prompt and cache marks reach the vendor unchanged', async () => {
    const params: Anthropic.MessageCreateParamsNonStreaming = {
      model,
      max_tokens: 500,
      system: [{ type: 'text', text: 'Be brief. '.repeat(600), cache_control: { type: 'ephemeral' } }],
      metadata: { user_id: 'user-1' },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixelPng } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'A short document.' }, title: 'Short' },
            { type: 'text', text: 'What is this?' },
          ],
        },
      ],
    };
    const first = see(await client.messages.create(params, steer({ tag: 'image' })));
    assert.ok((first.cache_creation_input_tokens ?? 0) >= 1024, 'the system prompt was written to the cache');
    assert.deepEqual(recordOf('image')?.requestBody, params);
    const second = see(await client.messages.create(params));
    assert.equal(second.cache_read_input_tokens, first.cache_creation_input_tokens);
    const hour = see(
      await client.messages.create({
        ...params,
        system: [{ type: 'text', text: 'Be kind. '.repeat(600), cache_control: { type: 'ephemeral', ttl: '1h' } }],
      }),
    );
    assert.ok((hour.cache_creation?.ephemeral_1h_input_tokens ?? 0) >= 1024);
  });

  test('a stop sequence and an output limit end the reply', async () => {
    const params = { model, messages: hello };
    const stopped = await client.messages.create({ ...params, max_tokens: 500, stop_sequences: ['STOP'] }, saying('before STOP after'));
    see(stopped);
    assert.equal(textOf(stopped), 'before ');
    assert.equal(stopped.stop_reason, 'stop_sequence');
    assert.equal(stopped.stop_sequence, 'STOP');
    const limited = await client.messages.create({ ...params, max_tokens: 5 });
    assert.equal(see(limited).output_tokens, 5);
    assert.equal(limited.stop_reason, 'max_tokens');
    const shortest = await client.messages.create({ ...params, max_tokens: 1 });
    assert.equal(see(shortest).output_tokens, 1);
  });

  test('a refusal and a pause keep their stop reasons', async () => {
    const refused = await client.messages.stream({ model, max_tokens: 500, messages: hello }, steer({ stop: 'refusal' })).finalMessage();
    see(refused);
    assert.equal(refused.stop_reason, 'refusal');
    const paused = await client.messages.create({ model, max_tokens: 500, messages: hello }, steer({ stop: 'pause' }));
    see(paused);
    assert.equal(paused.stop_reason, 'pause_turn');
  });

  test('an assistant turn is continued', async () => {
    const messages: Anthropic.MessageParam[] = [...hello, { role: 'assistant', content: 'The answer is' }];
    see(await client.messages.create({ model, max_tokens: 500, messages }));
  });

  test('unknown blocks and events pass', async () => {
    const whole = await client.messages.create({ model, max_tokens: 500, messages: hello }, steer({ fault: 'unknown-block' }));
    see(whole);
    assert.ok(whole.content.some((block) => (block.type as string) === 'simulated_unknown_block'));
    const stream = client.messages.stream({ model, max_tokens: 500, messages: hello }, saying('Known text.', { fault: 'unknown-event' }));
    const final = await stream.finalMessage();
    see(final);
    assert.equal(textOf(final), 'Known text.');
  });

  test('betas pass, and a field that needs one is refused without it', async () => {
    const params = {
      model,
      max_tokens: 500,
      messages: hello,
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' as const }] },
    };
    const message = await client.beta.messages.create(
      { ...params, betas: ['context-management-2025-06-27', 'interleaved-thinking-2025-05-14'] },
      steer({ tag: 'betas' }),
    );
    see(message);
    const sent = recordOf('betas')?.requestHeaders['anthropic-beta'] ?? '';
    assert.match(sent, /context-management-2025-06-27/);
    assert.match(sent, /interleaved-thinking-2025-05-14/);
    assert.match(recordOf('betas')?.requestHeaders['anthropic-version'] ?? '', /^\d{4}-\d{2}-\d{2}$/, 'any version of this SDK sends it');
    await assert.rejects(client.beta.messages.create(params), Anthropic.BadRequestError);
  });

  test('the contract’s neutral header names have the same effect as the vendor’s', async () => {
    const url = `${running.weir.gatewayUrl}/v1/messages`;
    const body = { model, max_tokens: 500, messages: hello };
    const key = { 'x-api-key': running.weir.apiKey };
    const headers = {
      ...key,
      'vendor-version': '2023-06-01',
      'vendor-beta': 'one-2026-01-01,two-2026-01-01',
      'x-simulator-tag': 'neutral',
    };
    const answer = await post(url, body, headers);
    assert.equal(answer.status, 200, answer.text);
    see(answer.json);
    assert.equal(recordOf('neutral')?.requestHeaders['anthropic-version'], '2023-06-01');
    assert.match(
      recordOf('neutral')?.requestHeaders['anthropic-beta'] ?? '',
      /one-2026-01-01, ?two-2026-01-01|one-2026-01-01,two-2026-01-01/,
    );
    assert.equal(recordOf('neutral')?.requestHeaders['vendor-version'], undefined);
    const bare = await post(url, body, key);
    assert.equal(bare.status, 400);
    assert.match(bare.json.error.message, /vendor-version|anthropic-version/);
  });

  test('a token count is free and agrees with the call', async () => {
    const params = { model, messages: hello, system: 'Be brief.', tools: [weatherTool] };
    const counted = await client.messages.countTokens(params);
    const message = await client.messages.create({ ...params, max_tokens: 500 });
    assert.equal(counted.input_tokens, see(message).input_tokens);
    const beta = await client.beta.messages.countTokens({ ...params, betas: ['token-counting-2024-11-01'] });
    assert.equal(beta.input_tokens, counted.input_tokens);
  });

  test('the model list, its pages, and one model are available', async () => {
    const ids: string[] = [];
    for await (const entry of client.models.list({ limit: 3 })) ids.push(entry.id);
    assert.ok(ids.includes(model));
    assert.equal(new Set(ids).size, ids.length, 'no model is listed twice');
    assert.ok(ids.length > 6, 'several pages');
    const one = await client.models.retrieve(model);
    assert.equal(one.id, model);
    assert.equal(one.type, 'model');
    assert.ok(one.display_name);
    await assert.rejects(client.models.retrieve('no-such-model'), Anthropic.NotFoundError);
  });

  test('withResponse shows the ids of the call, and nothing about the operator’s account', async () => {
    const { data, response, request_id } = await client.messages.create({ model, max_tokens: 500, messages: hello }).withResponse();
    see(data);
    assert.match(response.headers.get('x-weir-request-id') ?? '', /^req_[0-9a-z]{26}$/);
    assert.equal(running.simulator.records().at(-1)?.requestId, request_id);
    assert.equal(response.headers.get('anthropic-ratelimit-requests-remaining'), null);
    assert.equal(response.headers.get('anthropic-organization-id'), null);
  });

  test('the vendor notices a client that disconnects, and the client pays for the received part', async () => {
    const stream = client.messages.stream({ model: leftModel, max_tokens: 4000, messages: hello }, steer({ ...longReply, tag: 'left' }));
    let characters = 0;
    let leftAtMs = 0;
    stream.on('text', (delta) => {
      characters += delta.length;
      if (characters < 20 || leftAtMs > 0) return;
      leftAtMs = Date.now();
      stream.abort();
    });
    await assert.rejects(stream.finalMessage(), Anthropic.APIUserAbortError);
    const { record, booked } = await assertLeft(running, { tag: 'left', model: leftModel, characters, leftAtMs });
    assert.equal(booked.input, record.plannedUsage?.inputTokens, 'the first event had the input count');
  });

  test('no upstream key reached the client, and no client key reached the vendor', () => {
    const credentials = running.simulator.records().map(({ requestHeaders }) => requestHeaders['x-api-key']);
    assert.equal(new Set(credentials).size, 1);
    assert.ok(running.simulator.records().every(({ requestHeaders }) => requestHeaders['authorization'] === undefined));
  });

  test("the books match the SDK's usage", () => assertBooksAgree(running.weir, seen, [leftModel]));
});
