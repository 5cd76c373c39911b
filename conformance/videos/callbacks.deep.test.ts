import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';
import { request } from 'undici';
import { Webhook } from 'standardwebhooks';

import { type Received, startReceiver } from '../../src/tasks/callbacks/testing/callback-receiver.ts';
import { runCommand } from '../programs/run-command.ts';
import { eventually } from '../support/http.ts';
import { startVideosWorld, type VideosWorld, type WorldGateway } from './start-videos-world.ts';

/** A failed video has no file, which the simulator would have to generate. */
const failing = 'ms=100;end=failed';

const headersOf = ({ headers }: Received): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));

describe('callbacks of videos with the real program', () => {
  let world: VideosWorld;
  let weir: WorldGateway;
  before(async () => {
    world = await startVideosWorld({ callbacks: { privateAddresses: true } });
    weir = await world.start();
  });
  after(() => world[Symbol.asyncDispose]());

  const told = (received: readonly Received[], count: number, limitMs = 60_000) =>
    eventually(
      () => received.slice(0, count),
      ({ length }) => length === count,
      limitMs,
    );
  const eventsOf = async (subject: string, gateway = weir) => (await gateway.ask('GET', `/callbacks?subject=${subject}`)).json.data;
  const rotate = async (): Promise<string> => (await weir.ask('POST', '/callbacks/secret/rotate', { body: {} })).json.secret;

  test('every interface with callbacks reports the end of its video once, and both kinds of libraries verify it', async (context) => {
    const { url, received } = await startReceiver(context);
    const secret = await rotate();
    const headers = { 'x-simulator-video': 'ms=100' };
    const toFail = { 'x-simulator-video': failing };
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'sora-2', prompt: 'form', callback_url: url })) form.append(name, value);
    const own = { model: 'vendor-imagine-video', prompt: 'own form', duration: 1 };
    const wishes = [
      ['/video/generations', { ...own, callback_url: url }, headers],
      ['/video/generations', { ...own, webhook_url: url }, toFail],
      ['/videos', { model: 'sora-2', prompt: 'as JSON', callback_url: url }, toFail],
      ['/videos/generations', { model: 'vendor-imagine-video', prompt: 'as at xAI', callback_url: url }, toFail],
    ] as const;
    const expected = new Map<string, string>();
    for (const [path, body, more] of wishes) {
      const { status, json, text } = await weir.ask('POST', path, { body, headers: more });
      assert.equal(status, 200, text);
      assert.doesNotMatch(text, /hook\?token/);
      expected.set(json.id ?? json.request_id, more === headers ? 'video.completed' : 'video.failed');
    }
    const answer = await request(`${weir.gatewayUrl}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${weir.apiKey}`, ...toFail },
      body: form,
    });
    const created = (await answer.body.json()) as { id: string };
    assert.equal(answer.statusCode, 200);
    expected.set(created.id, 'video.failed');
    const all = await told(received, expected.size);
    const client = new OpenAI({ apiKey: 'none', webhookSecret: secret });
    for (const one of all) {
      const event = new Webhook(secret).verify(one.body, headersOf(one)) as {
        id: string;
        type: string;
        object: string;
        data: { id: string };
      };
      const unwrapped: { id: string; type: string } = await client.webhooks.unwrap(one.body, headersOf(one));
      assert.deepEqual([unwrapped.id, unwrapped.type], [event.id, event.type]);
      assert.deepEqual([event.object, event.type], ['event', expected.get(event.data.id)]);
      const { status } = (await weir.ask('GET', `/videos/${event.data.id}`)).json;
      assert.equal(`video.${status}`, event.type);
      assert.equal((await eventsOf(event.data.id)).length, 1);
      expected.delete(event.data.id);
    }
    assert.equal(expected.size, 0);
    const upstream = world.simulator.records().map((record) => JSON.stringify(record));
    assert.ok(!upstream.some((record) => record.includes('token=secret')), "no vendor learns a client's address");
  });

  test('a receiver that fails gets the same event with the same id again after five seconds; redirects are not a success', async (context) => {
    const secret = await rotate();
    const elsewhere = await startReceiver(context);
    let attempts = 0;
    const flaky = await startReceiver(context, (response) => {
      attempts += 1;
      if (attempts === 1) response.destroy();
      else response.writeHead(204).end();
    });
    const moved = await startReceiver(context, (response) => void response.writeHead(308, { location: elsewhere.url }).end());
    const gone = await startReceiver(context, (response) => void response.writeHead(410).end());
    const silent = await startReceiver(context, () => undefined);
    const ids = await Promise.all([flaky, moved, gone, silent].map(({ url }) => weir.make({ callback_url: url }, failing)));
    const [one, two] = await told(flaky.received, 2);
    assert.ok(one && two);
    // By the gateway's own clock, not by the time of reading.
    const sentAt = (attempt: Received): number => Number(attempt.headers['webhook-timestamp']);
    assert.ok(sentAt(two) - sentAt(one) >= 4, `${sentAt(one)} and ${sentAt(two)}`);
    assert.deepEqual([two.body, two.headers['webhook-id']], [one.body, one.headers['webhook-id']]);
    assert.notEqual(two.headers['webhook-timestamp'], one.headers['webhook-timestamp']);
    new Webhook(secret).verify(two.body, headersOf(two));
    const [fourth] = await eventsOf(ids[3] ?? '');
    assert.deepEqual([fourth.status, fourth.attempts], ['waiting', 0], 'a receiver that hangs delays no other');
    // The result of an attempt is recorded when its receiver has answered.
    const attempted = async (id = '', attempts = 1) => {
      const [event] = await eventually(
        () => eventsOf(id),
        ([only]) => only?.attempts >= attempts,
      );
      return event;
    };
    const second = await attempted(ids[1]);
    assert.deepEqual([second.status, second.last_status], ['waiting', 308]);
    const third = await attempted(ids[2]);
    assert.deepEqual([third.status, third.last_status, third.attempts], ['given_up', 410, 1]);
    const delivered = await attempted(ids[0], 2);
    assert.deepEqual([delivered.status, delivered.attempts, elsewhere.received.length, gone.received.length], ['delivered', 2, 0, 1]);
  });

  test('during a rotation both secrets verify; an event can be sent again over HTTP and by the command, only by its user', async (context) => {
    const { url, received } = await startReceiver(context);
    const before = await rotate();
    const after = await rotate();
    const id = await weir.make({ callback_url: url }, failing);
    const [one] = await told(received, 1);
    assert.ok(one);
    for (const secret of [before, after]) new Webhook(secret).verify(one.body, headersOf(one));
    assert.equal(String(one.headers['webhook-signature']).split(' ').length, 2);
    const [event] = await eventually(
      () => eventsOf(id),
      ([only]) => only?.status === 'delivered',
    );
    const run = (...words: string[]) => runCommand(words, { WEIR_DATA_DIR: world.dataDirectory });
    const key = (await run('keys', 'create', '--user', 'mallory', '--name', 'k')).stdout.trim();
    const foreign = await eventually(
      () => weir.ask('GET', `/callbacks?subject=${id}`, { key }),
      ({ status }) => status === 200,
    );
    assert.deepEqual(foreign.json.data, []);
    const refused = await weir.ask('POST', `/callbacks/${event.id}/redeliver`, { body: {}, key });
    const unknown = await weir.ask('POST', '/callbacks/msg_0/redeliver', { body: {}, key });
    assert.deepEqual([refused.status, refused.text.replace(event.id, 'msg_0')], [404, unknown.text]);
    assert.equal((await weir.ask('POST', `/callbacks/${event.id}/redeliver`, { body: {} })).status, 200);
    await told(received, 2);
    const users = JSON.parse((await run('users', 'list', '--json')).stdout) as readonly { name: string }[];
    const user = users.find(({ name }) => name !== 'mallory')?.name ?? '';
    const byOther = await run('callbacks', 'send-again', 'mallory', event.id);
    assert.match(byOther.stderr, /no event/);
    const again = await run('callbacks', 'send-again', user, event.id);
    assert.equal(again.code, 0, again.stderr);
    const three = await told(received, 3);
    assert.equal(new Set(three.map(({ headers, body }) => JSON.stringify([headers['webhook-id'], body]))).size, 1);
  });
});
