import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OidcError } from '../../accounts/people/oidc/oidc-error.ts';
import type { OidcSignIns } from '../../accounts/people/oidc/oidc-sign-ins.ts';
import { callAdmin } from '../testing/call-admin.ts';
import { adminLimitsDefault, createAdmin } from './create-admin.ts';
import { quietOptions } from '../testing/quiet-options.ts';

const asked: unknown[] = [];
const oidc: OidcSignIns = {
  begin: async (request) => {
    asked.push(request);
    return { url: 'https://provider.example/authorize', kept: 'kept' };
  },
  finish: async (back) => {
    asked.push(back);
    throw new OidcError('denied', 'no');
  },
};

async function open(host: string) {
  const app = await createAdmin({
    operations: [],
    services: {},
    ...quietOptions,
    oidc,
    address: { host, port: () => 8082, ...(host === '10.0.0.5' ? {} : { publicUrl: new URL('https://weir.example') }) },
    limits: { ...adminLimitsDefault, oidcRequestsPerMinute: 3 },
  });
  const get = (url: string, headers: Readonly<Record<string, string>>) =>
    callAdmin(app, 'GET', url, { headers: { authorization: undefined, ...headers } });
  return { app, get };
}

test('over https the cookie of a sign-in has the prefix that binds it to this host, and no script reads it', async () => {
  const { app, get } = await open('127.0.0.1');
  const begun = await get('/oidc/start', { host: 'weir.example' });
  assert.equal(begun.headers['set-cookie'], '__Host-weir_oidc=kept; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax');
  const back = await get('/oidc/callback?code=c&state=s', { host: 'weir.example', cookie: '__Host-weir_oidc=kept; weir_oidc=planted' });
  assert.deepEqual([back.status, (back.json as { code: string }).code], [401, 'unauthenticated']);
  assert.deepEqual(asked, [
    { redirectUrl: 'https://weir.example/oidc/callback' },
    { search: '?code=c&state=s', kept: 'kept', redirectUrl: 'https://weir.example/oidc/callback' },
  ]);
  await app.close();
});

test('over http elsewhere, and for another host, no sign-in begins', async () => {
  const { app, get } = await open('10.0.0.5');
  assert.equal((await get('/oidc/start', { host: '10.0.0.5:8082' })).status, 403);
  assert.equal((await get('/oidc/start', { host: 'evil.example' })).status, 421);
  await app.close();
});

test('a flood of sign-ins from one address is refused', async () => {
  const { app, get } = await open('127.0.0.1');
  const statuses = [];
  for (let index = 0; index < 4; index += 1) statuses.push((await get('/oidc/start', { host: 'weir.example' })).status);
  assert.deepEqual(statuses, [303, 303, 303, 429]);
  await app.close();
});
