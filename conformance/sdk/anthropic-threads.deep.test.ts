import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { z } from 'zod';

import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { steer } from './steer.ts';

type BetaMessage = Anthropic.Beta.Messages.BetaMessage;
type SentBody = {
  readonly thread?: { readonly type: string; readonly previous_message_id?: string };
  readonly messages: readonly unknown[];
};

const model = 'claude-sonnet-5';
/** Served by a server that speaks Messages and stores no threads. */
const localModel = 'local-claude';
/** The server without threads comes first, the vendor with threads second. */
const eitherModel = 'either-claude';
/** Calls whose usage the SDK never received. */
const brokenModel = 'broken-claude';

/** The SDK's stateful threads and its tool runner, which uses them by default. */
describe('Anthropic SDK, threads and the tool runner', () => {
  let running: SimulatedWeir;
  let client: Anthropic;
  const seen = createSeenUsage();
  const see = (message: BetaMessage, of = model): void => {
    const { usage } = message;
    const cacheRead = usage.cache_read_input_tokens ?? 0;
    const cacheWrite = usage.cache_creation_input_tokens ?? 0;
    seen.add(of, { input: usage.input_tokens + cacheRead + cacheWrite, output: usage.output_tokens, cacheRead, cacheWrite });
  };
  const sentBodies = (): SentBody[] => running.simulator.records().map(({ requestBody }) => requestBody as unknown as SentBody);
  const cities: string[] = [];
  const weatherTool = betaZodTool({
    name: 'get_weather',
    description: 'The weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    run: ({ city }) => {
      cities.push(city);
      return 'rain';
    },
  });
  const params = { max_tokens: 500, tools: [weatherTool], messages: [{ role: 'user' as const, content: 'Bern?' }], max_iterations: 4 };

  before(async () => {
    running = await startSimulatedWeir({
      upstreams: ({ anthropic }) => ({
        local: {
          vendor: 'openai-compatible',
          baseUrl: `${anthropic}/v1`,
          apiKey: 'local-key-0123456789',
          dialects: ['anthropic-messages'],
          forwardHeaders: ['x-simulator-*'],
        },
      }),
      models: {
        [localModel]: { targets: [{ upstream: 'local', model }] },
        [eitherModel]: {
          targets: [
            { upstream: 'local', model },
            { upstream: 'anthropic', model },
          ],
        },
        [brokenModel]: { targets: [{ upstream: 'anthropic', model }] },
      },
    });
    client = new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey: running.weir.apiKey, maxRetries: 0 });
  });
  beforeEach(() => {
    running.simulator.reset();
    cities.length = 0;
  });
  after(() => running[Symbol.asyncDispose]());

  test('the tool runner sends only new messages: the thread passes through', async () => {
    const replies: BetaMessage[] = [];
    for await (const message of client.beta.messages.toolRunner({ ...params, model })) {
      see(message);
      replies.push(message);
    }
    assert.ok(cities.length > 0, 'the tool ran');
    assert.equal(replies.at(-1)?.stop_reason, 'end_turn');
    const [first, second, ...more] = sentBodies();
    assert.deepEqual(first?.thread, { type: 'create' });
    assert.deepEqual(second?.thread, { type: 'continue', previous_message_id: replies[0]?.id });
    assert.equal(second.messages.length, 1, 'only the tool results');
    assert.equal(more.length, 0);
    assert.match(running.simulator.records()[0]?.requestHeaders['anthropic-beta'] ?? '', /message-threads-/);
  });

  test('the tool runner works streamed', async () => {
    for await (const stream of client.beta.messages.toolRunner({ ...params, model, stream: true })) see(await stream.finalMessage());
    assert.ok(cities.length > 0);
    assert.deepEqual(
      sentBodies().map(({ thread }) => thread?.type),
      ['create', 'continue'],
    );
  });

  test('a thread of several turns works, whole and streamed', async () => {
    const thread = client.beta.messages.thread({ model, max_tokens: 500 });
    const first = await thread.send({ role: 'user', content: 'My name is Ada.' });
    see(first);
    const second = await thread.send({ role: 'user', content: 'Who am I?' });
    see(second);
    assert.ok(second.usage.input_tokens > first.usage.input_tokens, 'the vendor still has the first turn');
    const third = await thread.stream({ role: 'user', content: 'And now?' }).finalMessage();
    see(third);
    assert.equal(thread.previousMessageId, third.id);
    assert.deepEqual(
      sentBodies().map(({ messages }) => messages.length),
      [1, 1, 1],
    );
  });

  test('a pause is resumed', async () => {
    const thread = client.beta.messages.thread({ model, max_tokens: 500 });
    const paused = await thread.send({ role: 'user', content: 'Think long.' }, {}, steer({ stop: 'pause' }));
    see(paused);
    assert.equal(paused.stop_reason, 'pause_turn');
  });

  test("the SDK replays a lost thread, because it receives the vendor's original error", async () => {
    const thread = client.beta.messages.thread({ model, max_tokens: 500 });
    see(await thread.send({ role: 'user', content: 'One.' }));
    running.simulator.reset();
    see(await thread.send({ role: 'user', content: 'Two.' }));
    const bodies = sentBodies();
    assert.deepEqual(
      bodies.map(({ thread: sent, messages }) => [sent?.type, messages.length]),
      [
        ['continue', 1],
        ['create', 3],
      ],
    );
  });

  test('after a broken stream the SDK begins a new thread with its history', async () => {
    const thread = client.beta.messages.thread({ model: brokenModel, max_tokens: 500 });
    await thread.send({ role: 'user', content: 'One.' });
    const broken = thread.stream({ role: 'user', content: 'Two.' }, {}, steer({ 'output-tokens': 40, fault: 'reset-mid-stream;after=2' }));
    await assert.rejects(broken.finalMessage(), Anthropic.APIError);
    const answered = await thread.send({ role: 'user', content: 'Three.' });
    assert.equal(answered.stop_reason, 'end_turn');
    assert.equal(sentBodies().at(-1)?.thread?.type, 'create');
  });

  test('if no threads are stored the refusal makes the SDK continue without threads, whole and streamed', async () => {
    for await (const message of client.beta.messages.toolRunner({ ...params, model: localModel })) see(message, localModel);
    assert.ok(cities.length > 0);
    const streamedRunner = client.beta.messages.toolRunner({ ...params, model: localModel, stream: true });
    for await (const stream of streamedRunner) see(await stream.finalMessage(), localModel);
    const bodies = sentBodies();
    assert.ok(
      bodies.every((body) => !('thread' in body)),
      'the server never received a thread',
    );
    assert.deepEqual(
      bodies.map(({ messages }) => messages.length),
      [1, 3, 1, 3],
    );
  });

  test('the refusal is the documented one', async () => {
    const refused = client.beta.messages.create({
      model: localModel,
      max_tokens: 500,
      messages: params.messages,
      thread: { type: 'create' },
      betas: ['message-threads-2026-08-12'],
    });
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof Anthropic.BadRequestError);
      assert.equal(error.type, 'invalid_request_error');
      assert.equal(error.errorCode, 'thread_unsupported_request');
      assert.deepEqual(error.details, { error_code: 'thread_unsupported_request', unsupported: ['thread'] });
      return true;
    });
    assert.equal(running.simulator.records().length, 0);
  });

  test('of two targets the one that stores threads is chosen for a thread', async () => {
    const thread = client.beta.messages.thread({ model: eitherModel, max_tokens: 500 });
    see(await thread.send({ role: 'user', content: 'One.' }), eitherModel);
    see(await thread.send({ role: 'user', content: 'Two.' }), eitherModel);
    const unthreaded = await client.beta.messages.create({ model: eitherModel, max_tokens: 500, messages: params.messages });
    see(unthreaded, eitherModel);
    const [first, second, third] = running.simulator.records().map(({ requestHeaders }) => requestHeaders['x-api-key']);
    assert.equal(first, second);
    assert.notEqual(third, first);
  });

  test('without threads, as the caller configured it', async () => {
    for await (const message of client.beta.messages.toolRunner({ ...params, model, thread: false })) see(message);
    assert.ok(sentBodies().every((body) => !('thread' in body)));
  });

  test("the books match the SDK's usage", () => assertBooksAgree(running.weir, seen, [brokenModel]));
});
