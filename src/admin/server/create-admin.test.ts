import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';

import type { Permission } from '../../accounts/people/permissions.ts';
import type { Principal } from '../../accounts/people/principal.ts';
import { createLogger } from '../../platform/log.ts';
import { systemClock } from '../../platform/clock.ts';
import type { AdminOptions, Credential } from '../admin-options.ts';
import { record, request } from '../contract/values.ts';
import { operation } from '../define-operation.ts';
import { AdminProblem } from '../problem.ts';
import { callAdmin } from '../testing/call-admin.ts';
import { adminLimitsDefault, createAdmin } from './create-admin.ts';
import { createAdminLater } from './create-admin-later.ts';

/** Things with a number, in memory. */
type Things = { value: number; version: number; runs: number };

const thing = record({ value: Type.Integer() });
const read = operation({
  id: 'things.read',
  method: 'GET',
  path: '/things/{name}',
  summary: 'One thing',
  access: 'usage:read',
  params: record({ name: Type.String({ maxLength: 10 }) }),
  query: record({
    deep: Type.Optional(Type.Boolean()),
    n: Type.Optional(Type.Integer({ maximum: 5 })),
    tag: Type.Optional(Type.Array(Type.String())),
  }),
  reply: thing,
  handle: async (_input, { services }: { services: Things }) => ({
    body: { value: services.value, secret: 'x' },
    version: services.version,
  }),
});
const change = operation({
  id: 'things.change',
  method: 'PATCH',
  path: '/things/{name}',
  summary: 'Changes one thing',
  access: 'limits:write',
  subject: ({ name }) => `thing:${name}`,
  params: record({ name: Type.String() }),
  body: request({ value: Type.Integer({ minimum: 0 }) }),
  reply: thing,
  handle: async ({ body }, { services }: { services: Things }) => {
    services.value = body.value;
    services.version += 1;
    return { body: { value: services.value }, version: services.version };
  },
});
const pay = operation({
  id: 'things.pay',
  method: 'POST',
  path: '/things/{name}/payments',
  summary: 'Pays',
  access: 'credits:write',
  keyRequired: true,
  recentSignIn: true,
  status: 201,
  params: record({ name: Type.String() }),
  body: request({ usd: Type.String() }),
  reply: thing,
  handle: async ({ body }, { services }: { services: Things }) => {
    if (body.usd === '-1') throw new AdminProblem('conflict', 'no');
    services.runs += 1;
    return { body: { value: services.runs }, location: `/things/x` };
  },
});
const broken = operation({
  id: 'things.broken',
  method: 'GET',
  path: '/broken',
  summary: 'Fails',
  access: 'signed-in',
  handle: async () => {
    throw new Error('secret detail');
  },
});

const principal = (permissions: readonly Permission[], session?: { signedInAtMs: number }): Principal => ({
  permissions: new Set(permissions),
  users: 'all',
  author: { actor: 'person:ann', via: 'api' },
  ...(session !== undefined && { sessionId: 'ses_1', ...session }),
});

const everything: readonly Permission[] = ['usage:read', 'limits:write', 'credits:write'];

/** The principal of a credential. */
function find({ kind, secret }: Credential): Principal | undefined {
  if (kind === 'session') return principal(everything, { signedInAtMs: secret === 'old' ? 0 : systemClock.nowMs() });
  if (secret === 'at-weir-reader') return principal(['usage:read']);
  if (secret === 'at-weir-changer') return principal(['limits:write']);
  return secret === 'at-weir-test' ? principal(everything) : undefined;
}

