import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { objectsOf } from '../../src/platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../src/platform/json/json-value.ts';
import { saying } from '../sdk/steer.ts';
import { eventually, post, call } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';

/**
 * Tokens that a vendor's own tools add to the prompt have a count of their own in one dialect. In all dialects they are
 * charged as input.
 */
describe('tokens that tools of a generate-content vendor add to the prompt', () => {
  let running: SimulatedWeir;
  before(async () => {
    const targets = [{ upstream: 'gemini', model: 'gemini-3-flash-preview' }];
    // The gateway searches, so that the call is decoded and encoded again; the vendor runs code.
    running = await startSimulatedGateway({
      runsTools: true,
      models: { mixed: { targets, tools: { webSearch: 'gateway', codeExecution: 'native' } } },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const question = 'Search for the age of the weir, and then compute it in years by a program that you run, please.';
  const generating = { contents: [{ role: 'user', parts: [{ text: question }] }], tools: [{ googleSearch: {} }, { codeExecution: {} }] };
  /** The model answers at once, or searches first. */
  const rounds: Readonly<Record<number, Readonly<Record<string, string>>>> = {
    1: {},
    2: { 'tool-name': 'web_search', 'tool-arguments': encodeURIComponent('{"query":"weir"}') },
  };
  const ask = (path: string, body: object, count: number, tag: string) =>
    post(running.weir.gatewayUrl + path, body, {
      authorization: `Bearer ${running.weir.apiKey}`,
      'anthropic-version': '2023-06-01',
      ...saying('It is 36 years old.', { ...rounds[count], tag, pace: 'tokensPerFrame=1' }).headers,
    });

  /** Rows of the model: those of the gateway's tools have no tokens. */
  const modelRows = ({ rows }: JsonObject): readonly JsonObject[] =>
    objectsOf(rows).filter(({ usage }) => isJsonObject(usage) && usage['input_tokens'] !== undefined);

  /** The upstream's usage for all rounds, and the charged usage. */
  async function inputOf(
    tag: string,
    callId: unknown,
  ): Promise<{ readonly rounds: number; readonly reported: number; readonly charged: number }> {
    const records = running.simulator.records().filter((record) => record.tag === tag);
    const reported = records.reduce((sum, { plannedUsage }) => sum + (plannedUsage?.inputTokens ?? 0), 0);
    const { gatewayUrl, apiKey } = running.weir;
    const receipt = await eventually(
      () => call(`${gatewayUrl}/v1/receipts/${String(callId)}`, { headers: { authorization: `Bearer ${apiKey}` } }),
      ({ status, json }) => status === 200 && modelRows(json).length === records.length,
    );
    const rows = modelRows(receipt.json);
    const charged = rows.reduce((sum, { usage }) => sum + Number(isJsonObject(usage) ? (usage['input_tokens'] ?? 0) : 0), 0);
    return { rounds: records.length, reported, charged };
  }

  const count = (usage: JsonObject, name: string): number => Number(usage[name] ?? 0);
  const totalOf = (usage: JsonObject): number =>
    ['promptTokenCount', 'toolUsePromptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'].reduce(
      (sum, name) => sum + count(usage, name),
      0,
    );

  for (const times of [1, 2]) {
    const what = `${times} round${times === 1 ? '' : 's'}`;
    test(`a client of generate content gets them separately from its prompt, and all are charged as input: ${what}, whole`, async () => {
      const tag = `whole-${times}`;
      const reply = await ask('/v1beta/models/mixed:generateContent', generating, times, tag);
      assert.equal(reply.status, 200, reply.text);
      const usage: JsonObject = reply.json.usageMetadata;
      const input = await inputOf(tag, reply.headers['x-weir-request-id']);
      assert.equal(input.rounds, times);
      assert.equal(count(usage, 'toolUsePromptTokenCount'), times * 8);
      assert.equal(count(usage, 'promptTokenCount'), input.reported - times * 8);
      assert.equal(input.charged, input.reported);
      assert.equal(usage['totalTokenCount'], totalOf(usage));
      assert.deepEqual(usage['promptTokensDetails'], [{ modality: 'TEXT', tokenCount: usage['promptTokenCount'] }]);
    });

    test(`every chunk has them, in counts that never shrink and end as those of the whole reply: ${what}`, async () => {
      const whole = await ask('/v1beta/models/mixed:generateContent', generating, times, `told-${times}`);
      const reply = await ask('/v1beta/models/mixed:streamGenerateContent?alt=sse', generating, times, `stream-${times}`);
      assert.equal(reply.status, 200, reply.text);
      const chunks = reply.text.split('\r\n\r\n').filter((frame) => frame.startsWith('data: '));
      const usages = chunks.map((frame): JsonObject => JSON.parse(frame.slice('data: '.length)).usageMetadata);
      assert.ok(usages.length > 1);
      for (const [at, usage] of usages.entries()) {
        assert.ok(isJsonObject(usage), `chunk ${at} has no usage`);
        const before = usages[at - 1] ?? {};
        for (const name of Object.keys(before).filter((key) => key.endsWith('Count')))
          assert.ok(count(usage, name) >= count(before, name), `${name} of chunk ${at}: ${JSON.stringify([before, usage])}`);
      }
      assert.deepEqual(usages.at(-1), whole.json.usageMetadata);
    });
  }

  const others = {
    '/v1/messages': {
      model: 'mixed',
      max_tokens: 500,
      messages: [{ role: 'user', content: question }],
      tools: [
        { type: 'web_search_20250305', name: 'web_search' },
        { type: 'code_execution_20250825', name: 'code_execution' },
      ],
    },
    '/v1/responses': {
      model: 'mixed',
      input: question,
      tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
    },
  };
  for (const [path, body] of Object.entries(others)) {
    test(`they are input for a client of ${path}`, async () => {
      const reply = await ask(path, body, 2, path);
      assert.equal(reply.status, 200, reply.text);
      const input = await inputOf(path, reply.headers['x-weir-request-id']);
      assert.deepEqual([reply.json.usage.input_tokens, input.charged], [input.reported, input.reported]);
    });
  }
});
