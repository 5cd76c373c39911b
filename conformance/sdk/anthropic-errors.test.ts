import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';

import { post } from '../support/http.ts';
import { startSimulatedWeir, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { brokenReplies, steer } from './steer.ts';

const model = 'claude-sonnet-5';
const params = { model, max_tokens: 500, messages: [{ role: 'user' as const, content: 'Hello' }] };

/** Every error class of the Anthropic SDK, raised by the cause it stands for, whole and streamed. */
describe('Anthropic SDK, errors', () => {
  let running: SimulatedWeir;
  let client: Anthropic;
  const seen = createSeenUsage();
  const connect = (options: object = {}): Anthropic =>
    new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey: running.weir.apiKey, maxRetries: 0, ...options });
  const wasNotAsked = (tag: string): boolean => running.simulator.records().every((record) => record.tag !== tag);
  /** The next call of the vendor fails so, and the records begin anew. */
  const failNext = async (fault: string): Promise<void> => {
    running.simulator.reset();
    const settings = await post(`${running.simulator.controlUrl}/settings`, { faults: [{ fault, vendor: 'anthropic', times: 1 }] });
    assert.equal(settings.status, 200, settings.text);
  };
  before(async () => {
    running = await startSimulatedWeir({ timeouts: { firstByteMs: 400, idleMs: 400 } });
    client = connect();
  });
  after(() => running[Symbol.asyncDispose]());

  type Options = { headers?: Record<string, string>; timeout?: number; signal?: AbortSignal };
  const calls: readonly [name: string, call: (options: Options, from?: Anthropic) => Promise<unknown>][] = [
    ['whole', (options, from = client) => from.messages.create(params, options)],
    [
      'streamed',
      async (options, from = client) => {
        for await (const _ of await from.messages.create({ ...params, stream: true }, options));
      },
    ],
    ['stream helper', (options, from = client) => from.messages.stream(params, options).finalMessage()],
    ['beta', (options, from = client) => from.beta.messages.create(params, options)],
  ];
  const statuses = [
    [400, Anthropic.BadRequestError, 'invalid_request_error'],
    [403, Anthropic.PermissionDeniedError, 'permission_error'],
    [404, Anthropic.NotFoundError, 'not_found_error'],
    [409, Anthropic.ConflictError, 'conflict_error'],
    [422, Anthropic.UnprocessableEntityError, undefined],
    [429, Anthropic.RateLimitError, 'rate_limit_error'],
    [500, Anthropic.InternalServerError, 'api_error'],
    [529, Anthropic.InternalServerError, 'overloaded_error'],
  ] as const;

  for (const [name, call] of calls) {
    test(`${name}: each status of the vendor raises its class, with the vendor’s words`, async () => {
      for (const [status, errorClass, type] of statuses) {
        await assert.rejects(call(steer({ fault: `status;status=${status};message=Words of the vendor.` })), (error) => {
          assert.ok(error instanceof errorClass, `${status} raises ${errorClass.name}, not ${String(error)}`);
          assert.equal(error.status, status);
          if (type !== undefined) assert.equal(error.type, type);
          assert.match(error.message, /Words of the vendor\./);
          assert.match(error.requestID ?? '', /^req_/);
          return true;
        });
      }
    });

    test(`${name}: a rate limit tells when to come back`, async () => {
      await assert.rejects(call(steer({ fault: 'status;status=429;retry-after=7' })), (error) => {
        assert.ok(error instanceof Anthropic.RateLimitError);
        assert.equal(error.headers.get('retry-after'), '7');
        return true;
      });
    });

    test(`${name}: a wrong key is an AuthenticationError that does not repeat the key`, async () => {
      await assert.rejects(call(steer({ tag: `${name} wrong key` }), connect({ apiKey: 'sk-weir-surely-not-a-key' })), (error) => {
        assert.ok(error instanceof Anthropic.AuthenticationError);
        assert.equal(error.type, 'authentication_error');
        assert.doesNotMatch(error.message, /surely-not-a-key/);
        return true;
      });
      assert.ok(wasNotAsked(`${name} wrong key`), 'no vendor was asked');
    });

    test(`${name}: a vendor that refuses the operator’s key is not the client’s fault, and the key stays secret`, async () => {
      for (const fault of ['status;status=401', 'echo-credentials', 'echo-credentials;status=400', 'echo-credentials;status=500']) {
        await assert.rejects(call(steer({ fault })), (error) => {
          assert.ok(error instanceof Anthropic.APIError);
          assert.notEqual(error.status, 401);
          const shown = JSON.stringify([error.message, error.error, [...(error.headers ?? [])]]);
          assert.ok(!shown.includes(upstreamKey), `${fault} shows the key: ${shown}`);
          return true;
        });
      }
    });

    test(`${name}: a vendor that is away or lies is a server error with words`, async () => {
      const raise = (fault: string): Promise<void> =>
        assert.rejects(call(steer({ fault })), (error) => {
          assert.ok(error instanceof Anthropic.InternalServerError, `${fault} raises a server error, not ${String(error)}`);
          assert.match(error.message, /model service|Upstream connection error/, fault);
          assert.doesNotMatch(error.message, /127\.0\.0\.1|ECONN|UND_ERR/, `${fault} shows nothing of the inside`);
          return true;
        });
      const faults = ['refuse', 'reset-before-headers', 'html;status=502', 'html', 'empty-body', 'redirect'];
      await Promise.all([...faults, 'gzip', 'error-in-200'].map(raise));
    });

    test(`${name}: the client’s own time limit, the caller’s abort, a gateway that is gone`, async () => {
      const stalled = steer({ fault: 'stall-before-headers' });
      await Promise.all([
        assert.rejects(call({ ...stalled, timeout: 40 }), Anthropic.APIConnectionTimeoutError),
        assert.rejects(call({ ...stalled, signal: AbortSignal.timeout(40) }), Anthropic.APIUserAbortError),
        assert.rejects(call({}, connect({ baseURL: 'http://127.0.0.1:9' })), Anthropic.APIConnectionError),
      ]);
    });
  }

  test('a whole reply that breaks is a server error', async () => {
    const whole = calls.filter(([name]) => ['whole', 'beta'].includes(name));
    const raise = (call: (typeof calls)[number][1], fault: string): Promise<void> =>
      assert.rejects(call(steer({ fault })), (error) => {
        assert.ok(error instanceof Anthropic.InternalServerError, `${fault} raises a server error, not ${String(error)}`);
        return true;
      });
    await Promise.all(whole.flatMap(([, call]) => brokenReplies.map((fault) => raise(call, fault))));
  });

  test('a vendor that says nothing is a time-out with words, wherever it falls silent', async () => {
    const silent = async (call: (typeof calls)[number][1], fault: string): Promise<void> =>
      assert.rejects(call(steer({ fault })), (error) => {
        assert.ok(error instanceof Anthropic.InternalServerError, `${fault} raises a server error, not ${String(error)}`);
        assert.equal(error.status, 504);
        assert.match(error.message, /Upstream connection error: .*timeout/);
        return true;
      });
    const faults = ['stall-before-headers', 'stall-after-headers'];
    await Promise.all(calls.flatMap(([, call]) => faults.map((fault) => silent(call, fault))));
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
    assert.ok(wasNotAsked('bounds'), 'no vendor was asked');
  });

  test('an unknown model is a NotFoundError, also when its tokens are to be counted', async () => {
    const unknown = { ...params, model: 'no-such-model' };
    await assert.rejects(client.messages.create(unknown), Anthropic.NotFoundError);
    const { max_tokens: _, ...counted } = unknown;
    await assert.rejects(client.messages.countTokens(counted), Anthropic.NotFoundError);
  });

  test('a model of another interface is refused with the interface that has it', async () => {
    await assert.rejects(client.messages.create({ ...params, model: 'gpt-4.1' }), (error) => {
      assert.ok(error instanceof Anthropic.BadRequestError);
      assert.match(error.message, /\/v1\/responses/);
      return true;
    });
  });

  for (const fault of ['status;status=429;retry-after-ms=20', 'status;status=529;retry-after-ms=20']) {
    test(`the SDK comes back after ${fault} and is served, and only the answer is booked`, async () => {
      await failNext(fault);
      const { usage } = await connect({ maxRetries: 2 }).messages.create(params);
      seen.add(model, { input: usage.input_tokens, output: usage.output_tokens });
      assert.equal(running.simulator.records().length, 2);
      assert.equal(running.simulator.records()[1]?.status, 200);
    });
  }

  test('the SDK does not come back where it was told not to', async () => {
    running.simulator.reset();
    const call = connect({ maxRetries: 2 }).messages.create(params, steer({ fault: 'status;status=529;x-should-retry=false' }));
    await assert.rejects(call, Anthropic.InternalServerError);
    assert.equal(running.simulator.records().length, 1);
  });

  test('failed calls cost nothing: the books hold what was answered', () => assertBooksAgree(running.weir, seen));
});
