import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';

import { startSimulatedWeir, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { steer } from './steer.ts';
import { testErrorClasses } from './test-error-classes.ts';
import { assertNotCalled, failNext, impatientWith } from './vendor-failures.ts';

const model = 'claude-sonnet-5';
const params = { model, max_tokens: 500, messages: [{ role: 'user' as const, content: 'Hello' }] };

/** Every error class of the Anthropic SDK, raised by its cause, whole and streamed. */
describe('Anthropic SDK, errors', () => {
  let running: SimulatedWeir;
  let client: Anthropic;
  const seen = createSeenUsage();
  const connect = (options: object = {}): Anthropic =>
    new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey: running.weir.apiKey, maxRetries: 0, ...options });
  before(async () => {
    running = await startSimulatedWeir(impatientWith('anthropic', model));
    client = connect();
  });
  after(() => running[Symbol.asyncDispose]());

  testErrorClasses<Anthropic>({
    classes: Anthropic,
    running: () => running,
    connect,
    calls: [
      {
        name: 'whole',
        call: (options, from = client, of = model) => from.messages.create({ ...params, model: of }, options),
        isWhole: true,
      },
      {
        name: 'streamed',
        call: async (options, from = client, of = model) => {
          for await (const _ of await from.messages.create({ ...params, model: of, stream: true }, options));
        },
      },
      {
        name: 'stream helper',
        call: (options, from = client, of = model) => from.messages.stream({ ...params, model: of }, options).finalMessage(),
      },
      {
        name: 'beta',
        call: (options, from = client, of = model) => from.beta.messages.create({ ...params, model: of }, options),
        isWhole: true,
      },
    ],
    statuses: [
      [400, Anthropic.BadRequestError, { type: 'invalid_request_error' }],
      [404, Anthropic.NotFoundError, { type: 'not_found_error' }],
      [409, Anthropic.ConflictError, { type: 'conflict_error' }],
      [422, Anthropic.UnprocessableEntityError],
      [429, Anthropic.RateLimitError, { type: 'rate_limit_error' }],
      [500, Anthropic.InternalServerError, { type: 'api_error' }],
      [529, Anthropic.InternalServerError, { type: 'overloaded_error' }],
    ],
    wrongKey: { type: 'authentication_error' },
    goneUrl: 'http://127.0.0.1:9',
  });

  test('a field out of its bounds is a BadRequestError that names it', async () => {
    const wrong: readonly [field: string, value: object][] = [
      ['temperature', { temperature: 1.5 }],
      ['max_tokens', { max_tokens: -1 }],
      ['messages', { messages: undefined }],
      ['thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 10 } }],
      ['top_k', { top_k: -1 }],
    ];
    for (const [field, value] of wrong) {
      await assert.rejects(client.messages.create({ ...params, ...value }, steer({ tag: 'bounds' })), (error) => {
        assert.ok(error instanceof Anthropic.BadRequestError, `${field}: ${String(error)}`);
        assert.equal(error.type, 'invalid_request_error');
        assert.ok(error.message.includes(field), error.message);
        return true;
      });
    }
    assertNotCalled(running, 'bounds');
  });

  test('an unknown model is a NotFoundError, also if its tokens are to be counted', async () => {
    const unknown = { ...params, model: 'no-such-model' };
    await assert.rejects(client.messages.create(unknown), Anthropic.NotFoundError);
    const { max_tokens: _, ...counted } = unknown;
    await assert.rejects(client.messages.countTokens(counted), Anthropic.NotFoundError);
  });

  test('a field that a model of another interface cannot express is refused by its name if losses are forbidden', async () => {
    const strict = { headers: { 'x-weir-strict': 'true' } };
    const lossy = { ...params, model: 'gpt-4.1', top_k: 3 };
    await assert.rejects(client.messages.create(lossy, strict), (error) => {
      assert.ok(error instanceof Anthropic.BadRequestError);
      assert.match(error.message, /top_k/);
      return true;
    });
  });

  for (const fault of ['status;status=429;retry-after-ms=20', 'status;status=529;retry-after-ms=20']) {
    test(`the SDK retries after ${fault} and succeeds, and only the answer is booked`, async () => {
      running.simulator.reset();
      await failNext(running, 'anthropic', fault);
      const { usage } = await connect({ maxRetries: 2 }).messages.create(params);
      seen.add(model, { input: usage.input_tokens, output: usage.output_tokens });
      assert.equal(running.simulator.records().length, 2);
      assert.equal(running.simulator.records()[1]?.status, 200);
    });
  }

  test('the SDK does not retry if the answer forbids it', async () => {
    running.simulator.reset();
    const call = connect({ maxRetries: 2 }).messages.create(params, steer({ fault: 'status;status=529;x-should-retry=false' }));
    await assert.rejects(call, Anthropic.InternalServerError);
    assert.equal(running.simulator.records().length, 1);
  });

  test('failed calls cost nothing: the books contain only the answered ones', () => assertBooksAgree(running.weir, seen));
});
