import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { post } from '../support/http.ts';
import { startSimulatedWeir, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { brokenReplies, steer } from './steer.ts';

const model = 'gpt-4.1';
const messages = [{ role: 'user' as const, content: 'Hello' }];

/** Every error class of the openai SDK, raised by the cause it stands for, on both interfaces, whole and streamed. */
describe('openai SDK, errors', () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  const seen = createSeenUsage();
  const connect = (options: object = {}): OpenAI =>
    new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0, ...options });
  const wasNotAsked = (tag: string): boolean => running.simulator.records().every((record) => record.tag !== tag);
  /** The next call of the vendor fails so, and the records begin anew. */
  const failNext = async (fault: string): Promise<void> => {
    running.simulator.reset();
    const settings = await post(`${running.simulator.controlUrl}/settings`, { faults: [{ fault, vendor: 'openai', times: 1 }] });
    assert.equal(settings.status, 200, settings.text);
  };
  before(async () => {
    running = await startSimulatedWeir({ timeouts: { firstByteMs: 400, idleMs: 400 } });
    client = connect();
  });
  after(() => running[Symbol.asyncDispose]());

  type Options = { headers?: Record<string, string>; timeout?: number; signal?: AbortSignal };
  const calls: readonly [name: string, call: (options: Options, from?: OpenAI) => Promise<unknown>][] = [
    ['chat completions', (options, from = client) => from.chat.completions.create({ model, messages }, options)],
    [
      'chat completions, streamed',
      async (options, from = client) => {
        for await (const _ of await from.chat.completions.create({ model, messages, stream: true }, options));
      },
    ],
    ['chat stream helper', (options, from = client) => from.chat.completions.stream({ model, messages }, options).finalChatCompletion()],
    ['Responses', (options, from = client) => from.responses.create({ model, input: 'Hello' }, options)],
    ['Responses, streamed', (options, from = client) => from.responses.stream({ model, input: 'Hello' }, options).finalResponse()],
  ];
  const statuses = [
    [400, OpenAI.BadRequestError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
    [503, OpenAI.InternalServerError],
  ] as const;

  for (const [name, call] of calls) {
    test(`${name}: each status of the vendor raises its class, with the vendor’s words`, async () => {
      for (const [status, errorClass] of statuses) {
        await assert.rejects(call(steer({ fault: `status;status=${status};message=Words of the vendor.` })), (error) => {
          assert.ok(error instanceof errorClass, `${status} raises ${errorClass.name}, not ${String(error)}`);
          assert.equal(error.status, status);
          assert.match(error.message, /Words of the vendor\./);
          assert.match(error.requestID ?? '', /^req_/);
          return true;
        });
      }
    });

    test(`${name}: a rate limit tells when to come back`, async () => {
      await assert.rejects(call(steer({ fault: 'status;status=429;retry-after=7' })), (error) => {
        assert.ok(error instanceof OpenAI.RateLimitError);
        assert.equal(error.headers.get('retry-after'), '7');
        return true;
      });
    });

    test(`${name}: a wrong key is an AuthenticationError that does not repeat the key`, async () => {
      await assert.rejects(call(steer({ tag: `${name} wrong key` }), connect({ apiKey: 'sk-weir-surely-not-a-key' })), (error) => {
        assert.ok(error instanceof OpenAI.AuthenticationError);
        assert.equal(error.code, 'invalid_api_key');
        assert.doesNotMatch(error.message, /surely-not-a-key/);
        return true;
      });
      assert.ok(wasNotAsked(`${name} wrong key`), 'no vendor was asked');
    });

    test(`${name}: a vendor that refuses the operator’s key is not the client’s fault, and the key stays secret`, async () => {
      for (const fault of ['status;status=401', 'echo-credentials', 'echo-credentials;status=400', 'echo-credentials;status=500']) {
        await assert.rejects(call(steer({ fault })), (error) => {
          assert.ok(error instanceof OpenAI.APIError);
          assert.notEqual(error.status, 401);
          const shown = JSON.stringify([error.message, error.error, [...(error.headers ?? [])]]);
          assert.ok(!shown.includes(upstreamKey), `${fault} shows the key: ${shown}`);
          return true;
        });
      }
    });

    test(`${name}: a vendor that is away or lies is a server error with words`, async () => {
      const faults = ['refuse', 'reset-before-headers', 'html;status=502', 'html', 'empty-body', 'redirect'];
      const raise = (fault: string): Promise<void> =>
        assert.rejects(call(steer({ fault })), (error) => {
          assert.ok(error instanceof OpenAI.InternalServerError, `${fault} raises a server error, not ${String(error)}`);
          assert.match(error.message, /model service|Upstream connection error/, fault);
          assert.doesNotMatch(error.message, /127\.0\.0\.1|ECONN|UND_ERR/, `${fault} shows nothing of the inside`);
          return true;
        });
      await Promise.all([...faults, 'gzip', 'error-in-200'].map(raise));
    });

    test(`${name}: the client’s own time limit, the caller’s abort, a gateway that is gone`, async () => {
      const stalled = steer({ fault: 'stall-before-headers' });
      await Promise.all([
        assert.rejects(call({ ...stalled, timeout: 40 }), OpenAI.APIConnectionTimeoutError),
        assert.rejects(call({ ...stalled, signal: AbortSignal.timeout(40) }), OpenAI.APIUserAbortError),
        assert.rejects(call({}, connect({ baseURL: 'http://127.0.0.1:9/v1' })), OpenAI.APIConnectionError),
      ]);
    });
  }

  test('a whole reply that breaks is a server error', async () => {
    const whole = calls.filter(([name]) => ['chat completions', 'Responses'].includes(name));
    const raise = (call: (typeof calls)[number][1], fault: string): Promise<void> =>
      assert.rejects(call(steer({ fault })), (error) => {
        assert.ok(error instanceof OpenAI.InternalServerError, `${fault} raises a server error, not ${String(error)}`);
        return true;
      });
    await Promise.all(whole.flatMap(([, call]) => brokenReplies.map((fault) => raise(call, fault))));
  });

  test('a vendor that says nothing is a time-out with words, wherever it falls silent', async () => {
    const silent = async (call: (typeof calls)[number][1], fault: string): Promise<void> =>
      assert.rejects(call(steer({ fault })), (error) => {
        assert.ok(error instanceof OpenAI.InternalServerError, `${fault} raises a server error, not ${String(error)}`);
        assert.equal(error.status, 504);
        assert.match(error.message, /Upstream connection error: .*timeout/);
        return true;
      });
    const faults = ['stall-before-headers', 'stall-after-headers'];
    await Promise.all(calls.flatMap(([, call]) => faults.map((fault) => silent(call, fault))));
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
    assert.ok(wasNotAsked('bounds'), 'no vendor was asked');
  });

  test('an unknown model: 404 on chat completions, 400 on Responses, as the vendor does', async () => {
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

  test('a model of another interface is refused with the interface that has it', async () => {
    await assert.rejects(client.chat.completions.create({ model: 'claude-sonnet-5', messages }), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.match(error.message, /\/v1\/messages/);
      return true;
    });
  });

  for (const [retry, least] of [
    ['retry-after-ms=20', 0],
    ['retry-after=1', 900],
  ] as const) {
    test(`the SDK comes back after ${retry} and is served, and only the answer is booked`, async () => {
      await failNext(`status;status=429;${retry}`);
      const startedMs = performance.now();
      const completion = await connect({ maxRetries: 2 }).chat.completions.create({ model, messages });
      assert.ok(performance.now() - startedMs >= least, 'it waited as long as it was told');
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

  test('the SDK does not come back where it was told not to', async () => {
    running.simulator.reset();
    const call = connect({ maxRetries: 2 }).chat.completions.create(
      { model, messages },
      steer({ fault: 'status;status=500;x-should-retry=false' }),
    );
    await assert.rejects(call, OpenAI.InternalServerError);
    assert.equal(running.simulator.records().length, 1);
  });

  test('every upstream answer is booked once, when the SDK came back after answers that broke', async () => {
    await failNext('reset-before-headers');
    const response = await connect({ maxRetries: 2 }).responses.create({ model, input: 'Hello' });
    assert.ok(response.usage);
    seen.add(model, { input: response.usage.input_tokens, output: response.usage.output_tokens });
    assert.equal(running.simulator.records().length, 2);
  });

  test('failed calls cost nothing: the books hold what was answered', () => assertBooksAgree(running.weir, seen));
});