const answersOf = (create: (options: AdminOptions<Things>) => FastifyInstance | Promise<FastifyInstance>) => (): void => {
  const things: Things = { value: 1, version: 7, runs: 0 };
  let app: FastifyInstance;
  before(async () => {
    const kept = new Map<string, { digest: string; body: string }>();
    app = await create({
      operations: [read, change, pay, broken],
      services: things,
      authenticate: async (credential) => {
        const found = find(credential);
        return found === undefined ? undefined : { principal: found };
      },
      idempotency: {
        begin: async ({ keyId, name, digest }) => {
          const key = `${keyId} ${name}`;
          const stored = kept.get(key);
          let body = '';
          if (stored !== undefined)
            return {
              kept: {
                status: 201,
                headers: {},
                requestId: 'adm_1',
                body: async function* body() {
                  yield Buffer.from(stored.body);
                },
              },
            };
          return {
            claim: {
              add: (bytes) => {
                body += Buffer.from(bytes).toString();
                return true;
              },
              whenRoom: async () => {},
              keep: async () => void kept.set(key, { digest: Buffer.from(digest).toString('hex'), body }),
              spend: async () => {},
              release: async () => {},
            },
          };
        },
      },
      pages: { read: async () => undefined },
      versionOf: async () => things.version,
      address: { host: '10.0.0.5', port: () => 8082, publicUrl: new URL('https://weir.example') },
      health: async () => [],
      clock: systemClock,
      logger: createLogger({ level: 'silent', destination: { write: () => {} } }),
      limits: { ...adminLimitsDefault, bodyBytesMax: 200 },
    });
  });
  after(() => app.close());
  const call = (...parameters: Parameters<typeof callAdmin> extends [unknown, ...infer Rest] ? Rest : never) =>
    callAdmin(app, ...parameters);
  const code = ({ json, status }: Awaited<ReturnType<typeof call>>) => `${status} ${(json as { code: string }).code}`;

  test('an answer has no member that its schema does not declare, and the version as its ETag', async () => {
    const { status, json, headers } = await call('GET', '/api/v1/things/a?deep=true&n=5&tag=x&tag=y');
    assert.deepEqual([status, json, headers['etag']], [200, { value: 1 }, '"7"']);
    assert.equal(headers['cache-control'], 'no-store');
  });

  test('wrong parameters are named with what would be right', async () => {
    const answer = await call('GET', '/api/v1/things/a?n=6&other=1');
    assert.equal(code(answer), '400 invalid_request');
    const { errors } = answer.json as { errors: { parameter: string; detail: string }[] };
    assert.deepEqual(
      errors.map(({ parameter }) => parameter),
      ['n', 'other'],
    );
    assert.match(errors[0]?.detail ?? '', /query parameter n must be at most 5; got 6/);
  });

  test('a body is named by JSON Pointer; no JSON, another type and a long body are refused', async () => {
    const headers = { 'if-match': '*', 'content-type': 'application/json' };
    const wrong = await call('PATCH', '/api/v1/things/a', { headers, payload: '{"value":-1}' });
    assert.deepEqual((wrong.json as { errors: { pointer: string }[] }).errors[0]?.pointer, '/value');
    assert.equal(code(await call('PATCH', '/api/v1/things/a', { headers, payload: '{' })), '400 malformed_request');
    assert.equal(
      code(await call('PATCH', '/api/v1/things/a', { headers: { ...headers, 'content-type': 'text/plain' }, payload: 'x' })),
      '415 unsupported_type',
    );
    assert.equal(
      code(await call('PATCH', '/api/v1/things/a', { headers, payload: `{"value":1${' '.repeat(300)}}` })),
      '413 body_too_large',
    );
  });

  test('a member that is there twice is refused by its name, however deep and however it is written, and nothing is changed', async () => {
    const headers = { 'if-match': '*', 'content-type': 'application/json' };
    const before = things.value;
    for (const [payload, member] of [
      ['{"value":3,"value":4}', 'value'],
      [String.raw`{"value":3,"v\u0061lue":4}`, 'value'],
      ['{"value":3,"more":[{"a b":1,"a b":2}]}', 'a b'],
    ] as const) {
      const answer = await call('PATCH', '/api/v1/things/a', { headers, payload });
      assert.equal(code(answer), '400 malformed_request', payload);
      const { detail, errors } = answer.json as { detail: string; errors: { code: string }[] };
      assert.match(detail, new RegExp(`the member "${member}" twice.*line 1, column \\d+`));
      assert.equal(errors[0]?.code, 'duplicate_member');
    }
    assert.equal(things.value, before);
  });

  test('a change needs If-Match, and the version that it names', async () => {
    const payload = { value: 2 };
    assert.equal(code(await call('PATCH', '/api/v1/things/a', { payload })), '428 if_match_required');
    const stale = await call('PATCH', '/api/v1/things/a', { payload, headers: { 'if-match': '"6"' } });
    assert.deepEqual([code(stale), stale.headers['etag']], ['412 version_mismatch', '"7"']);
    assert.deepEqual((stale.json as { current: unknown }).current, { value: 1 }, 'the present state, without undeclared members');
    const blind = { authorization: 'Bearer at-weir-changer', 'if-match': '"6"' };
    const unseen = await call('PATCH', '/api/v1/things/a', { payload, headers: blind });
    assert.deepEqual([code(unseen), 'current' in (unseen.json as object)], ['412 version_mismatch', false]);
    const changed = await call('PATCH', '/api/v1/things/a', { payload, headers: { 'if-match': '"7"' } });
    assert.deepEqual([changed.status, changed.headers['etag']], [200, '"8"']);
  });

  test('a permission that the caller lacks is named, and a wrong or missing token is refused', async () => {
    const refused = await call('PATCH', '/api/v1/things/a', { headers: { authorization: 'Bearer at-weir-reader' }, payload: { value: 2 } });
    assert.deepEqual([code(refused), (refused.json as { permission: string }).permission], ['403 permission_required', 'limits:write']);
    assert.equal(code(await call('GET', '/api/v1/things/a', { headers: { authorization: 'Bearer no' } })), '401 unauthenticated');
    assert.equal(code(await call('GET', '/api/v1/things/a', { headers: { authorization: 'Basic x' } })), '401 unauthenticated');
  });

  test('moving money needs an Idempotency-Key, happens once for it, and needs a recent sign-in of a session', async () => {
    const url = '/api/v1/things/a/payments';
    const payload = { usd: '5' };
    assert.equal(code(await call('POST', url, { payload })), '428 idempotency_key_required');
    const headers = { 'idempotency-key': 'one' };
    const first = await call('POST', url, { payload, headers });
    const again = await call('POST', url, { payload, headers });
    assert.deepEqual([first.status, first.json, again.status, again.json], [201, { value: 1 }, 201, { value: 1 }]);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    const session = { authorization: undefined, cookie: 'weir_session=old', 'sec-fetch-site': 'same-origin', 'idempotency-key': 'two' };
    assert.equal(code(await call('POST', url, { payload, headers: session })), '403 recent_sign_in_required');
  });

  test('a cookie works only from our own pages', async () => {
    const url = '/api/v1/things/a';
    const cookie = { authorization: undefined, cookie: 'weir_session=new', 'if-match': '*' };
    const change = async (headers: Record<string, string>): Promise<string> => {
      const answer = await call('PATCH', url, { payload: { value: 3 }, headers: { ...cookie, ...headers } });
      return answer.status === 200 ? '200' : code(answer);
    };
    assert.equal(await change({}), '403 cross_origin');
    assert.equal(await change({ 'sec-fetch-site': 'cross-site' }), '403 cross_origin');
    assert.equal(await change({ 'sec-fetch-site': 'same-site' }), '403 cross_origin');
    assert.equal(await change({ origin: 'http://127.0.0.1:9999' }), '403 cross_origin');
    assert.equal(await change({ origin: 'http://127.0.0.1:8082' }), '200');
    assert.equal(await change({ 'sec-fetch-site': 'same-origin' }), '200');
    const both = await call('GET', url, { headers: { cookie: 'weir_session=new' } });
    assert.equal(code(both), '400 two_credentials');
  });

  test('a Host that is not ours is refused, and https gets its headers', async () => {
    const from = async (host: string) => await call('GET', '/api/v1/things/a', { headers: { host } });
    assert.equal(code(await from('evil.example')), '421 wrong_host');
    assert.equal(code(await from('10.0.0.5:9999')), '421 wrong_host');
    for (const host of ['localhost:1234', '[::1]:8082', '10.0.0.5:8082']) assert.equal((await from(host)).status, 200, host);
    const secure = await from('weir.example');
    assert.equal(secure.headers['strict-transport-security'], 'max-age=31536000');
    assert.equal((await call('GET', '/health', { headers: { host: '10.1.1.1' } })).status, 200);
  });

  test('no answer may be rendered with scripts, framed, or kept by a cache', async () => {
    for (const path of ['/api/v1/things/a', '/api/v1/nothing', '/api/v1/broken', '/problems/version_mismatch', '/health']) {
      const { headers } = await call('GET', path);
      const policy = String(headers['content-security-policy']);
      for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", 'sandbox'])
        assert.ok(policy.includes(part), `${path} lacks ${part}: ${policy}`);
      assert.deepEqual([headers['x-content-type-options'], headers['cache-control']], ['nosniff', 'no-store'], path);
    }
  });

  test('unknown paths, wrong methods and failures are problems without inner detail', async () => {
    assert.equal(code(await call('GET', '/api/v1/nothing')), '404 unknown_path');
    const method = await call('DELETE', '/api/v1/things/a');
    assert.deepEqual([code(method), method.headers['allow']], ['405 method_not_allowed', 'GET, PATCH']);
    const failed = await call('GET', '/api/v1/broken');
    assert.equal(code(failed), '500 internal_error');
    assert.doesNotMatch(JSON.stringify(failed.json), /secret detail/);
    assert.equal((await call('GET', '/problems/version_mismatch')).status, 200);
  });
};

describe('the admin server', answersOf(createAdmin));
describe('the admin server whose routes are made at its first request', answersOf(createAdminLater));
