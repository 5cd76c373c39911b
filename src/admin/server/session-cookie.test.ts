import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Type } from 'typebox';

import { operation } from '../define-operation.ts';
import { callAdmin } from '../testing/call-admin.ts';
import { createAdmin } from './create-admin.ts';
import { quietOptions } from '../testing/quiet-options.ts';

const signIn = operation({
  id: 'test.sign_in',
  method: 'POST',
  path: '/session',
  summary: 'Signs in',
  access: 'anybody',
  reply: Type.Object({}),
  handle: async (_input, _context: { services: object }) => ({ body: {}, session: { token: 'secret' } }),
});

async function signInAt(host: string, publicUrl?: string) {
  const app = await createAdmin({
    operations: [signIn],
    services: {},
    ...quietOptions,
    address: { host: '10.0.0.5', port: () => 8082, ...(publicUrl === undefined ? {} : { publicUrl: new URL(publicUrl) }) },
  });
  const answer = await callAdmin(app, 'POST', '/api/v1/session', { headers: { host, authorization: undefined } });
  await app.close();
  return answer;
}

test('over https the cookie has the prefix that binds it to this host, over http on this machine it has none', async () => {
  const { headers } = await signInAt('weir.example', 'https://weir.example');
  assert.equal(headers['set-cookie'], '__Host-weir_session=secret; Max-Age=604800; Path=/; HttpOnly; Secure; SameSite=Strict');
  for (const host of ['127.0.0.1:9000', 'localhost:8082', '[::1]:8082'])
    assert.equal((await signInAt(host)).headers['set-cookie'], 'weir_session=secret; Max-Age=604800; Path=/; HttpOnly; SameSite=Strict');
});

test('over http elsewhere nobody signs in', async () => {
  for (const [host, publicUrl] of [
    ['10.0.0.5:8082', undefined],
    ['weir.example', 'http://weir.example'],
  ] as const) {
    const { status, headers, json } = await signInAt(host, publicUrl);
    assert.deepEqual([status, headers['set-cookie'], (json as { code: string }).code], [403, undefined, 'tls_required']);
  }
});
