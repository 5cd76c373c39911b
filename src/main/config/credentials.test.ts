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
    splitCredentials(plain, ['one', 'two'], 1000).map((upstream) => upstream.client === client),
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
  for (const credentials of [['one', 'two'], []])
    for (const upstream of splitCredentials({ ...plain, vendor, origin: 'https://o' }, credentials, 1000)) {
      assert.equal(upstream.client.base, client, 'its connections are those of all');
      upstream.client.send(request, handler);
    }
  assert.deepEqual(
    sent.map(({ headers }) => headers['signature']),
    ['one https://o /v1/x', 'two https://o /v1/x', 'none https://o /v1/x'],
  );
});
