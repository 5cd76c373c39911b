import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';

import { eventually } from '../support/http.ts';
import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { assertLeft } from './assert-left.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { longReply, pixelPng, saying, steer } from './steer.ts';

const model = 'gpt-4.1';
const thinker = 'gpt-5-mini';
const leftModel = 'left-in-the-middle';
const weatherTool = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  strict: true,
};

/** The openai SDK on Responses: whole, streamed, chained, with tools, schemas, reasoning and images. */
describe('openai SDK, Responses', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  const seen = createSeenUsage();
  const see = (response: OpenAI.Responses.Response, of = model): OpenAI.Responses.ResponseUsage => {
    const { usage } = response;
    assert.ok(usage, 'the SDK got usage');
    seen.add(of, { input: usage.input_tokens, output: usage.output_tokens, cacheRead: usage.input_tokens_details.cached_tokens });
    return usage;
  };
  const callsOf = (response: OpenAI.Responses.Response) => response.output.filter((item) => item.type === 'function_call');
  const recordOf = (tag: string) => running.simulator.records().find((record) => record.tag === tag);
  before(async () => {
    running = await startSimulatedWeir({ models: { [leftModel]: { targets: [{ upstream: 'openai', model }] } } });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  after(() => running[Symbol.asyncDispose]());

  test('a whole call is answered', async () => {
    const response = await client.responses.create({ model, input: 'Hello' }, saying('Grüße, 世界 🌊'));
    assert.equal(response.object, 'response');
    assert.equal(response.status, 'completed');
    assert.equal(response.output_text, 'Grüße, 世界 🌊');
    assert.equal(see(response).total_tokens, (response.usage?.input_tokens ?? 0) + (response.usage?.output_tokens ?? 0));
  });

  test('a stream has every event in order, the deltas are the text, and the last event has the usage', async () => {
    const text = 'One two three, 世界 and 🚰 and so on until the end.';
    const stream = await client.responses.create({ model, input: 'Hello', stream: true }, saying(text));
    const types: string[] = [];
    let joined = '';
    let sequence = -1;
    for await (const event of stream) {
      if (types.at(-1) !== event.type) types.push(event.type);
      assert.equal(event.sequence_number, sequence + 1);
      sequence = event.sequence_number;
      if (event.type === 'response.output_text.delta') joined += event.delta;
      if (event.type === 'response.completed') see(event.response);
    }
    assert.equal(joined, text);
    assert.deepEqual(types, [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  test('the stream helper has snapshots and the final response', async () => {
    const stream = client.responses.stream({ model, input: 'Hello' }, saying('The helper puts it together.'));
    let snapshot = '';
    stream.on('response.output_text.delta', (event) => (snapshot = event.snapshot));
    const final = await stream.finalResponse();
    assert.equal(snapshot, 'The helper puts it together.');
    assert.equal(final.output_text, 'The helper puts it together.');
    assert.equal(final.status, 'completed');
    see(final);
  });

  test('a chain by previous_response_id needs only the new turn', async () => {
    const first = await client.responses.create({ model, input: 'My name is Ada. '.repeat(20), instructions: 'Be brief.' });
    const firstUsage = see(first);
    const second = await client.responses.create({ model, input: 'Who am I?', previous_response_id: first.id }, steer({ tag: 'chained' }));
    assert.equal(second.previous_response_id, first.id);
    assert.ok(see(second).input_tokens > firstUsage.input_tokens, 'the vendor still has the first turn');
    assert.deepEqual(recordOf('chained')?.requestBody, { model, input: 'Who am I?', previous_response_id: first.id });
    const third = client.responses.stream({ model, input: 'And now?', previous_response_id: second.id });
    assert.equal((await third.finalResponse()).previous_response_id, second.id);
    see(await third.finalResponse());
    await assert.rejects(client.responses.create({ model, input: 'x', previous_response_id: 'resp_unknown' }), OpenAI.BadRequestError);
  });

  test('a tool round trip works whole and chained', async () => {
    const firstReply = await client.responses.create(
      { model, input: 'Weather in Bern?', tools: [weatherTool] },
      steer({ 'tool-calls': 1 }),
    );
    see(firstReply);
    const [call] = callsOf(firstReply);
    assert.equal(call?.name, 'get_weather');
    assert.equal(typeof JSON.parse(call.arguments).city, 'string');
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: '21 degrees' };
    const answered = await client.responses.create({ model, input: [output], previous_response_id: firstReply.id, tools: [weatherTool] });
    see(answered);
    assert.ok(answered.output_text);
  });

  test('a tool round trip works streamed, with two parallel calls and the whole history', async () => {
    const asking = client.responses.stream(
      { model, input: 'Bern and Basel?', tools: [weatherTool], store: false },
      steer({ 'tool-calls': 2 }),
    );
    const argumentDeltas: string[] = [];
    asking.on('response.function_call_arguments.delta', ({ delta }) => argumentDeltas.push(delta));
    const firstReply = await asking.finalResponse();
    see(firstReply);
    const calls = callsOf(firstReply);
    assert.equal(calls.length, 2);
    assert.equal(argumentDeltas.join(''), calls.map((call) => call.arguments).join(''));
    const input: OpenAI.Responses.ResponseInputItem[] = [
      { role: 'user', content: 'Bern and Basel?' },
      ...firstReply.output.map((item) => item as OpenAI.Responses.ResponseInputItem),
      ...calls.map((call) => ({ type: 'function_call_output' as const, call_id: call.call_id, output: 'rain' })),
    ];
    const answered = await client.responses.stream({ model, input, tools: [weatherTool], store: false }).finalResponse();
    see(answered);
    assert.ok(answered.output_text);
  });

  test("an output without a call is refused in the vendor's format", async () => {
    const output = { type: 'function_call_output' as const, call_id: 'call_unknown', output: 'x' };
    await assert.rejects(
      client.responses.create({ model, input: [output] }),
      (error) => error instanceof OpenAI.BadRequestError && /call_unknown/.test(error.message) && error.param === 'input',
    );
  });

  test('structured output is parsed by the schema, whole and streamed', async () => {
    const Forecast = z.object({ city: z.string(), days: z.array(z.object({ high: z.number(), wet: z.boolean() })) });
    const text = { format: zodTextFormat(Forecast, 'forecast') };
    const parsed = await client.responses.parse({ model, input: 'Hello', text });
    see(parsed);
    Forecast.parse(parsed.output_parsed);
    const streamed = await client.responses.stream({ model, input: 'Hello', text }).finalResponse();
    see(streamed);
    Forecast.parse(streamed.output_parsed);
  });

  test('reasoning: the encrypted content is returned and accepted in the next turn', async () => {
    const include: OpenAI.Responses.ResponseIncludable[] = ['reasoning.encrypted_content'];
    const reasoning = { effort: 'low' as const, summary: 'auto' as const };
    const params = { model: thinker, include, reasoning, store: false, tools: [weatherTool] };
    const firstReply = await client.responses.create({ ...params, input: 'Weather in Chur?' }, steer({ 'tool-calls': 1 }));
    assert.ok(see(firstReply, thinker).output_tokens_details.reasoning_tokens > 0);
    const thought = firstReply.output.find((item) => item.type === 'reasoning');
    assert.ok(thought?.encrypted_content);
    assert.ok(thought.summary[0]?.text);
    const [call] = callsOf(firstReply);
    assert.ok(call);
    const input: OpenAI.Responses.ResponseInputItem[] = [
      { role: 'user', content: 'Weather in Chur?' },
      ...firstReply.output.map((item) => item as OpenAI.Responses.ResponseInputItem),
      { type: 'function_call_output', call_id: call.call_id, output: 'snow' },
    ];
    const answering = client.responses.stream({ ...params, input }, steer({ tag: 'thought-again' }));
    const summaries: string[] = [];
    answering.on('response.reasoning_summary_text.delta', ({ delta }) => summaries.push(delta));
    const answered = await answering.finalResponse();
    see(answered, thinker);
    assert.ok(answered.output_text);
    assert.ok(summaries.join('').length > 0);
    const sent = recordOf('thought-again')?.requestBody?.['input'] as { type?: string; encrypted_content?: string }[];
    assert.equal(sent.find((item) => item.type === 'reasoning')?.encrypted_content, thought.encrypted_content);
  });

  test('an image and a file reach the vendor unchanged', async () => {
    const input: OpenAI.Responses.ResponseInput = [
      { role: 'developer', content: 'Answer in German.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: `data:image/png;base64,${pixelPng}`, detail: 'low' },
          { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' },
        ],
      },
    ];
    const response = await client.responses.create({ model, input, instructions: 'Be brief.' }, steer({ tag: 'image' }));
    assert.ok(see(response).input_tokens > 20);
    assert.deepEqual(recordOf('image')?.requestBody, { model, input, instructions: 'Be brief.' });
  });

  test('a web search of the vendor has its call, a citation, and the text around it', async () => {
    const response = await client.responses.create({ model, input: 'News?', tools: [{ type: 'web_search' }] });
    see(response);
    assert.ok(response.output.some((item) => item.type === 'web_search_call'));
    const message = response.output.find((item) => item.type === 'message');
    const [part] = message?.content ?? [];
    assert.ok(part?.type === 'output_text' && part.annotations[0]?.type === 'url_citation');
  });

  test('a reply at the output limit is incomplete, with the reason, whole and streamed', async () => {
    const limited = await client.responses.create({ model, input: 'Hello', max_output_tokens: 16 });
    assert.equal(see(limited).output_tokens, 16);
    assert.equal(limited.status, 'incomplete');
    assert.equal(limited.incomplete_details?.reason, 'max_output_tokens');
    const streamed = await client.responses.stream({ model, input: 'Hello', max_output_tokens: 16 }).finalResponse();
    see(streamed);
    assert.equal(streamed.status, 'incomplete');
  });

  test('a refusal keeps its own part', async () => {
    const refused = await client.responses.stream({ model, input: 'Hello' }, steer({ stop: 'refusal' })).finalResponse();
    see(refused);
    const message = refused.output.find((item) => item.type === 'message');
    assert.equal(message?.content[0]?.type, 'refusal');
  });

  test('unknown items and events pass', async () => {
    const whole = await client.responses.create({ model, input: 'Hello' }, steer({ fault: 'unknown-block' }));
    see(whole);
    assert.ok(whole.output.some((item) => (item.type as string) === 'simulated_unknown_item'));
    const stream = await client.responses.create({ model, input: 'Hello', stream: true }, steer({ fault: 'unknown-event' }));
    let known = false;
    for await (const event of stream) {
      if (event.type === 'response.completed') {
        known = true;
        see(event.response);
      }
    }
    assert.ok(known);
  });

  test("withResponse shows the call's ids of the gateway and of the vendor", async () => {
    const { data, response, request_id } = await client.responses.create({ model, input: 'Hello' }).withResponse();
    see(data);
    assert.match(response.headers.get('x-weir-request-id') ?? '', /^req_[0-9a-z]{26}$/);
    assert.equal(running.simulator.records().at(-1)?.requestId, request_id);
    assert.equal(response.headers.get('x-ratelimit-remaining-requests'), null);
    assert.equal(response.headers.get('openai-organization'), null);
    assert.equal(response.headers.get('set-cookie'), null);
  });

  test('the vendor notices a client that disconnects, and the client pays for the received part', async () => {
    const stream = await client.responses.create({ model: leftModel, input: 'Hello', stream: true }, steer({ ...longReply, tag: 'left' }));
    let characters = 0;
    let leftAtMs = 0;
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') characters += event.delta.length;
      if (characters < 20 || leftAtMs > 0) continue;
      leftAtMs = Date.now();
      stream.controller.abort();
    }
    await assertLeft(running, { tag: 'left', model: leftModel, characters, leftAtMs });
  });

  test('the helper’s abort raises the abort error', async () => {
    const stream = client.responses.stream({ model: leftModel, input: 'Hello' }, steer({ ...longReply, tag: 'left-helper' }));
    stream.on('response.output_text.delta', () => stream.abort());
    await assert.rejects(stream.finalResponse(), OpenAI.APIUserAbortError);
    const record = await eventually(
      () => recordOf('left-helper'),
      (found) => found?.ending !== 'open',
    );
    assert.equal(record?.ending, 'client-closed');
  });

  test("the books match the SDK's usage", () => assertBooksAgree(running.weir, seen, [leftModel]));
});
