import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { readExposition, sumSamples } from '../../src/platform/metrics/testing/read-exposition.ts';
import { runCommand } from '../programs/run-command.ts';
import { call, eventually, post, rawExchange } from '../support/http.ts';
import { openCall } from '../support/open-call.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import { openSocket } from '../websocket/open-socket.ts';
import { proxies, type ProxyName, type RunningProxy, skipProxy, startProxy } from './start-proxy.ts';

const folder = join(import.meta.dirname, '../../deploy/proxies');
const model = 'gpt-4.1';
const bodyOf = (content: string, stream: boolean): string => JSON.stringify({ model, stream, messages: [{ role: 'user', content }] });

describe('the files of deploy/proxies, with the real programs', () => {
  let simulated: SimulatedWeir;

  before(async () => {
    simulated = await startSimulatedGateway({
      config: { trustedProxies: ['127.0.0.1'] },
      weir: { environment: { WEIR_METRICS_PORT: '0' } },
    });
  });
  after(() => simulated[Symbol.asyncDispose]());

  for (const name of Object.keys(proxies) as readonly ProxyName[]) {
    describe(name, { skip: skipProxy(name) }, () => {
      let proxy: RunningProxy;
      const headers = () => ({ authorization: `Bearer ${simulated.weir.apiKey}` });

      before(async () => {
        proxy = await startProxy(name, simulated.weir.gatewayUrl);
      });
      after(() => proxy[Symbol.asyncDispose]());

      test('events arrive while the stream goes on, and a client that disconnects ends the call at the upstream', async () => {
        const left = async (): Promise<number> =>
          sumSamples(readExposition((await call(simulated.weir.metricsUrl)).text), 'weir_calls_total', { end: 'client-left' });
        const before = await left();
        // The upstream never ends this stream.
        const stalled = { ...headers(), 'x-simulator-fault': 'stall-mid-stream;after=3' };
        const stream = openCall(`${proxy.url}/v1/chat/completions`, { headers: stalled, body: bodyOf('hello', true) });
        await stream.until((text) => text.includes('data: '));
        assert.equal((await stream.head).headers['content-type'], 'text/event-stream; charset=utf-8');
        stream.leave('fin');
        await eventually(left, (count) => count === before + 1);
      });

      test('a client that disconnects before the reply begins ends the call too', async () => {
        const inFlight = async (): Promise<number> =>
          sumSamples(readExposition((await call(simulated.weir.metricsUrl)).text), 'weir_calls_in_flight');
        const stalled = { ...headers(), 'x-simulator-fault': 'stall-before-headers' };
        const waiting = openCall(`${proxy.url}/v1/chat/completions`, { headers: stalled, body: bodyOf('hello', false) });
        await eventually(inFlight, (count) => count === 1);
        waiting.leave('fin');
        await eventually(inFlight, (count) => count === 0);
      });

      test('a request of 8 MB passes, and one of 80 MB is refused', async () => {
        const whole = await call(`${proxy.url}/v1/chat/completions`, {
          headers: { 'content-type': 'application/json', ...headers() },
          body: bodyOf('a'.repeat(8e6), false),
        });
        assert.equal(whole.status, 200);
        if (name === 'caddy') {
          // It counts what comes, and the gateway refuses by the announced length.
          const large = { headers: { 'content-type': 'application/json', ...headers() }, body: bodyOf('a'.repeat(8e7), false) };
          assert.equal((await call(`${proxy.url}/v1/chat/completions`, large)).status, 413);
          return;
        }
        // Only the head is sent: the proxy refuses by the announced length.
        const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: models.example\r\ncontent-length: 80000000\r\n\r\n`;
        assert.match(await rawExchange(proxy.url, head, { until: (text) => text.includes('\r\n\r\n') }), /^HTTP\/1\.1 413 /);
      });

      test('a WebSocket works', async () => {
        const socket = await openSocket(proxy.url, simulated.weir.apiKey);
        socket.create({ model, input: 'Hello' });
        assert.equal((await socket.rest()).at(-1)?.type, 'response.completed');
        await socket.close();
      });

      test('the gateway learns the address of the client, not the one that the client claims', async () => {
        const address = `127.0.0.${10 + Object.keys(proxies).indexOf(name)}`;
        const sent = request(`${proxy.url}/v1/models`, {
          localAddress: address,
          headers: { authorization: 'Bearer sk-weir-of-nobody', 'x-forwarded-for': '203.0.113.7' },
        });
        const status = await new Promise((resolve, reject) => {
          sent.on('response', (reply) => {
            reply.resume();
            resolve(reply.statusCode);
          });
          sent.on('error', reject).end();
        });
        assert.equal(status, 401);
        const list = async (): Promise<string> =>
          (await runCommand(['refusals', '--json', '--code', 'invalid_api_key'], { WEIR_DATA_DIR: simulated.weir.dataDirectory })).stdout;
        const shown = await eventually(list, (text) => text.includes(address));
        assert.doesNotMatch(shown, /203\.0\.113\.7/);
      });

      test('many calls share few connections, and none fails', async () => {
        const calls = Array.from({ length: 60 }, () =>
          post(`${proxy.url}/v1/chat/completions`, JSON.parse(bodyOf('hi', false)), headers()),
        );
        assert.deepEqual([...new Set((await Promise.all(calls)).map(({ status }) => status))], [200]);
      });
    });
  }

  test('a reply may be silent for longer than timeouts.firstByteMs', () => {
    // Waiting for it would take ten minutes.
    const read = (name: ProxyName): string => readFileSync(join(folder, proxies[name].file), 'utf8');
    const seconds = [
      ...[...read('nginx').matchAll(/proxy_read_timeout (\d+)s/g)].map(([, value]) => Number(value)),
      ...[...read('haproxy').matchAll(/timeout (?:client|server) (\d+)s/g)].map(([, value]) => Number(value)),
    ];
    assert.equal(seconds.length, 5);
    assert.ok(seconds.every((value) => value > 600));
  });
});
