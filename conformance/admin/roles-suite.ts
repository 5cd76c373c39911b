import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';

import { type ServedConsole, serveConsole } from '../console/serve-console.ts';
import { eventually } from '../support/http.ts';
import { type ApiAnswer, type ConsoleClient, signInByLink, tokenClient } from './console-client.ts';
import { type Named, type OwnedRow, ownedRows, sharedOperations } from './owned-rows.ts';

type Described = { readonly id: string; readonly method: string; readonly path: string; readonly permission: string | undefined };
type Role = 'viewer' | 'owner' | 'finance' | 'operator';

const reading = ['usage:read', 'calls:read', 'credits:read', 'prices:read', 'keys:read'];
const looking = [...reading, 'upstreams:read', 'audit:read'];
const changing = ['keys:write', 'playground:use', 'limits:write', 'upstreams:write', 'config:read', 'config:write', 'people:write'];
const money = ['credits:write', 'reconcile:run', 'prices:stage'];
/** The table of roles, written a second time: with `readContent` and without `ownersMakeKeys`. */
const permissionsOf: Readonly<Record<Role, readonly string[]>> = {
  viewer: looking,
  owner: [...reading, 'content:read', 'playground:use'],
  finance: [...looking, ...money],
  operator: [...looking, ...changing, ...money, 'prices:publish', 'tokens:write', 'content:read'],
};

/** What a token for one user can have at most. */
const ofOneUser = permissionsOf.operator.filter((each) => !/^(?:people|tokens|audit|config):/.test(each));

/** Operations that would end what the others need, or that never end. */
const apart = new Set(['session.delete', 'session.set_password', 'admin_tokens.revoke_own', 'people.end_sessions', 'events.stream']);

