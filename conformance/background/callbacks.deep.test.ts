import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { call, eventually, post } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import { type RunningWeir, type ServedWeir, startWeir } from '../support/start-weir.ts';
import { runCommand } from '../programs/run-command.ts';

type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

const config = (privateAddresses: boolean): string =>
  JSON.stringify({ overload: neverOverloaded, timeouts: { drainMs: 500 }, callbacks: { privateAddresses } });

async function startReceiver(context: TestContext) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/very-secret-path`, received };
}

/** Starts a Weir in a process of its own, which may be killed, on a data directory that outlives it. */
async function startTwice(
  privateAddresses: boolean,
  use: (start: () => Promise<RunningWeir>, dataDirectory: string) => Promise<void>,
): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-callbacks-'));
  const started: RunningWeir[] = [];
  try {
    await use(async () => {
      const weir = await startWeir({ dataDirectory, config: config(privateAddresses) });
      started.push(weir);
      return weir;
    }, dataDirectory);
  } finally {
    for (const weir of started) await weir.stop('SIGKILL');
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

/** Starts a Weir in this process. */
async function serveOnce(privateAddresses: boolean, use: (weir: ServedWeir) => Promise<void>): Promise<void> {
  await using weir = await serveWeir({ config: config(privateAddresses), monitor: false });
  await use(weir);
}

const keyOf = ({ apiKey }: ServedWeir) => ({ authorization: `Bearer ${apiKey}` });
const slow = '[[simulator output-tokens=2000 pace=tokensPerSecond=50;tokensPerFrame=1]] Hello';

async function begin(weir: ServedWeir, url: string, input = 'Hello', more: object = {}): Promise<string> {
  const body = { model: 'gpt-4.1', callback_url: url, background: true, input, ...more };
  const { status, json, text } = await post(`${weir.gatewayUrl}/v1/responses`, body, keyOf(weir));
  assert.equal(status, 200, text);
  assert.doesNotMatch(text, /callback_url|very-secret/);
  return json.id;
}

const first = (received: readonly Received[], limitMs = 60_000): Promise<Received | undefined> =>
  eventually(
    () => received[0],
    (one) => one !== undefined,
    limitMs,
  );

describe('callbacks of background responses', { concurrency: true }, () => {
  test('the end of a response is reported once, signed with the secret that the operator can see', (context) =>
    serveOnce(true, async (weir) => {
      const { dataDirectory } = weir;
      const { url, received } = await startReceiver(context);
      const id = await begin(weir, url);
      const one = await first(received);
      assert.ok(one);
      const users = await call(`${weir.gatewayUrl}/v1/callbacks`, { headers: keyOf(weir) });
      const [listed] = users.json.data;
      assert.deepEqual([listed.subject, listed.type, listed.id], [id, 'response.completed', one.headers['webhook-id']]);
      const rotated = await post(`${weir.gatewayUrl}/v1/callbacks/secret/rotate`, {}, keyOf(weir));
      assert.match(rotated.json.secret, /^whsec_/);
      const again = await post(`${weir.gatewayUrl}/v1/callbacks/${listed.id}/redeliver`, {}, keyOf(weir));
      assert.equal(again.status, 200, again.text);
      const two = await eventually(
        () => received[1],
        (second) => second !== undefined,
      );
      assert.ok(two);
      assert.equal(two.headers['webhook-id'], one.headers['webhook-id']);
      assert.equal(two.body, one.body);
      const event = new Webhook(rotated.json.secret).verify(two.body, { ...two.headers } as Record<string, string>) as Record<string, any>;
      assert.deepEqual([event['type'], event['data']], ['response.completed', { id }]);
      const unknown = await post(`${weir.gatewayUrl}/v1/callbacks/msg_unknown/redeliver`, {}, keyOf(weir));
      assert.deepEqual([unknown.status, unknown.json.error.code], [404, 'object_not_found']);
      for (const name of readdirSync(dataDirectory).filter((entry) => entry.startsWith('weir.sqlite')))
        assert.ok(!readFileSync(join(dataDirectory, name)).includes('very-secret-path'), name);
      await new Promise((resolve) => void setTimeout(resolve, 1500));
      assert.equal(received.length, 2);
    }));

  test('a cancelled response is reported as cancelled', (context) =>
    serveOnce(true, async (weir) => {
      const { url, received } = await startReceiver(context);
      const id = await begin(weir, url, slow);
      await post(`${weir.gatewayUrl}/v1/responses/${id}/cancel`, {}, keyOf(weir));
      const one = await first(received);
      assert.equal(JSON.parse(one?.body ?? '{}').type, 'response.cancelled');
    }));

  test('a response whose gateway is killed is reported as failed by the next gateway', (context) =>
    startTwice(true, async (start) => {
      const { url, received } = await startReceiver(context);
      const before = await start();
      const id = await begin(before, url, slow);
      await before.stop('SIGKILL');
      await start();
      const one = await first(received, 100_000);
      const event = JSON.parse(one?.body ?? '{}');
      assert.deepEqual([event.type, event.data], ['response.failed', { id }]);
      assert.equal(received.length, 1);
    }));

  test('an invalid receiver, and a callback without a background response, are refused before anything is begun', () =>
    serveOnce(false, async (weir) => {
      const wrong: readonly [body: object, words: RegExp][] = [
        [{ callback_url: 'https://hooks.example/' }, /'background': true/],
        [{ callback_url: 'https://hooks.example/', background: false }, /'background': true/],
        [{ callback_url: 'http://hooks.example/', background: true }, /https/],
        [{ callback_url: 'https://169.254.169.254/', background: true }, /public/],
        [{ callback_url: 7, background: true }, /string/],
      ];
      for (const [body, words] of wrong) {
        const { status, json } = await post(`${weir.gatewayUrl}/v1/responses`, { model: 'gpt-4.1', input: 'Hello', ...body }, keyOf(weir));
        assert.deepEqual([status, json.error.param, json.error.code], [400, 'callback_url', 'invalid_value']);
        assert.match(json.error.message, words);
      }
      const nothing = await post(`${weir.gatewayUrl}/v1/responses`, { callback_url: null, model: 'gpt-4.1', input: 'Hi' }, keyOf(weir));
      assert.equal(nothing.status, 200, nothing.text);
    }));

  test("the commands show a user's secret, rotate it and list events, and report unknown ids", () =>
    serveOnce(false, async ({ dataDirectory }) => {
      const run = (...words: string[]) => runCommand(['callbacks', ...words], { WEIR_DATA_DIR: dataDirectory });
      const listed = await runCommand(['users', 'list', '--json'], { WEIR_DATA_DIR: dataDirectory });
      const [{ name }] = JSON.parse(listed.stdout);
      const secret = await run('secret', name);
      assert.match(secret.stdout, /^whsec_\S{44}\n$/);
      assert.equal((await run('secret', name)).stdout, secret.stdout);
      assert.notEqual((await run('secret', name, '--rotate')).stdout, secret.stdout);
      assert.equal((await run('list', name, '--json')).stdout.trim(), '[]');
      assert.match((await run('send-again', name, 'msg_x')).stderr, /no event "msg_x"/);
      assert.match((await run('secret', 'nobody-at-all')).stderr, /no user/);
    }));
});
