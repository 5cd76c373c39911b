import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { steer } from './steer.ts';
import { testErrorClasses } from './test-error-classes.ts';
import { assertNotCalled, failNext, impatientWith } from './vendor-failures.ts';

const model = 'gpt-4.1';
const messages = [{ role: 'user' as const, content: 'Hello' }];

/** Every error class of the openai SDK, raised by its cause, on both interfaces, whole and streamed. */
describe('openai SDK, errors', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  const seen = createSeenUsage();
  const connect = (options: object = {}): OpenAI =>
    new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0, ...options });
  before(async () => {
    running = await startSimulatedWeir(impatientWith('openai', model));
    client = connect();
  });
  after(() => running[Symbol.asyncDispose]());

  const chat = (of: string) => ({ model: of, messages });
  const question = (of: string) => ({ model: of, input: 'Hello' });
  testErrorClasses<OpenAI>({
    classes: OpenAI,
    running: () => running,
    connect,
    calls: [
      {
        name: 'chat completions',
        call: (options, from = client, of = model) => from.chat.completions.create(chat(of), options),
        isWhole: true,
      },
      {
        name: 'chat completions, streamed',
        call: async (options, from = client, of = model) => {
          for await (const _ of await from.chat.completions.create({ ...chat(of), stream: true }, options));
        },
      },
      {
        name: 'chat stream helper',
        call: (options, from = client, of = model) => from.chat.completions.stream(chat(of), options).finalChatCompletion(),
      },
      { name: 'Responses', call: (options, from = client, of = model) => from.responses.create(question(of), options), isWhole: true },
      {
        name: 'Responses, streamed',
        call: (options, from = client, of = model) => from.responses.stream(question(of), options).finalResponse(),
      },
    ],
    statuses: [
      [400, OpenAI.BadRequestError],
      [404, OpenAI.NotFoundError],
      [409, OpenAI.ConflictError],
      [422, OpenAI.UnprocessableEntityError],
      [429, OpenAI.RateLimitError],
      [500, OpenAI.InternalServerError],
      [503, OpenAI.InternalServerError],
    ],
    wrongKey: { code: 'invalid_api_key' },
    goneUrl: 'http://127.0.0.1:9/v1',
  });

  test('a field out of its bounds is a BadRequestError that names it', async () => {
    await assert.rejects(client.chat.completions.create({ model, messages, temperature: 3 }, steer({ tag: 'bounds' })), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.equal(error.param, 'temperature');
      assert.match(error.message, /temperature.*2/s);
      return true;
    });
    await assert.rejects(client.responses.create({ model, input: 'Hello', temperature: -1 }, steer({ tag: 'bounds' })), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.equal(error.param, 'temperature');
      return true;
    });
    assertNotCalled(running, 'bounds');
  });

  test('an unknown model is 404 on chat completions and 400 on Responses, as at the vendor', async () => {
    await assert.rejects(client.chat.completions.create({ model: 'no-such-model', messages }), (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.code, 'model_not_found');
      return true;
    });
    await assert.rejects(client.responses.create({ model: 'no-such-model', input: 'Hello' }), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.equal(error.code, 'model_not_found');
      return true;
    });
  });

  test('a field that a model of another interface cannot express is refused by its name if losses are forbidden', async () => {
    const strict = { headers: { 'x-weir-strict': 'true' } };
    await assert.rejects(client.chat.completions.create({ model: 'claude-sonnet-5', messages, seed: 3 }, strict), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.deepEqual([error.param, error.code], ['seed', 'untranslatable_field']);
      return true;
    });
  });

  for (const [retry, least] of [
    ['retry-after-ms=20', 0],
    ['retry-after=1', 900],
  ] as const) {
    test(`the SDK retries after ${retry} and succeeds, and only the answer is booked`, async () => {
      running.simulator.reset();
      await failNext(running, 'openai', `status;status=429;${retry}`);
      const startedMs = performance.now();
      const completion = await connect({ maxRetries: 2 }).chat.completions.create({ model, messages });
      assert.ok(performance.now() - startedMs >= least, 'it waited as long as requested');
      const { usage } = completion;
      assert.ok(usage);
      seen.add(model, { input: usage.prompt_tokens, output: usage.completion_tokens });
      const records = running.simulator.records();
      assert.deepEqual(
        records.map(({ status }) => status),
        [429, 200],
      );
      assert.equal(records[1]?.requestHeaders['x-stainless-retry-count'], '1');
    });
  }

  test('the SDK does not retry if the answer forbids it', async () => {
    running.simulator.reset();
    const call = connect({ maxRetries: 2 }).chat.completions.create(
      { model, messages },
      steer({ fault: 'status;status=500;x-should-retry=false' }),
    );
    await assert.rejects(call, OpenAI.InternalServerError);
    assert.equal(running.simulator.records().length, 1);
  });

  test('every upstream answer is booked once if the SDK retried after answers that broke', async () => {
    running.simulator.reset();
    await failNext(running, 'openai', 'reset-before-headers');
    const response = await connect({ maxRetries: 2 }).responses.create({ model, input: 'Hello' });
    assert.ok(response.usage);
    seen.add(model, { input: response.usage.input_tokens, output: response.usage.output_tokens });
    assert.equal(running.simulator.records().length, 2);
  });

  test('failed calls cost nothing: the books contain only the answered ones', () => assertBooksAgree(running.weir, seen));
});