/** Every operation of the OpenAPI document, for each role and for the owner of another user, on one engine. */
export function rolesSuite(store: 'sqlite' | 'postgres', skip: string | false): void {
  describe(`roles and operations on ${store}`, { skip }, () => {
    let weir: ServedConsole;
    let operator: ConsoleClient;
    let described: readonly Described[];
    const people: Record<string, ConsoleClient> = {};
    /** Tokens with all permissions, for one user each. */
    let own: ConsoleClient;
    let foreign: ConsoleClient;
    const mine: Record<string, string> = { user: 'mandant-ann' };
    const receiver = createServer((request, response) => void request.resume().on('end', () => response.writeHead(204).end()));

    /** Sends a request of the user to the gateway; the id of what it made. */
    async function make(path: string, body: object | FormData, headers = {}): Promise<string> {
      const isForm = body instanceof FormData;
      const response = await fetch(`${weir.gatewayUrl}/v1${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${mine['secret'] ?? ''}`,
          ...(isForm ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: isForm ? body : JSON.stringify(body),
      });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      mine['call'] = response.headers.get('x-weir-request-id') ?? '';
      return String((JSON.parse(text) as { id: string }).id);
    }
    const created = async (path: string, body: object): Promise<ApiAnswer['body']> => {
      const answer = await operator.send('POST', `/api/v1${path}`, body);
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    };
    const first = async (path: string): Promise<string> =>
      await eventually(
        async () => ((await operator.send('GET', `/api/v1${path}`)).body['items'] as { id: string }[])[0]?.id ?? '',
        (id) => id !== '',
        60_000,
      );

    async function makeObjects(): Promise<void> {
      const key = await created('/keys', { user: mine['user'], name: 'app' });
      Object.assign(mine, { key: String(key['id']), secret: String(key['secret']) });
      mine['capture'] = String((await created('/captures', { key_id: mine['key'], calls: 50, minutes: 10 }))['id']);
      mine['token'] = String((await created('/billing_tokens', { name: 'of-ann', user: mine['user'] }))['id']);
      mine['response'] = await make('/responses', { model: 'gpt-5-mini', input: 'hello', store: true });
      mine['conversation'] = await make('/conversations', { items: [{ type: 'message', role: 'user', content: 'hello' }] });
      const form = new FormData();
      form.append('purpose', 'assistants');
      form.append('file', new Blob(['hello']), 'a.txt');
      mine['file'] = await make('/files', form);
      mine['store'] = await make('/vector_stores', { name: 'papers' });
      const callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
      const film = { model: 'vendor-imagine-video', prompt: 'a film', duration: 1, callback_url };
      mine['video'] = await make('/video/generations', film, { 'x-simulator-video': 'ms=100' });
      await first('/videos?phase=completed');
      mine['callback'] = await first('/callbacks');
      await make('/chat/completions', { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hello' }] });
      await eventually(
        () => operator.send('GET', `/api/v1/calls/${mine['call'] ?? ''}/wires`),
        ({ status }) => status === 200,
        30_000,
      );
      await eventually(
        () => operator.send('GET', `/api/v1/calls/${mine['call'] ?? ''}/receipt`),
        ({ status }) => status === 200,
      );
    }

    async function signInPeople(): Promise<void> {
      for (const [name, role, users] of [
        ['viewer', 'viewer', undefined],
        ['owner', 'owner', ['mandant-ann']],
        ['stranger', 'owner', ['mandant-eve']],
        ['finance', 'finance', undefined],
      ] as const) {
        const person = await created('/people', { name, role, ...(users !== undefined && { users }) });
        const link = await operator.send('POST', `/api/v1/people/${String(person['id'])}/link`);
        people[name] = await signInByLink(weir.consoleUrl, String(link.body['url']));
      }
      people['operator'] = operator;
      const token = async (user: string): Promise<ConsoleClient> => {
        const made = await created('/admin_tokens', { name: user, permissions: ofOneUser, users: [user] });
        return tokenClient(weir.consoleUrl, String(made['secret']));
      };
      [own, foreign] = [await token('mandant-ann'), await token('mandant-eve')];
    }

    before(async () => {
      await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
      const config = 'console: { readContent: true, requestsPerMinute: 100000 }\ncallbacks: { privateAddresses: true }\n';
      weir = await serveConsole({ store, config });
      operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
      await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
      for (const name of ['mandant-ann', 'mandant-eve']) await created('/users', { name });
      await makeObjects();
      await signInPeople();
      const { paths } = (await (await fetch(`${weir.consoleUrl}/api/v1/openapi.json`)).json()) as {
        paths: Record<string, Record<string, { operationId: string; description?: string }>>;
      };
      described = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { operationId, description = '' }]) => ({
          id: operationId,
          method: method.toUpperCase(),
          path,
          permission: /the permission `([\w:]+)`/.exec(description)?.[1],
        })),
      );
    });
    after(async () => {
      receiver.closeAllConnections();
      receiver.close();
      await weir[Symbol.asyncDispose]();
    });

    const fill = (template: string, ids: Readonly<Record<string, string>>): string =>
      template.replaceAll(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole);
    const askAs = (client: ConsoleClient, { method, path, body }: OwnedRow & Named, ids: Readonly<Record<string, string>>, match = '*') =>
      client.send(method, `/api/v1${fill(path, ids)}`, body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body), ids)), {
        'if-match': match,
      });

    test('each role may run exactly the operations of its permissions, of all that the document has', async () => {
      assert.ok(described.length > 150);
      for (const { id, method, path, permission } of described) {
        if (apart.has(id)) continue;
        for (const name of ['viewer', 'owner', 'stranger', 'finance', 'operator'] as const) {
          const body = method === 'GET' || method === 'DELETE' ? undefined : {};
          const client = people[name] ?? assert.fail(name);
          const answer = await client.send(method, path.replaceAll(/\{\w+\}/g, 'x'), body, { 'if-match': '"1"' });
          const may = permission === undefined || permissionsOf[name === 'stranger' ? 'owner' : name].includes(permission);
          // Some operations refuse an owner by a code of their own, such as saved views of others.
          const refused = answer.body['code'] === 'permission_required' && answer.body['permission'] === permission;
          assert.equal(refused, !may, `${name} ${id}: ${answer.status} ${answer.text}`);
          assert.ok(answer.status < 500, `${name} ${id}: ${answer.text}`);
          if (refused) assert.equal(answer.status, 403);
        }
      }
    });

    test('every operation that names an object is either in the table of what a user owns, or about nobody', () => {
      const named = described.filter(({ path }) => path.includes('{')).map(({ id }) => id);
      const owned = new Set(ownedRows.map(({ id }) => id));
      assert.deepEqual(
        named.filter((id) => !owned.has(id) && !sharedOperations.has(id)),
        [],
        'add a row to ownedRows, or say in sharedOperations whose it is',
      );
      const known = new Set(described.map(({ id }) => id));
      assert.deepEqual(
        [...owned, ...sharedOperations.keys()].filter((id) => !known.has(id)),
        [],
      );
    });

    test('an object of another user is answered as one that does not exist, also for a wrong version, and nothing changes', async () => {
      const unknown = Object.fromEntries(Object.entries(mine).map(([name, id]) => [name, `${id.slice(0, -4)}zzzz`]));
      for (const row of ownedRows) {
        const { method } = described.find(({ id }) => id === row.id) ?? assert.fail(row.id);
        for (const [client, name] of [
          [foreign, 'token'],
          [people['stranger'] ?? assert.fail(), 'stranger'],
        ] as const) {
          for (const match of ['*', '"77777"']) {
            const answer = await askAs(client, { ...row, method }, mine, match);
            if (answer.body['code'] === 'permission_required') continue;
            const told = await askAs(client, { ...row, method }, unknown, match);
            const what = `${name} ${row.id} ${match}: ${answer.status} ${answer.text}`;
            if (row.hides === 'results') {
              assert.deepEqual(
                [answer.status, answer.text],
                [200, fill(told.text, {}).replaceAll(unknown['key'] ?? '', mine['key'] ?? '')],
                what,
              );
              continue;
            }
            assert.equal(answer.status, 404, what);
            assert.deepEqual([told.status, told.body['detail']], [404, answer.body['detail']], `${what} and ${told.text}`);
          }
        }
      }
    });

    test('no answer to a foreign caller has a name or an id of the user', async () => {
      const secrets = Object.entries(mine).filter(([name]) => name !== 'secret');
      const told: string[] = [];
      for (const { id, method, path } of described) {
        if (apart.has(id) || path.includes('{')) continue;
        for (const [name, client] of [
          ['token', foreign],
          ['stranger', people['stranger'] ?? assert.fail()],
        ] as const) {
          const answer = await client.send(method, path, method === 'GET' ? undefined : (foreignBodies[id] ?? {}));
          for (const [kind, value] of secrets) if (answer.text.includes(value)) told.push(`${id} tells the ${name} the ${kind}`);
        }
      }
      assert.deepEqual(told, []);
    });

    test('the owner of the objects and a token for this user get them by the same requests', async () => {
      for (const row of ownedRows) {
        const { method, permission } = described.find(({ id }) => id === row.id) ?? assert.fail(row.id);
        for (const [name, client] of [
          ['owner', people['owner'] ?? assert.fail()],
          ['token', own],
        ] as const) {
          const isPermitted = (name === 'token' ? ofOneUser : permissionsOf.owner).includes(permission ?? '');
          // What a token deletes is gone, so the owner asks first.
          const answer = await askAs(client, { ...row, method }, mine);
          const what = `${name} ${row.id}: ${answer.status} ${answer.text}`;
          if (isPermitted) assert.ok(row.also?.includes(answer.status) === true || answer.status < 300, what);
          else assert.equal(answer.status, 403, what);
        }
      }
    });
  });
}

const now = Date.now();
/** Bodies with which operations that name no object succeed. */
const foreignBodies: Readonly<Record<string, object>> = {
  'usage.query': {
    from: new Date(now - 86_400_000).toISOString(),
    to: new Date(now + 60_000).toISOString(),
    group_by: ['user', 'key'],
  },
};
