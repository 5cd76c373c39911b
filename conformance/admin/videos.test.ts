import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ApiAnswer, type ConsoleClient, signInByLink } from './console-client.ts';

type Item = Readonly<Record<string, unknown>> & { readonly id: string; readonly user: string };

describe('videos, callbacks and standing of the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  let owner: ConsoleClient;
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    request.resume().on('end', () => response.writeHead(204).end());
  });
  const videos: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  before(async () => {
    await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
    const config = 'console: { readContent: true, ownersMakeKeys: true }\ncallbacks: { privateAddresses: true }\n';
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, config });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    for (const user of ['vera', 'walt']) {
      const limits = { spend_per_day_usd: '100', requests_per_minute: 60 };
      const { secret } = (await operator.send('POST', '/api/v1/keys', { user, name: 'film', limits })).body;
      secrets[user] = String(secret);
      const callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?token=zebra`;
      const response = await fetch(`${weir.gatewayUrl}/v1/video/generations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${String(secret)}`, 'content-type': 'application/json', 'x-simulator-video': 'ms=200' },
        body: JSON.stringify({ model: 'vendor-imagine-video', prompt: 'a red zebra', duration: 1, callback_url }),
      });
      const { id } = (await response.json()) as { id: string };
      assert.equal(response.status, 200);
      videos[user] = id;
    }
    const person = await operator.send('POST', '/api/v1/people', { name: 'Vera', role: 'owner', users: ['vera'] });
    const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
    owner = await signInByLink(weir.consoleUrl, String(link.body['url']));
    await eventually(
      async () => (await operator.send('GET', '/api/v1/videos?phase=completed')).body['items'] as Item[],
      (items) => items.length === 2,
      60_000,
    );
  });
  after(async () => {
    receiver.closeAllConnections();
    receiver.close();
    await weir[Symbol.asyncDispose]();
  });
  const items = async (client: ConsoleClient, path: string): Promise<Item[]> => {
    const answer = await client.send('GET', `/api/v1${path}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body['items'] as Item[];
  };

  test('videos are listed newest first and by their facts, to those who may see them, without their prompts', async () => {
    const all = await operator.send('GET', '/api/v1/videos');
    assert.doesNotMatch(all.text, /zebra/);
    assert.deepEqual(
      (all.body['items'] as Item[]).map(({ id }) => id),
      [videos['walt'], videos['vera']],
    );
    const page = await operator.send('GET', '/api/v1/videos?limit=1');
    const next = await items(operator, `/videos?limit=1&cursor=${String(page.body['next_cursor'])}`);
    assert.deepEqual(
      next.map(({ id }) => id),
      [videos['vera']],
    );
    assert.deepEqual(
      (await items(owner, '/videos')).map(({ user }) => user),
      ['vera'],
    );
    assert.deepEqual(await items(owner, '/videos?user=walt'), []);
    for (const path of ['', '/content', '/receipt', '/events'])
      assert.equal((await owner.send('GET', `/api/v1/videos/${String(videos['walt'])}${path}`)).status, 404, path);
    assert.deepEqual(await items(operator, '/videos?phase=failed&phase=queued'), []);
    assert.equal((await items(operator, '/videos?alert=false&upstream=simulated-xai')).length, 2);
    const { charged } = (await items(operator, '/videos'))[0] as unknown as { charged: { nano_usd: string } };
    const receipt = await operator.send('GET', `/api/v1/videos/${String(videos['walt'])}/receipt`);
    assert.deepEqual([receipt.status, (receipt.body['total'] as { nano_usd: string }).nano_usd], [200, charged.nano_usd], receipt.text);
    const events = await operator.send('GET', `/api/v1/videos/${String(videos['walt'])}/events`);
    assert.match(events.text, /event: video\ndata: .*"phase":"completed"/);
  });

  test('the file of a video is served in parts, under a policy that allows nothing, and each reading is audited', async () => {
    const path = `/api/v1/videos/${String(videos['vera'])}/content`;
    const whole = await operator.send('GET', path);
    assert.equal(whole.status, 200, whole.text.slice(0, 200));
    assert.deepEqual(
      ['content-type', 'x-content-type-options', 'content-disposition', 'cross-origin-resource-policy'].map((name) =>
        whole.headers.get(name),
      ),
      ['video/mp4', 'nosniff', null, 'same-origin'],
    );
    assert.match(whole.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);
    const bytes = Number(whole.headers.get('content-length'));
    const part = await operator.send('GET', path, undefined, { range: 'bytes=4-7' });
    assert.deepEqual([part.status, part.text, part.headers.get('content-range')], [206, 'ftyp', `bytes 4-7/${bytes}`]);
    const beyond = await operator.send('GET', path, undefined, { range: `bytes=${bytes}-` });
    assert.deepEqual(
      [beyond.status, beyond.body['code'], beyond.headers.get('content-range')],
      [416, 'range_not_satisfiable', `bytes */${bytes}`],
    );
    const own = await owner.send('GET', path);
    assert.equal(own.status, 200);
    const read = await items(operator, '/audit?action=videos.read_content');
    assert.deepEqual(
      read.map(({ subject, actor }) => [subject, actor]),
      [
        [`video:${String(videos['vera'])}`, 'person:Vera'],
        ...Array.from({ length: 3 }, () => [`video:${String(videos['vera'])}`, 'person:operator']),
      ],
    );
  });

  test('callbacks are listed without their addresses, sent again, and get a new secret', async () => {
    const list = await eventually(
      async () => await operator.send('GET', '/api/v1/callbacks?state=delivered'),
      ({ body }) => (body['items'] as Item[]).length === 2,
    );
    assert.doesNotMatch(list.text, /zebra|hook/);
    const [own] = await items(owner, '/callbacks');
    assert.deepEqual([own?.user, own?.['subject'], own?.['last_status'], own?.['attempts']], ['vera', videos['vera'], 204, 1]);
    const foreign = (list.body['items'] as Item[]).find(({ user }) => user === 'walt');
    assert.equal((await owner.send('POST', `/api/v1/callbacks/${foreign?.id ?? ''}/redeliver`)).status, 404);
    const again = await owner.send('POST', `/api/v1/callbacks/${own?.id ?? ''}/redeliver`);
    assert.deepEqual([again.status, again.body['state'], again.body['attempts']], [200, 'waiting', 0], again.text);
    await eventually(
      async () => received.filter((id) => id === own?.id).length,
      (times) => times === 2,
    );
    const rotated = await operator.send('POST', '/api/v1/users/vera/callback_secret/rotate');
    assert.match(String(rotated.body['secret']), /^whsec_/, rotated.text);
    assert.equal((await owner.send('POST', '/api/v1/users/walt/callback_secret/rotate')).status, 404);
    const actions = (await items(operator, '/audit?limit=20')).map(({ action }) => action);
    assert.ok(actions.includes('callback_secrets.rotate') && actions.includes('callbacks.redeliver'), String(actions));
  });

  test('the standing of a key has what is spent and left of each limit, and when it is free', async () => {
    const [key] = await items(operator, '/keys?user=vera');
    const standing = await owner.send('GET', `/api/v1/standing?user=vera&key_id=${key?.id ?? ''}&model=gpt-5-mini`);
    assert.equal(standing.status, 200, standing.text);
    const [day] = standing.body['money'] as {
      level: string;
      of: string;
      spent: { nano_usd: string };
      left: { nano_usd: string };
      resets_at: string;
    }[];
    assert.deepEqual([day?.level, day?.of], ['key', 'day']);
    assert.ok(BigInt(day?.spent.nano_usd ?? '0') > 0n && BigInt(day?.left.nano_usd ?? '0') > 0n);
    assert.ok(Date.parse(day?.resets_at ?? '') > Date.now());
    const rate = (body: ApiAnswer['body']) => body['rates'] as { used: number | null; free_at: string | null }[];
    assert.deepEqual(
      rate(standing.body).map((each) => ({ ...each, used: 0, free_at: null })),
      [{ level: 'key', of: 'requests', limit: 60, used: 0, free_at: null }],
    );
    const call = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secrets['vera'] ?? ''}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(call.status, 200, await call.text());
    const { body: counted } = await owner.send('GET', `/api/v1/standing?user=vera&key_id=${key?.id ?? ''}`);
    assert.deepEqual(counted['gateways'], { answered: 1, silent: 0 });
    const [used] = rate(counted);
    assert.ok(used?.used === 1 || used?.used === 2, 'the video of the start counts for a minute');
    assert.ok(Date.parse(used.free_at ?? '') > Date.now());
    const unasked = await owner.send('GET', `/api/v1/standing?user=vera&key_id=${key?.id ?? ''}&wait_ms=0`);
    assert.deepEqual([unasked.body['gateways'], rate(unasked.body)[0]?.used], [{ answered: 0, silent: 0 }, null]);
    assert.deepEqual(standing.body['model'], { name: 'gpt-5-mini', refused_by: null });
    assert.equal((await owner.send('GET', '/api/v1/standing?user=walt')).status, 404);
    assert.equal((await operator.send('GET', `/api/v1/standing?user=walt&key_id=${key?.id ?? ''}`)).status, 404);
  });

  test('a video is deleted with its file, by an operator alone; its receipt stays', async () => {
    const id = String(videos['vera']);
    assert.equal((await owner.send('DELETE', `/api/v1/videos/${id}`)).status, 403);
    const seen = await operator.send('GET', `/api/v1/videos/${id}`);
    const { call_id } = seen.body;
    const remove = (etag?: string) =>
      operator.send('DELETE', `/api/v1/videos/${id}`, undefined, etag === undefined ? {} : { 'if-match': etag });
    assert.deepEqual([(await remove()).status, (await remove('"1"')).status], [428, 412]);
    assert.equal((await remove(seen.headers.get('etag') ?? '')).status, 204);
    assert.equal((await operator.send('GET', `/api/v1/videos/${id}/content`)).status, 404);
    assert.equal((await operator.send('GET', `/api/v1/calls/${String(call_id)}/receipt`)).status, 200);
    assert.deepEqual(
      (await items(operator, '/audit?action=videos.delete')).map(({ subject }) => subject),
      [`video:${id}`],
    );
  });
});
