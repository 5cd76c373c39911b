import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

import { eventually } from '../support/http.ts';
import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { assertLeft, findLeftCall } from './assert-left.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { longReply, pixelPng, saying, steer } from './steer.ts';

const model = 'gpt-4.1';
const leftModel = 'left-in-the-middle';
const hello = [{ role: 'user' as const, content: 'Hello' }];
const weatherTool = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** The openai SDK on chat completions: whole, streamed, with tools, schemas, images and limits. */
describe('openai SDK, chat completions', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  const seen = createSeenUsage();
  const see = (usage: OpenAI.CompletionUsage | null | undefined, of = model): OpenAI.CompletionUsage => {
    assert.ok(usage, 'the SDK got usage');
    seen.add(of, {
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      cacheRead: usage.prompt_tokens_details?.cached_tokens ?? 0,
    });
    return usage;
  };
  before(async () => {
    running = await startSimulatedWeir({ models: { [leftModel]: { targets: [{ upstream: 'openai', model }] } } });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  test('a whole call is answered', async () => {
    const completion = await client.chat.completions.create({ model, messages: hello }, saying('Grüße, 世界 🌊'));
    assert.equal(completion.object, 'chat.completion');
    assert.equal(completion.model, model);
    assert.equal(completion.choices[0]?.message.content, 'Grüße, 世界 🌊');
    assert.equal(completion.choices[0]?.finish_reason, 'stop');
    assert.ok(see(completion.usage).completion_tokens > 0);
  });

  test('a stream with requested usage has the text in its deltas and the usage at the end', async () => {
    const text = 'One two three, 世界 and 🚰 and so on until the end.';
    const stream = await client.chat.completions.create(
      { model, messages: hello, stream: true, stream_options: { include_usage: true } },
      saying(text),
    );
    let joined = '';
    let finish: string | null | undefined;
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
      joined += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    assert.equal(joined, text);
    assert.equal(finish, 'stop');
    assert.ok(chunks.length > 5, 'it arrived in pieces');
    assert.deepEqual(chunks.at(-1)?.choices, []);
    see(chunks.at(-1)?.usage);
  });

  test('a stream without requested usage has no usage in any chunk, and the books have it', async () => {
    const stream = await client.chat.completions.create(
      { model, messages: hello, stream: true },
      saying('Short and good.', { tag: 'unasked' }),
    );
    let joined = '';
    for await (const chunk of stream) {
      assert.equal(chunk.choices.length, 1, 'no chunk without choices');
      assert.ok(!('usage' in chunk) || chunk.usage === null || chunk.usage === undefined, 'no chunk with usage');
      joined += chunk.choices[0]?.delta.content ?? '';
    }
    assert.equal(joined, 'Short and good.');
    const record = running.simulator.records().find(({ tag }) => tag === 'unasked');
    assert.ok(record?.plannedUsage);
    seen.add(model, { input: record.plannedUsage.inputTokens, output: record.plannedUsage.outputTokens });
  });

  test('the stream helper has events, the final completion and the final usage', async () => {
    const stream = client.chat.completions.stream(
      { model, messages: hello, stream_options: { include_usage: true } },
      saying('The helper puts it together.'),
    );
    const deltas: string[] = [];
    stream.on('content.delta', ({ delta }) => deltas.push(delta));
    const final = await stream.finalChatCompletion();
    assert.equal(final.choices[0]?.message.content, 'The helper puts it together.');
    assert.equal(deltas.join(''), 'The helper puts it together.');
    assert.equal(await stream.finalContent(), 'The helper puts it together.');
    assert.ok((await stream.totalUsage()).total_tokens > 0);
    see(final.usage);
  });

  test('a tool round trip works whole', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'How is the weather in Bern?' }];
    const firstReply = await client.chat.completions.create({ model, messages, tools: [weatherTool] }, steer({ 'tool-calls': 1 }));
    see(firstReply.usage);
    const [choice] = firstReply.choices;
    assert.equal(choice?.finish_reason, 'tool_calls');
    const [call] = choice.message.tool_calls ?? [];
    assert.ok(call?.type === 'function');
    assert.equal(call.function.name, 'get_weather');
    assert.equal(typeof JSON.parse(call.function.arguments).city, 'string');
    messages.push(choice.message, { role: 'tool', tool_call_id: call.id, content: '21 degrees' });
    const answered = await client.chat.completions.create({ model, messages, tools: [weatherTool] });
    see(answered.usage);
    assert.equal(answered.choices[0]?.finish_reason, 'stop');
    assert.ok(answered.choices[0].message.content);
  });

  test('a tool round trip works streamed, with two parallel calls', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Bern and Basel?' }];
    const stream_options = { include_usage: true };
    const asking = client.chat.completions.stream({ model, messages, tools: [weatherTool], stream_options }, steer({ 'tool-calls': 2 }));
    const firstReply = await asking.finalChatCompletion();
    see(firstReply.usage);
    assert.equal(firstReply.choices[0]?.finish_reason, 'tool_calls');
    const calls = firstReply.choices[0].message.tool_calls ?? [];
    assert.equal(calls.length, 2);
    assert.notEqual(calls[0]?.id, calls[1]?.id);
    messages.push(firstReply.choices[0].message);
    for (const call of calls) {
      assert.ok(call.type === 'function');
      assert.equal(typeof JSON.parse(call.function.arguments).city, 'string');
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'rain' });
    }
    const answering = client.chat.completions.stream({ model, messages, tools: [weatherTool], stream_options });
    const answered = await answering.finalChatCompletion();
    see(answered.usage);
    assert.ok(answered.choices[0]?.message.content);
  });

  test('runTools runs the loop by itself', async () => {
    const cities: string[] = [];
    const runner = client.chat.completions.runTools({
      model,
      messages: [{ role: 'user', content: 'What about Chur?' }],
      tools: [
        {
          type: 'function',
          function: {
            ...weatherTool.function,
            parse: (text: string) => JSON.parse(text) as { city: string },
            function: ({ city }: { city: string }) => {
              cities.push(city);
              return 'snow';
            },
          },
        },
      ],
    });
    assert.ok(await runner.finalContent());
    assert.ok(cities.length > 0);
    for (const completion of runner.allChatCompletions()) see(completion.usage);
  });

  test("a tool result without a call is refused in the vendor's format", async () => {
    const messages = [...hello, { role: 'tool' as const, tool_call_id: 'call_unknown', content: 'x' }];
    await assert.rejects(client.chat.completions.create({ model, messages }), OpenAI.BadRequestError);
  });

  test('structured output is parsed by the schema, whole and streamed', async () => {
    const Forecast = z.object({ city: z.string(), days: z.array(z.object({ high: z.number(), wet: z.boolean() })) });
    const response_format = zodResponseFormat(Forecast, 'forecast');
    const parsed = await client.chat.completions.parse({ model, messages: hello, response_format });
    see(parsed.usage);
    assert.ok(parsed.choices[0]?.message.parsed);
    Forecast.parse(parsed.choices[0].message.parsed);
    const streamed = await client.chat.completions
      .stream({ model, messages: hello, response_format, stream_options: { include_usage: true } })
      .finalChatCompletion();
    see(streamed.usage);
    Forecast.parse(streamed.choices[0]?.message.parsed);
  });

  test('an image, a system prompt and a developer prompt reach the vendor unchanged', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: 'Answer in German.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${pixelPng}`, detail: 'low' } },
        ],
      },
    ];
    const completion = await client.chat.completions.create({ model, messages }, steer({ tag: 'image' }));
    assert.ok(see(completion.usage).prompt_tokens > 20, 'the image is counted');
    const record = running.simulator.records().find(({ tag }) => tag === 'image');
    assert.deepEqual(record?.requestBody, { model, messages });
  });

  test('hidden reasoning is counted', async () => {
    const completion = await client.chat.completions.create({ model: 'gpt-5-mini', messages: hello, reasoning_effort: 'low' });
    const usage = see(completion.usage, 'gpt-5-mini');
    assert.ok((usage.completion_tokens_details?.reasoning_tokens ?? 0) > 0);
  });

  test('visible reasoning of a vendor that counts it separately is counted', async () => {
    const completion = await client.chat.completions.create({ model: 'grok-4.5', messages: hello });
    const { usage } = completion;
    assert.ok(usage);
    assert.ok('reasoning_content' in (completion.choices[0]?.message ?? {}));
    const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
    assert.ok(reasoning > 0);
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens + reasoning);
    seen.add('grok-4.5', { input: usage.prompt_tokens, output: usage.completion_tokens + reasoning });
  });

  test('a long prompt is read from the cache the second time', async () => {
    const messages = [{ role: 'user' as const, content: 'The river passes and is measured. '.repeat(300) }];
    const first = see((await client.chat.completions.create({ model, messages })).usage);
    const second = see((await client.chat.completions.create({ model, messages })).usage);
    assert.equal(first.prompt_tokens_details?.cached_tokens, 0);
    assert.ok((second.prompt_tokens_details?.cached_tokens ?? 0) >= 1024);
  });

  test('a stop sequence and an output limit end the reply', async () => {
    const stopped = await client.chat.completions.create({ model, messages: hello, stop: ['STOP'] }, saying('before STOP after'));
    see(stopped.usage);
    assert.equal(stopped.choices[0]?.message.content, 'before ');
    assert.equal(stopped.choices[0].finish_reason, 'stop');
    const limited = await client.chat.completions.create({ model, messages: hello, max_completion_tokens: 5 });
    assert.equal(see(limited.usage).completion_tokens, 5);
    assert.equal(limited.choices[0]?.finish_reason, 'length');
  });

  test('a refusal and a content filter keep their own fields', async () => {
    const refused = await client.chat.completions.create({ model, messages: hello }, steer({ stop: 'refusal' }));
    see(refused.usage);
    assert.match(refused.choices[0]?.message.refusal ?? '', /refus/);
    const filtered = await client.chat.completions.create({ model, messages: hello }, steer({ stop: 'content-filter' }));
    see(filtered.usage);
    assert.equal(filtered.choices[0]?.finish_reason, 'content_filter');
  });

  test('unknown events and members pass', async () => {
    const stream = client.chat.completions.stream(
      { model, messages: hello, stream_options: { include_usage: true } },
      saying('Known text.', { fault: 'unknown-block' }),
    );
    const final = await stream.finalChatCompletion();
    see(final.usage);
    assert.equal(final.choices[0]?.message.content, 'Known text.');
  });

  test('the model list and one model are available', async () => {
    const ids: string[] = [];
    for await (const entry of client.models.list()) ids.push(entry.id);
    assert.ok(ids.includes(model));
    assert.ok(ids.includes(leftModel), 'configured models are listed too');
    const one = await client.models.retrieve(model);
    assert.equal(one.id, model);
    assert.equal(one.object, 'model');
    await assert.rejects(client.models.retrieve('no-such-model'), OpenAI.NotFoundError);
  });

  test("withResponse shows the call's ids of the gateway and of the vendor", async () => {
    const { data, response, request_id } = await client.chat.completions.create({ model, messages: hello }).withResponse();
    see(data.usage);
    assert.match(response.headers.get('x-weir-request-id') ?? '', /^req_[0-9a-z]{26}$/);
    assert.match(request_id ?? '', /^req_/);
    assert.equal(running.simulator.records().at(-1)?.requestId, request_id);
  });

  test('the vendor notices a client that disconnects, and the client pays for the received part', async () => {
    const stream = await client.chat.completions.create(
      { model: leftModel, messages: hello, stream: true },
      steer({ ...longReply, tag: 'left' }),
    );
    let characters = 0;
    let leftAtMs = 0;
    for await (const chunk of stream) {
      characters += chunk.choices[0]?.delta.content?.length ?? 0;
      if (characters < 20 || leftAtMs > 0) continue;
      leftAtMs = Date.now();
      stream.controller.abort();
    }
    await assertLeft(running, { tag: 'left', model: leftModel, characters, leftAtMs });
  });

  test('a client that disconnects before the reply is noticed, and pays nothing', async () => {
    const controller = new AbortController();
    const call = client.chat.completions.create(
      { model: leftModel, messages: hello },
      { ...steer({ fault: 'stall-before-headers', tag: 'left-early' }), signal: controller.signal },
    );
    const find = () => running.simulator.records().find(({ tag }) => tag === 'left-early');
    await eventually(find, (found) => found !== undefined);
    const leftAtMs = Date.now();
    controller.abort();
    await assert.rejects(call, OpenAI.APIUserAbortError);
    await findLeftCall(running, 'left-early', leftAtMs);
  });

  test('no upstream key reached the client, and no client key reached the vendor', () => {
    const digests = new Set(running.simulator.records().map(({ requestHeaders }) => requestHeaders['authorization']));
    assert.equal(digests.size, 1, 'the vendor received one credential: the operator’s');
  });

  test("the books match the SDK's usage", () => assertBooksAgree(running.weir, seen, [leftModel]));
});
