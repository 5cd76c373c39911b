import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { ApiError, type GenerateContentConfig, GoogleGenAI } from '@google/genai';

import { startSimulatedWeir, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { assertBooksAgree, createSeenUsage } from './seen-usage.ts';
import { brokenReplies, steer } from './steer.ts';
import {
  assertNotCalled,
  assertOutsideWords,
  awayFaults,
  credentialFaults,
  failNext,
  hastyModel,
  impatientWith,
  silentFaults,
} from './vendor-failures.ts';

const model = 'gemini-2.5-flash';

/** The body that this SDK puts unchanged into the message of its error. */
function bodyOf(error: ApiError): { error: { code: number; status: string; message: string; details?: { '@type': string }[] } } {
  return JSON.parse(error.message);
}

/** The errors of Google's SDK, which has one class and distinguishes them by status, whole and streamed. */
describe('Google GenAI SDK, errors', () => {
  let running: SimulatedWeir;
  let client: GoogleGenAI;
  const seen = createSeenUsage();
  const connect = (apiKey: string, baseUrl = running.weir.gatewayUrl, more: object = {}): GoogleGenAI =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl, ...more } });
  before(async () => {
    running = await startSimulatedWeir(impatientWith('gemini', model));
    client = connect(running.weir.apiKey);
  });
  after(() => running[Symbol.asyncDispose]());

  const steered = (fault: string): GenerateContentConfig => ({ httpOptions: steer({ fault }) });
  const calls: readonly [name: string, call: (config: GenerateContentConfig, from?: GoogleGenAI, of?: string) => Promise<unknown>][] = [
    ['whole', (config, from = client, of = model) => from.models.generateContent({ model: of, contents: 'Hello', config })],
    [
      'streamed',
      async (config, from = client, of = model) => {
        for await (const _ of await from.models.generateContentStream({ model: of, contents: 'Hello', config }));
      },
    ],
  ];
  const statuses = [
    [400, 'INVALID_ARGUMENT'],
    [404, 'NOT_FOUND'],
    [429, 'RESOURCE_EXHAUSTED'],
    [500, 'INTERNAL'],
    [503, 'UNAVAILABLE'],
    [504, 'DEADLINE_EXCEEDED'],
  ] as const;

  for (const [name, call] of calls) {
    test(`${name}: each status of the vendor has the vendor’s message`, async () => {
      for (const [status, statusName] of statuses) {
        await assert.rejects(call(steered(`status;status=${status};message=Words of the vendor.`)), (error) => {
          assert.ok(error instanceof ApiError, String(error));
          assert.equal(error.status, status);
          assert.equal(bodyOf(error).error.code, status);
          assert.equal(bodyOf(error).error.status, statusName);
          assert.equal(bodyOf(error).error.message, 'Words of the vendor.');
          return true;
        });
      }
    });

    test(`${name}: a wrong key is a 401 that does not repeat the key`, async () => {
      await assert.rejects(call({ httpOptions: steer({ tag: `${name} wrong key` }) }, connect('sk-weir-surely-not-a-key')), (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.status, 401);
        assert.equal(bodyOf(error).error.status, 'UNAUTHENTICATED');
        assert.doesNotMatch(error.message, /surely-not-a-key/);
        return true;
      });
      assertNotCalled(running, `${name} wrong key`);
    });

    test(`${name}: a vendor that refuses the operator’s key is not the client’s fault, and the key stays secret`, async () => {
      for (const fault of credentialFaults) {
        await assert.rejects(call(steered(fault)), (error) => {
          assert.ok(error instanceof ApiError);
          assert.notEqual(error.status, 401);
          assert.ok(!error.message.includes(upstreamKey), `${fault} shows the key: ${error.message}`);
          return true;
        });
      }
    });

    test(`${name}: an unreachable or faulty vendor is a server error with a message`, async () => {
      const raise = (fault: string): Promise<void> =>
        assert.rejects(call(steered(fault)), (error) => {
          assert.ok(error instanceof ApiError, `${fault} raises an ApiError, not ${String(error)}`);
          assert.ok(error.status >= 500, `${fault}: ${error.message}`);
          assertOutsideWords(error.message, fault);
          return true;
        });
      await Promise.all(awayFaults.map(raise));
    });

    test(`${name}: an unknown model and an inexpressible field are errors of the client`, async () => {
      await assert.rejects(call({}, client, 'no-such-model'), (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.status, 404);
        assert.equal(bodyOf(error).error.status, 'NOT_FOUND');
        return true;
      });
      const strict = { seed: 3, httpOptions: { headers: { 'x-weir-strict': 'true' } } };
      await assert.rejects(call(strict, client, 'claude-sonnet-5'), (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.status, 400);
        assert.match(error.message, /generationConfig\.seed/);
        return true;
      });
    });

    test(`${name}: a field out of its bounds is a 400 that names it`, async () => {
      const tagged = { httpOptions: steer({ tag: `${name} bounds` }) };
      await assert.rejects(call({ temperature: 3, ...tagged }), (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.status, 400);
        assert.equal(bodyOf(error).error.status, 'INVALID_ARGUMENT');
        assert.match(bodyOf(error).error.message, /temperature/);
        return true;
      });
      await assert.rejects(call({ stopSequences: ['1', '2', '3', '4', '5', '6'], ...tagged }), /stop_?sequences/i);
      assertNotCalled(running, `${name} bounds`);
    });

    test(`${name}: the client’s own time limit, its abort and an unreachable gateway raise errors`, async () => {
      const stalled = steered('stall-before-headers');
      await assert.rejects(call({ httpOptions: { ...stalled.httpOptions, timeout: 40 } }), /timeout|abort/i);
      await assert.rejects(call({ ...stalled, abortSignal: AbortSignal.timeout(40) }), /timeout|abort/i);
      await assert.rejects(call({}, connect(running.weir.apiKey, 'http://127.0.0.1:9')), /fetch failed/);
    });
  }

  test('a silent vendor is a time-out with a message, whenever it falls silent', async () => {
    const silent = async (call: (typeof calls)[number][1], fault: string): Promise<void> =>
      assert.rejects(call(steered(fault), client, hastyModel), (error) => {
        assert.ok(error instanceof ApiError, `${fault} raises an ApiError, not ${String(error)}`);
        assert.equal(error.status, 504);
        assert.match(error.message, /Upstream connection error: .*timeout/);
        return true;
      });
    await Promise.all(calls.flatMap(([, call]) => silentFaults.map((fault) => silent(call, fault))));
  });

  test('a whole reply that breaks is a server error', async () => {
    const raise = (fault: string): Promise<void> =>
      assert.rejects(client.models.generateContent({ model: hastyModel, contents: 'Hello', config: steered(fault) }), (error) => {
        assert.ok(error instanceof ApiError && error.status >= 500, `${fault}: ${String(error)}`);
        return true;
      });
    await Promise.all(brokenReplies.map(raise));
  });

  test('the SDK retries if it may, and only the answer is booked', async () => {
    running.simulator.reset();
    await failNext(running, 'gemini', 'status;status=503');
    const retrying = connect(running.weir.apiKey, running.weir.gatewayUrl, {
      retryOptions: { attempts: 3, initialDelay: 0.02, jitter: 0 },
    });
    const { usageMetadata } = await retrying.models.generateContent({ model, contents: 'Hello' });
    seen.add(model, {
      input: usageMetadata?.promptTokenCount ?? 0,
      output: (usageMetadata?.candidatesTokenCount ?? 0) + (usageMetadata?.thoughtsTokenCount ?? 0),
    });
    assert.deepEqual(
      running.simulator.records().map(({ status }) => status),
      [503, 200],
    );
  });

  test('failed calls cost nothing: the books contain only the answered ones', () => assertBooksAgree(running.weir, seen));
});
