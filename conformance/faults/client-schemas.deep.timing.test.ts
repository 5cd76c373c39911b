import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { post } from '../support/http.ts';
import { runWeir } from '../programs/run-weir.ts';
import { readLoop, watchedNodeArguments } from '../support/loop-watch.ts';
import { measureBest } from '../support/measure-best.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import type { HealthReport } from './watch-health.ts';

const healthMsMax = 50;
const callsAtOnce = 20;

const almost = `${'a'.repeat(60)}!`;

/** Schemas that take very long to compile or to check, and the model's replies to them. */
const hazards: Readonly<Record<string, { readonly schema: JsonObject; readonly answer: unknown }>> = {
  'a pattern with exponential backtracking': { schema: { type: 'string', pattern: '^(a+)+$' }, answer: almost },
  'names with exponential backtracking': { schema: { type: 'object', patternProperties: { '^(a+)+$': {} } }, answer: { [almost]: 1 } },
  'references that fan out': {
    schema: {
      $ref: '#/$defs/d0',
      $defs: {
        ...Object.fromEntries(
          Array.from({ length: 40 }, (_, at) => {
            const next = { $ref: `#/$defs/d${at + 1}` };
            return [`d${at}`, { anyOf: [next, { allOf: [next, next] }] }];
          }),
        ),
        d40: { type: 'string', minLength: 5 },
      },
    },
    answer: 'abc',
  },
  'three thousand alternatives': {
    schema: {
      anyOf: Array.from({ length: 3000 }, (_, at) => ({
        type: 'object',
        properties: { [`n${at}`]: { type: 'integer' } },
        required: [`n${at}`],
      })),
    },
    answer: { n2999: 1 },
  },
  'items that are compared with each other': {
    schema: { type: 'array', uniqueItems: true },
    answer: Array.from({ length: 20_000 }, (_, at) => ({ at })),
  },
};

/** A server of chat completions that answers with the text of the question. */
async function startEcho(): Promise<{ readonly baseUrl: string; readonly close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string; readonly content: string }[] };
      const name = messages.findLast(({ role, content }) => role === 'user' && content in hazards)?.content ?? '';
      const content = JSON.stringify(hazards[name]?.answer ?? {});
      const choices = [{ index: 0, delta: { content }, finish_reason: 'stop' }];
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify({ ...chunk, choices: [], usage })}\n\ndata: [DONE]\n\n`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

describe('schemas of clients', () => {
  let echo: Awaited<ReturnType<typeof startEcho>>;
  let weir: RunningWeir;
  before(async () => {
    echo = await startEcho();
    const upstream = { vendor: 'openai-compatible', baseUrl: echo.baseUrl, apiKey: 'sk-echo-0123456789abcdef' };
    weir = await startWeir({
      config: JSON.stringify({
        upstreams: { echo: upstream },
        models: { m: { targets: [{ upstream: 'echo' }], price: { input: '1', output: '1' } } },
        overload: neverOverloaded,
      }),
      nodeArguments: watchedNodeArguments,
    });
  });
  after(async () => {
    await echo.close();
    await weir[Symbol.asyncDispose]();
  });

  const ask = (name: string, schema: JsonObject, apiKey = weir.apiKey): ReturnType<typeof post> =>
    post(
      `${weir.gatewayUrl}/v1beta/models/m:generateContent`,
      {
        contents: [{ parts: [{ text: name }] }],
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
      },
      { 'x-goog-api-key': apiKey },
    );

  /**
   * The time that /health/live nearly always stays within while calls run. Measured in a thread, because the clients
   * and the upstream in this process are busy.
   */
  async function watchHealth(calls: Promise<unknown>): Promise<number> {
    const watch = new Worker(new URL('./watch-health.ts', import.meta.url), { workerData: `${weir.gatewayUrl}/health/live` });
    try {
      await calls;
      watch.postMessage('over');
      const [{ times, statuses }] = (await once(watch, 'message')) as [HealthReport];
      assert.deepEqual(statuses, [200]);
      return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.95)] ?? 0;
    } finally {
      await watch.terminate();
    }
  }

  for (const [name, { schema }] of Object.entries(hazards)) {
    test(`${name}: many at once do not delay /health/live by ${healthMsMax} ms, and every client gets an answer`, async () => {
      const worst = await measureBest(
        async () => {
          await readLoop(weir);
          const calls = Promise.all(Array.from({ length: callsAtOnce }, () => ask(name, schema)));
          const healthMs = await watchHealth(calls);
          for (const { status, headers, text } of await calls) {
            assert.equal(status, 200, text);
            assert.match(
              String(headers['x-gateway-warning']),
              /unchecked generationConfig\.responseMimeType \(the reply was not checked: /,
            );
          }
          return { healthMs, busiestMs: (await readLoop(weir)).busiestMs };
        },
        ({ healthMs, busiestMs }) => healthMs < healthMsMax && busiestMs < healthMsMax,
      );
      assert.ok(worst.busiestMs < healthMsMax, `the event loop was busy for ${Math.round(worst.busiestMs)} ms without a pause`);
      assert.ok(worst.healthMs < healthMsMax, `/health/live took ${Math.round(worst.healthMs)} ms`);
    });
  }

  test('expensive schemas of one tenant do not stop the checks for others', async () => {
    const environment = { WEIR_DATA_DIR: weir.dataDirectory, WEIR_CONFIG: join(weir.dataDirectory, 'weir.yaml') };
    const made = await runWeir(['keys', 'create', '--user', 'neighbour', '--name', 'one'], environment);
    assert.equal(made.code, 0, made.stderr);
    const name = 'a pattern with exponential backtracking';
    const expensive = Promise.all(Array.from({ length: callsAtOnce }, () => ask(name, hazards[name]?.schema ?? {})));
    const fitting = await ask(name, { type: 'string', minLength: 3 }, made.stdout.trim());
    assert.deepEqual([fitting.status, fitting.headers['x-gateway-warning']], [200, undefined]);
    const misfit = await ask(name, { type: 'string', maxLength: 3 }, made.stdout.trim());
    assert.equal(misfit.status, 502, 'neither the answer nor its repair matches');
    await expensive;
  });
});
