import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { generateSecret } from '../../src/accounts/api-key-format.ts';
import { endpoints } from '../../src/gateway/endpoints/registry.ts';
import { allModes, type Mode, streamModes } from '../faults/fault-bench.ts';
import { by, startLimitsProgram } from '../limits/limits-bench.ts';
import { call, rawExchange } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { measureBest } from '../support/measure-best.ts';
import { residentBytes } from '../support/process-memory.ts';
import { serveWeir } from '../support/serve-weir.ts';

/** The places for a credential in a request, each with the request that uses it. */
const carriers: readonly (readonly [name: string, headers: (key: string) => Record<string, string>, query: (key: string) => string])[] = [
  ['Authorization', (key) => ({ authorization: `Bearer ${key}` }), () => ''],
  ['x-api-key', (key) => ({ 'x-api-key': key }), () => ''],
  ['x-goog-api-key', (key) => ({ 'x-goog-api-key': key }), () => ''],
  ['?key=', () => ({}), (key) => `?key=${encodeURIComponent(key)}`],
];

/** Failures of other gateways, by their row of docs/reference/failures.md, as a client would reproduce them here. */
describe('known failures of gateways', () => {
  let bench: Awaited<ReturnType<typeof startLimitsProgram>>;
  before(async () => {
    bench = await startLimitsProgram();
  });
  after(() => bench[Symbol.asyncDispose]());

  const modelsUrl = (): string => `${bench.weir.gatewayUrl}/v1/models`;
  const secondKey = (key: string): string => `${key.slice(0, -10)}${key.slice(-10) === '0000000000' ? '1111111111' : '0000000000'}`;

  describe('the caller does not decide where a call goes', () => {
    test('F68: no field and no header of a caller names the server that gets the operator’s credential', async () => {
      let connections = 0;
      const canary = createServer((socket) => {
        connections += 1;
        socket.destroy();
      }).listen(0, '127.0.0.1');
      await once(canary, 'listening');
      const address = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
      const names = ['api_base', 'base_url', 'baseUrl', 'api_url', 'endpoint', 'url', 'host', 'proxy', 'vendor', 'upstream', 'target'];
      try {
        for (const mode of allModes) {
          for (const name of names) {
            const value = name === 'vendor' || name === 'upstream' || name === 'target' ? { baseUrl: address } : address;
            await bench.send(mode, { body: { [name]: value, metadata: { [name]: address } } });
          }
          const headers = Object.fromEntries(
            ['x-api-base', 'x-base-url', 'x-upstream-url', 'x-forwarded-host', 'x-original-url', 'forwarded'].map((name) => [
              name,
              address,
            ]),
          );
          assert.equal((await bench.send(mode, { headers })).status, 200, 'meaningless headers change nothing');
        }
        assert.equal(connections, 0);
      } finally {
        canary.close();
      }
    });

    test('F70, F83: neither the Host header nor another spelling of a path opens a route without a key', async () => {
      const body = JSON.stringify(chatInterfaces[2]?.body('gpt-4.1', 'Hello'));
      const ask = async (target: string, host: string): Promise<string> =>
        rawExchange(
          bench.weir.gatewayUrl,
          `POST ${target} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
        );
      const hosts = ['a/../health?x', 'localhost/health', 'x\\..\\health', '[::1]', 'evil.example:80', '127.0.0.1@evil.example', ''];
      for (const host of hosts) assert.match(await ask('/v1/chat/completions', host), /^HTTP\/1\.1 40[01] /, `Host: ${host}`);
      const targets = [
        '/health/../v1/chat/completions',
        '/health/%2e%2e/v1/chat/completions',
        '//v1/chat/completions',
        '/v1//chat/completions',
        '/v1/chat/completions/',
        '/V1/chat/completions',
        '/v1/chat%2fcompletions',
        '/v1/chat/completions;health',
        '/v1/chat/completions?/health',
        '/v1/chat/completions#/health',
        'http://127.0.0.1/v1/chat/completions',
        '*',
      ];
      const before = bench.simulator.records().length;
      for (const target of targets) assert.match(await ask(target, 'localhost'), /^HTTP\/1\.1 4\d\d /, target);
      assert.equal(bench.simulator.records().length, before, 'no request reached an upstream');
    });

    test('F84: every route requires a key, except health and the name of the program', async () => {
      const google = 'publishers/google/models/gemini-2.5-flash:generateContent';
      /** Routes of clouds that have more than a model behind their beginning. */
      const restOf: Readonly<Record<string, string>> = {
        '/model/*': 'anthropic.claude-sonnet-4-5/invoke',
        '/v1/projects/*': `p/locations/l/${google}`,
        '/v1beta1/projects/*': `p/locations/l/${google}`,
        '/v1/publishers/*': google.replace('publishers/', ''),
        '/v1beta1/publishers/*': google.replace('publishers/', ''),
      };
      const open = endpoints.filter(({ name }) => name !== 'health').flatMap(({ routes }) => routes);
      assert.ok(open.length > 8);
      for (const { method, path } of open) {
        // The file of an image is only available through its signed link; otherwise it does not exist.
        // AWS answers 403 if there is no credential.
        const status = { '/v1/images/:id/content': 404, '/model/*': 403 }[path] ?? 401;
        const rest = method === 'POST' ? (restOf[path] ?? 'gemini-2.5-flash:generateContent') : 'gpt-4.1';
        const url = `${bench.weir.gatewayUrl}${path.replace('*', rest)}`;
        const answer = await call(url, {
          method,
          headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
          ...(method === 'POST' ? { body: '{}' } : {}),
        });
        assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
      }
    });
  });

  describe('keys', () => {
    test('F69: a key that contains SQL is an ordinary wrong key', async () => {
      for (const key of [
        `' OR '1'='1`,
        `x'; DROP TABLE api_keys; --`,
        `" OR 1=1 --`,
        `%`,
        `_`,
        `sk-weir-%_%_%`,
        `\\`,
        `1) UNION SELECT 1 --`,
      ]) {
        for (const [name, headers, query] of carriers) {
          const answer = await call(`${modelsUrl()}${query(key)}`, { headers: headers(key) });
          assert.equal(answer.status, 401, `${name}: ${key}: ${answer.text}`);
        }
      }
      assert.equal((await call(modelsUrl(), { headers: { 'x-api-key': bench.weir.apiKey } })).status, 200, 'the keys still exist');
    });

    test('F71: a key is compared in full, also right after one with the same prefix', async () => {
      const good = await bench.createKey('alike');
      for (let round = 0; round < 3; round++) {
        assert.equal((await call(modelsUrl(), { headers: { 'x-api-key': good } })).status, 200);
        for (const wrong of [secondKey(good), good.slice(0, -1), `${good}0`, good.slice(0, 20), good.toUpperCase(), ` ${good.slice(1)}`])
          assert.equal((await call(modelsUrl(), { headers: { 'x-api-key': wrong } })).status, 401, wrong.slice(0, 20));
      }
    });

    test('F72: the stored form of a key gives no access', async () => {
      const good = await bench.createKey('hashed');
      const bytes = hash('sha256', good, 'buffer');
      const kept = [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url'), good.split('_')[0] ?? '', 'hashed'];
      for (const wrong of kept) assert.equal((await call(modelsUrl(), { headers: { 'x-api-key': wrong } })).status, 401, wrong);
    });

    test('F78: a forbidden action stays forbidden, wherever the key is in the request', async () => {
      const key = await bench.createKey('narrow', { models: 'gpt-4.1' });
      for (const api of chatInterfaces.filter(({ dialect }) => dialect !== 'openai-chat')) {
        for (const [name, headers, query] of carriers) {
          const path = api.path(api.model);
          const answer = await call(`${bench.weir.gatewayUrl}${path}${query(key)}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...api.headers, ...headers(key) },
            body: JSON.stringify(api.body(api.model, 'Hello')),
          });
          assert.equal(answer.status, api.unknownModelStatus, `${api.dialect} by ${name}: ${answer.text}`);
        }
      }
    });

    test('F87: a refusal shows nothing of the refused key', async () => {
      const wrong = generateSecret('sk-weir', (size) => new Uint8Array(size).fill(7)).secret;
      for (const api of chatInterfaces) {
        for (const [name, headers, query] of carriers) {
          const answer = await call(`${bench.weir.gatewayUrl}${api.path(api.model)}${query(wrong)}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...api.headers, ...headers(wrong) },
            body: JSON.stringify(api.body(api.model, 'Hello')),
          });
          assert.equal(answer.status, 401, name);
          const told = answer.text + JSON.stringify(answer.headers);
          for (const part of [wrong.slice(0, 20), wrong.slice(-12), hash('sha256', wrong).slice(0, 12)]) {
            assert.ok(!told.includes(part), `${name}: ${told}`);
          }
        }
      }
      assert.ok(!bench.weir.output().includes(wrong.slice(8, 20)));
    });

    test('F93: wrong keys with the id of a good one do not lock it out, and no client can claim another address', async () => {
      const good = await bench.createKey('victim', { addresses: '127.0.0.1' });
      await Promise.all(
        Array.from({ length: 300 }, async (_, index) => {
          const wrong = index % 2 === 0 ? secondKey(good) : `${good.slice(0, 18)}_${String(index).padStart(43, '0')}_000000`;
          const answer = await call(modelsUrl(), { headers: { 'x-api-key': wrong, 'x-forwarded-for': `10.0.0.${index % 256}` } });
          assert.equal(answer.status, 401);
        }),
      );
      assert.equal((await call(modelsUrl(), { headers: { 'x-api-key': good, 'x-forwarded-for': '203.0.113.9' } })).status, 200);
      const elsewhere = await bench.createKey('elsewhere', { addresses: '203.0.113.9' });
      for (const header of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'cf-connecting-ip', 'true-client-ip']) {
        const value = header === 'forwarded' ? 'for=203.0.113.9' : '203.0.113.9';
        const answer = await call(modelsUrl(), { headers: { 'x-api-key': elsewhere, [header]: value } });
        assert.equal(answer.status, 403, header);
      }
    });

    test('F76: a gateway or a monitor with an empty secret does not start', async () => {
      for (const name of ['WEIR_API_KEY', 'WEIR_BILLING_TOKEN']) {
        const start = async (): Promise<void> => {
          const weir = await serveWeir({ environment: { [name]: ' ' } });
          await weir[Symbol.asyncDispose]();
        };
        await assert.rejects(start, /secret must be 8 to 256/, name);
      }
    });
  });

  const skip = residentBytes(process.pid) === undefined ? 'this system does not report the memory of a process' : false;

  test('F61: memory does not grow with the number of streams', { skip }, async () => {
    const run = async (calls: number): Promise<void> => {
      const waiting = Array.from({ length: calls }, (_, index) => streamModes[index % streamModes.length] as Mode);
      const worker = async (): Promise<void> => {
        for (let mode = waiting.pop(); mode !== undefined; mode = waiting.pop()) {
          assert.equal((await bench.send(mode, { ...by(bench.weir.apiKey), steer: { 'output-tokens': '300' } })).status, 200);
        }
      };
      await Promise.all(Array.from({ length: 8 }, worker));
    };
    const resident = (): number => residentBytes(bench.weir.process.pid) ?? 0;
    // Code is loaded and the heap finds its size, which may take a while: a leak per stream would repeat each time.
    await run(400);
    const growthOf400 = async (): Promise<number> => {
      const before = resident();
      await run(400);
      return resident() - before;
    };
    const growthMax = 48 * 1024 * 1024;
    const growth = await measureBest(growthOf400, (grown) => grown < growthMax);
    assert.ok(growth < growthMax, `${Math.round(growth / 1024 / 1024)} MB for 400 streams`);
  });

  test('afterwards nothing unexpected was printed', () => {
    assert.doesNotMatch(bench.weir.output(), /unhandled|uncaught|failed inside the gateway|TypeError|RangeError/i);
    assert.equal(bench.weir.process.exitCode, null);
  });
});
