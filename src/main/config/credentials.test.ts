import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createFakeUpstream } from '../../gateway/attempts/exchange/testing/fake-exchange.ts';
import type { UpstreamClient, UpstreamRequest } from '../../platform/http/upstream-client.ts';
import { splitCredentials } from './credentials.ts';

const request: UpstreamRequest = { path: '/v1/x', method: 'GET', headers: {}, body: undefined };

test('each credential of a vendor that authorizes requests signs its own; others share the client as it is', () => {
  const sent: UpstreamRequest[] = [];
  const client: UpstreamClient = { send: (one) => void sent.push(one), close: () => Promise.resolve() };
  const plain = createFakeUpstream({}, client);
  assert.deepEqual(
    splitCredentials(plain, [{ apiKey: 'one' }, { apiKey: 'two' }], 1000).map((upstream) => upstream.client === client),
    [true, true],
  );
  const vendor = {
    ...plain.vendor,
    authorize: (one: UpstreamRequest, { apiKey, origin }: { readonly apiKey: string | undefined; readonly origin: string }) => ({
      ...one,
      headers: { signature: `${apiKey ?? 'none'} ${origin} ${one.path}` },
    }),
  };
  const handler = {
    onRequestStart: () => {},
    onResponseStart: () => {},
    onResponseData: () => {},
    onResponseEnd: () => {},
    onResponseError: () => {},
  };
  for (const keys of [[{ apiKey: 'one' }, { apiKey: 'two' }], []])
    for (const upstream of splitCredentials({ ...plain, vendor, origin: 'https://o' }, keys, 1000)) {
      assert.equal(upstream.client.base, client, 'its connections are those of all');
      upstream.client.send(request, handler);
    }
  assert.deepEqual(
    sent.map(({ headers }) => headers['signature']),
    ['one https://o /v1/x', 'two https://o /v1/x', 'none https://o /v1/x'],
  );
});

test('a key that is a secret is replaced in the headers when it has changed, and again when the vendor refuses it', async () => {
  const statuses = [200, 401, 200, 401];
  const sent: string[] = [];
  const client: UpstreamClient = {
    send: (one, to) => {
      sent.push(one.headers['authorization'] ?? '');
      const controller = { abort: () => {}, pause: () => {}, resume: () => {} };
      to.onResponseStart(controller, statuses.shift() ?? 200, {});
      to.onResponseEnd(controller);
    },
    close: () => Promise.resolve(),
  };
  let secret = 'key-1';
  const refused: string[] = [];
  const source = {
    current: () => secret,
    refused: (one: string) => {
      refused.push(one);
      if (one === 'key-1') secret = 'key-2';
    },
    describe: () => ({}),
    close: () => Promise.resolve(),
  };
  const [upstream] = splitCredentials(createFakeUpstream({}, client), [{ apiKey: 'key-1', source }], 1000);
  const ask = async (): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<number>();
    upstream.client.send(
      { ...request, headers: { authorization: 'Bearer key-1', 'content-type': 'application/json' } },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, status) => resolve(status),
        onResponseData: () => {},
        onResponseEnd: () => {},
        onResponseError: () => resolve(0),
      },
    );
    return await promise;
  };
  assert.equal(await ask(), 200);
  assert.equal(await ask(), 200, 'the refusal is not seen');
  assert.equal(await ask(), 401, 'there is no other key');
  assert.deepEqual(sent, ['Bearer key-1', 'Bearer key-1', 'Bearer key-2', 'Bearer key-2']);
  assert.deepEqual(refused, ['key-1', 'key-2']);
});
