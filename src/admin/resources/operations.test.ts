import assert from 'node:assert/strict';
import { test } from 'node:test';

import { roles } from '../../accounts/people/permissions.ts';
import {
  permissionsOf,
  permissionsOfBillingToken,
  permissionsOfKey,
  protectedPermissions,
  roleSettingsDefault,
} from '../../accounts/people/permissions-of.ts';
import { adminOpenApi } from '../open-api.ts';
import { assertMayRun } from '../run-operation.ts';
import { operations } from './registry.ts';

test('ids and routes are unique', () => {
  const ids = operations.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const routes = operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
  assert.equal(new Set(routes).size, routes.length);
});

test('each parameter of a path is in the schema of the operation', () => {
  for (const { id, path, schemas } of operations) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(Object.keys(schemas.params?.properties ?? {}), names, id);
  }
});

test('a change that needs a protected permission needs a recent sign-in', () => {
  for (const { id, access, method, recentSignIn } of operations) {
    if (access === 'anybody' || access === 'signed-in' || method === 'GET') continue;
    // Ending sessions is how one reacts to a theft: it must not wait for a password.
    if (protectedPermissions.has(access) && id !== 'people.end_sessions') assert.equal(recentSignIn, true, id);
  }
});

test('approving another machine needs a recent sign-in', () => {
  assert.equal(operations.find(({ id }) => id === 'device_sign_ins.approve')?.recentSignIn, true);
});

/** Answers with money that is not read from the books of the moment: the reason of each. */
const otherMoney = {
  'models.explain': 'a quote',
  'prices.quote': 'a quote',
  'price_drafts.quote': 'a quote',
  'reconciliations.list': 'compared at a moment that it names',
  'reconciliations.get': 'compared at a moment that it names',
  'reconciliations.update': 'compared at a moment that it names',
  'videos.list': 'a row that is written with the booking itself',
  'videos.get': 'a row that is written with the booking itself',
};

test('every answer with amounts of the books says how fresh it is', () => {
  const withoutFreshness = operations.filter(({ schemas: { reply } }) => {
    const members = reply !== undefined && 'properties' in reply ? Object.keys(Object(reply.properties)) : [];
    return JSON.stringify(reply ?? {}).includes('"nano_usd"') && !['as_of', 'pending_calls'].every((name) => members.includes(name));
  });
  assert.deepEqual(new Set(withoutFreshness.map(({ id }) => id)), new Set(Object.keys(otherMoney)));
});

test('every role may run exactly the operations of its permissions', () => {
  for (const role of roles) {
    const permissions = permissionsOf({ role }, roleSettingsDefault);
    const principal = { permissions, users: 'all', author: { actor: 'person:x', via: 'api' }, sessionId: 's', signedInAtMs: 0 } as const;
    for (const operation of operations) {
      const { access } = operation;
      const may = access === 'anybody' || access === 'signed-in' || permissions.has(access);
      const run = (): void => assertMayRun(operation, principal, 0);
      if (may) run();
      else assert.throws(run, { code: 'permission_required' }, `${role} ${operation.id}`);
    }
  }
});

test('keys and billing tokens may run exactly the operations of their permissions, and none that makes keys or people', () => {
  const callers = {
    key: permissionsOfKey({}, roleSettingsDefault),
    'key of a maker': permissionsOfKey({}, { ...roleSettingsDefault, ownersMakeKeys: true }),
    'limited key of a maker': permissionsOfKey({ limits: { spendTotal: '1' } }, { ...roleSettingsDefault, ownersMakeKeys: true }),
    token: permissionsOfBillingToken,
  };
  for (const [name, permissions] of Object.entries(callers)) {
    const principal = { permissions, users: ['ann'], author: { actor: 'key:x', via: 'api' }, sessionId: 's', signedInAtMs: 0 } as const;
    const mayRun = (operation: (typeof operations)[number]): boolean => {
      try {
        assertMayRun(operation, principal, 0);
        return true;
      } catch {
        return false;
      }
    };
    for (const operation of operations) {
      const { access } = operation;
      assert.equal(mayRun(operation), access === 'anybody' || access === 'signed-in' || permissions.has(access), `${name} ${operation.id}`);
    }
    const makes = (id: string): boolean => operations.some((operation) => operation.id === id && mayRun(operation));
    assert.equal(makes('keys.create'), name === 'key of a maker', name);
    for (const id of ['people.create', 'admin_tokens.create', 'billing_tokens.create', 'users.create'])
      assert.equal(makes(id), false, `${name} ${id}`);
  }
});

test('the OpenAPI document has every operation, with its refusals', () => {
  const { paths } = adminOpenApi(operations) as { paths: Record<string, Record<string, { operationId: string; responses: object }>> };
  const described = Object.values(paths).flatMap((methods) => Object.values(methods));
  assert.deepEqual(described.map(({ operationId }) => operationId).toSorted(), operations.map(({ id }) => id).toSorted());
  for (const { operationId, responses } of described) assert.ok('default' in responses, operationId);
});
