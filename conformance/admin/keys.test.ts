import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ApiAnswer, type ConsoleClient, signInByLink } from './console-client.ts';

const etag = ({ headers }: ApiAnswer): Record<string, string> => ({ 'if-match': headers.get('etag') ?? '' });
const code = ({ status, body }: ApiAnswer): string => `${status} ${String(body['code'])}`;

describe('keys and users of the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  before(async () => {
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, config: 'console: { ownersMakeKeys: true }\n' });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
  });
  after(() => weir[Symbol.asyncDispose]());

  /** Asks the gateway for its models with a key; returns the status. */
  const tryKey = async (secret: unknown): Promise<number> =>
    (await fetch(`${weir.gatewayUrl}/v1/models`, { headers: { authorization: `Bearer ${String(secret)}` } })).status;

  test('a key opens the gateway, is limited, disabled, rotated with overlap, and deleted', async () => {
    const made = await operator.send('POST', '/api/v1/keys', { user: 'bob', name: 'ci', limits: { requests_per_minute: 60 } });
    assert.equal(made.status, 201, made.text);
    const { id, secret, limits } = made.body as { id: string; secret: string; limits: { requests_per_minute: number } };
    assert.equal(limits.requests_per_minute, 60);
    assert.equal(await tryKey(secret), 200);

    const changed = await operator.send(
      'PATCH',
      `/api/v1/keys/${id}`,
      { strict_translation: true, limits: { requests_per_minute: null } },
      etag(made),
    );
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual([changed.body['strict_translation'], (changed.body['limits'] as typeof limits).requests_per_minute], [true, null]);
    const stale = await operator.send('PATCH', `/api/v1/keys/${id}`, { disabled: true }, etag(made));
    assert.equal(code(stale), '412 version_mismatch');
    const current = stale.body['current'] as Readonly<Record<string, unknown>>;
    assert.deepEqual([current['id'], current['strict_translation'], current['secret']], [id, true, undefined], 'it shows what has changed');
    assert.equal(stale.headers.get('etag'), changed.headers.get('etag'));

    const rotated = await operator.send('POST', `/api/v1/keys/${id}/rotate`, { overlap_s: 3600 });
    assert.equal(rotated.status, 200, rotated.text);
    assert.deepEqual([await tryKey(secret), await tryKey(rotated.body['secret'])], [200, 200]);

    const present = await operator.send('GET', `/api/v1/keys/${id}`);
    assert.equal(present.body['secret'], undefined);
    assert.equal((await operator.send('DELETE', `/api/v1/keys/${id}`, undefined, etag(present))).status, 204);
    assert.equal(code(await operator.send('GET', `/api/v1/keys/${id}`)), '404 not_found');
    const audit = await operator.send('GET', `/api/v1/audit?subject=key:${id}`);
    assert.deepEqual(
      (audit.body['items'] as { action: string }[]).map(({ action }) => action),
      ['keys.delete', 'keys.rotate', 'keys.update', 'keys.create'],
    );
    assert.ok(!audit.text.includes(secret), 'no secret is in the audit log');
  });

  test('keys are found by a part of a name and by a model that they may call, and users come in pages if a limit is given', async () => {
    for (const [index, models] of [['gpt-5*'], ['claude-*'], null, ['gpt-5-mini']].entries()) {
      const limits = models === null ? {} : { models };
      const made = await operator.send('POST', '/api/v1/keys', { user: `found-${index % 2}`, name: `Model ${index}`, limits });
      assert.equal(made.status, 201, made.text);
    }
    const names = async (query: string): Promise<readonly string[]> => {
      const found: string[] = [];
      for (let cursor = ''; ;) {
        const answer = await operator.send('GET', `/api/v1/keys?${query}${cursor}`);
        const { items, next_cursor } = answer.body as { items: { name: string }[]; next_cursor: string | null };
        found.push(...items.map(({ name }) => name));
        if (next_cursor === null) return found;
        cursor = `&cursor=${next_cursor}`;
      }
    };
    assert.deepEqual(await names('q=model%20&limit=1'), ['Model 3', 'Model 2', 'Model 1', 'Model 0']);
    assert.deepEqual(await names('q=FOUND-1&limit=3'), ['Model 3', 'Model 1']);
    assert.deepEqual(await names('q=model%20&model=gpt-5-mini&limit=1'), ['Model 3', 'Model 2', 'Model 0']);
    assert.deepEqual(await names('user=found-1&model=claude-haiku-4-5'), ['Model 1']);
    const user = await operator.send('GET', '/api/v1/users/found-1');
    const refused = await operator.send('PATCH', '/api/v1/users/found-1', { limits: { models: ['gpt-*'] } }, etag(user));
    assert.equal(refused.status, 200, refused.text);
    assert.deepEqual(await names('user=found-1&model=claude-haiku-4-5'), [], 'a list of the user counts too');

    const users = async (query: string) =>
      (await operator.send('GET', `/api/v1/users?${query}`)).body as { items: { name: string }[]; next_cursor: string };
    const first = await users('q=Found&limit=1');
    const second = await users(`q=Found&limit=1&cursor=${first.next_cursor}`);
    assert.deepEqual(
      [first.items, second.items].map(([each]) => each?.name),
      ['found-0', 'found-1'],
    );
    assert.equal(second.next_cursor, null);
    assert.equal(code(await operator.send('GET', `/api/v1/users?limit=1&cursor=${first.next_cursor}`)), '400 cursor_mismatch');
    const whole = await users('');
    assert.ok(whole.items.length > 2 && whole.next_cursor === null);
  });

  test('of two operators who change the same key at once, one succeeds', async () => {
    const made = await operator.send('POST', '/api/v1/keys', { user: 'bob', name: 'shared' });
    const path = `/api/v1/keys/${String(made.body['id'])}`;
    const both = await Promise.all([1, 2].map((days) => operator.send('PATCH', path, { response_retention_days: days }, etag(made))));
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((one, other) => one - other),
      [200, 412],
    );
    const [won, lost] = both[0]?.status === 200 ? both : both.toReversed();
    const { response_retention_days: days } = (lost?.body['current'] ?? {}) as { response_retention_days?: number };
    assert.equal(days, won?.body['response_retention_days'], 'the one that lost sees the value of the other');
  });

  test('a repeated POST makes one key, and shows the same secret again', async () => {
    const again = { 'idempotency-key': 'make-once' };
    const body = { user: 'bob', name: 'once' };
    const [first, second] = [
      await operator.send('POST', '/api/v1/keys', body, again),
      await operator.send('POST', '/api/v1/keys', body, again),
    ];
    assert.equal(first.status, 201, first.text);
    assert.deepEqual(second.body, first.body);
    assert.equal(second.headers.get('idempotent-replayed'), 'true');
    assert.equal(code(await operator.send('POST', '/api/v1/keys', { ...body, name: 'other' }, again)), '409 idempotency_conflict');
    assert.equal(code(await operator.send('POST', '/api/v1/keys', body)), '409 name_taken');
  });

  test('a POST that is sent ten times at once is done once, and another console on the database gives its answer too', async () => {
    const again = { 'idempotency-key': 'many-at-once' };
    const body = { user: 'bob', name: 'at-once' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => operator.send('POST', '/api/v1/keys', body, again)));
    const secrets = new Set(answers.filter(({ status }) => status === 201).map((answer) => answer.body['secret']));
    assert.equal(secrets.size, 1, answers.map(code).join());
    for (const answer of answers.filter(({ status }) => status !== 201))
      assert.deepEqual([code(answer), answer.body['retryable']], ['409 idempotency_in_progress', true]);
    await using other = await serveWeir({
      command: 'console',
      dataDirectory: weir.dataDirectory,
      environment: { WEIR_CONSOLE_PORT: '0' },
    });
    const cookie = operator.cookie();
    const elsewhere = await fetch(`${other.consoleUrl}/api/v1/keys`, {
      method: 'POST',
      headers: { ...again, cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.deepEqual([elsewhere.status, elsewhere.headers.get('idempotent-replayed')], [201, 'true']);
    assert.ok(secrets.has(((await elsewhere.json()) as { readonly secret: string }).secret));
  });

  test('pages of keys have no key twice and miss none, also while keys are made', async () => {
    for (let index = 0; index < 7; index += 1) await operator.send('POST', '/api/v1/keys', { user: 'pages', name: `k${index}` });
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: ApiAnswer = await operator.send(
        'GET',
        `/api/v1/keys?user=pages&limit=3${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...(page.body['items'] as { name: string }[]).map(({ name }) => name));
      cursor = page.body['next_cursor'] as string | null;
      await operator.send('POST', '/api/v1/keys', { user: 'pages', name: `new${seen.length}` });
    }
    assert.deepEqual(seen, ['k6', 'k5', 'k4', 'k3', 'k2', 'k1', 'k0']);
  });

  test('an owner sees and makes keys of its own users alone; others do not exist for it', async () => {
    await operator.send('POST', '/api/v1/users', { name: 'ann' });
    const foreign = await operator.send('POST', '/api/v1/keys', { user: 'bob', name: 'foreign' });
    const person = await operator.send('POST', '/api/v1/people', { name: 'Ann', role: 'owner', users: ['ann'] });
    const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
    const owner = await signInByLink(weir.consoleUrl, String(link.body['url']));
    assert.equal((await owner.send('POST', '/api/v1/keys', { user: 'ann', name: 'own' })).status, 201);
    const keys = (await owner.send('GET', '/api/v1/keys')).body['items'] as { user: string }[];
    assert.deepEqual(
      keys.map(({ user }) => user),
      ['ann'],
    );
    const users = (await owner.send('GET', '/api/v1/users')).body['items'] as { name: string }[];
    assert.deepEqual(
      users.map(({ name }) => name),
      ['ann'],
    );
    const path = `/api/v1/keys/${String(foreign.body['id'])}`;
    const refused = [
      await owner.send('GET', path),
      await owner.send('PATCH', path, { disabled: true }, { 'if-match': '*' }),
      await owner.send('DELETE', path, undefined, { 'if-match': '*' }),
      await owner.send('POST', `${path}/rotate`, { overlap_s: 0 }),
      await owner.send('POST', '/api/v1/keys', { user: 'bob', name: 'x' }),
      await owner.send('GET', '/api/v1/users/bob'),
      await owner.send('GET', '/api/v1/users/bob/transactions'),
      await owner.send('GET', '/api/v1/credits/balances?user=bob'),
      await owner.send('GET', '/api/v1/teams/Finance/transactions'),
      await owner.send('GET', '/api/v1/organization/transactions'),
    ];
    assert.deepEqual(new Set(refused.map(code)), new Set(['404 not_found']));
    const limited = await owner.send('POST', '/api/v1/keys', { user: 'ann', name: 'y', limits: { spend_total_usd: '5' } });
    assert.deepEqual([code(limited), limited.body['permission']], ['403 permission_required', 'limits:write']);
    const batch = await owner.send('POST', '/api/v1/keys/batch', { ids: [String(foreign.body['id'])], disabled: true });
    assert.deepEqual(batch.body['results'], [{ id: foreign.body['id'], outcome: 'not_found' }]);
  });

  test('wrong limits are named by their pointer', async () => {
    const wrong = await operator.send('POST', '/api/v1/users', { name: 'wrong', limits: { addresses: ['10.0.0.0/99'] } });
    assert.deepEqual((wrong.body['errors'] as { pointer: string }[])[0]?.pointer, '/limits/addresses');
    const user = await operator.send('POST', '/api/v1/users', { name: 'dora', prepaid: true });
    assert.equal(user.body['prepaid'], true);
    assert.equal(code(await operator.send('POST', '/api/v1/users', { name: 'dora' })), '409 name_taken');
    const changed = await operator.send('PATCH', '/api/v1/users/dora', { prepaid: false, limits: { concurrency: 2 } }, etag(user));
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual([changed.body['prepaid'], (changed.body['limits'] as { concurrency: number }).concurrency], [false, 2]);
  });

  test('a user moves to a team, whose limits hold; a team with users stays', async () => {
    const team = await operator.send('POST', '/api/v1/teams', { name: 'Search', limits: { requests_per_minute: 100 } });
    assert.equal(team.status, 201, team.text);
    const edit = { content: 'masked', prepaid: true, limits: { concurrency: 9 } };
    const edited = await operator.send('PATCH', '/api/v1/teams/Search', edit, etag(team));
    const { content, prepaid, limits } = edited.body as { content: string; prepaid: boolean; limits: Record<string, number> };
    assert.deepEqual([content, prepaid, limits['concurrency'], limits['requests_per_minute']], ['masked', true, 9, 100], edited.text);
    const rows = await operator.send('GET', '/api/v1/audit?subject=team:Search&action=teams.update');
    assert.equal((rows.body['items'] as unknown[]).length, 1, 'the whole change is one row');
    assert.equal(code(await operator.send('PATCH', '/api/v1/teams/Search', edit, etag(team))), '412 version_mismatch');
    const user = await operator.send('POST', '/api/v1/users', { name: 'tom' });
    assert.equal((await operator.send('PATCH', '/api/v1/users/tom', { team: 'Nobody' }, etag(user))).status, 400);
    const moved = await operator.send('PATCH', '/api/v1/users/tom', { team: 'Search', limits: { concurrency: 4 } }, etag(user));
    assert.deepEqual([moved.status, moved.body['team']], [200, 'Search'], moved.text);
    const used = await operator.send('DELETE', '/api/v1/teams/Search', undefined, etag(edited));
    assert.equal(code(used), '409 conflict');
    const organization = await operator.send('GET', '/api/v1/organization');
    const limited = await operator.send('PATCH', '/api/v1/organization', { limits: { concurrency: 500 } }, etag(organization));
    assert.equal((limited.body['limits'] as { concurrency: number }).concurrency, 500, limited.text);
    const key = await operator.send('POST', '/api/v1/keys', { user: 'tom', name: 'tagged', tags: { env: 'prod' } });
    assert.deepEqual(key.body['tags'], { env: 'prod' });
    const tags = await operator.send('PATCH', `/api/v1/keys/${String(key.body['id'])}`, { tags: { env: 'test' } }, etag(key));
    assert.deepEqual(tags.body['tags'], { env: 'test' });
    assert.equal(
      code(await operator.send('POST', '/api/v1/keys', { user: 'tom', name: 'bad', tags: { Env: 'x' } })),
      '400 invalid_request',
    );
  });

  test('a team and the organization have spend limits and a balance, to which payments are posted once', async () => {
    const team = await operator.send('POST', '/api/v1/teams', { name: 'Paying', prepaid: true, limits: { spend_per_day_usd: '20' } });
    assert.deepEqual([team.status, team.body['prepaid'], team.body['balance']], [201, true, { nano_usd: '0', usd: '0' }], team.text);
    const payment = { kind: 'top_up', usd: '100', reference: 'invoice-7' };
    const posted = await operator.send('POST', '/api/v1/teams/Paying/transactions', payment);
    assert.deepEqual([posted.status, posted.body['balance']], [201, { nano_usd: '100000000000', usd: '100' }], posted.text);
    assert.equal((await operator.send('POST', '/api/v1/teams/Paying/transactions', payment)).body['repeated'], true);
    const toAll = await operator.send('POST', '/api/v1/organization/transactions', { ...payment, kind: 'correct', usd: '-1' });
    assert.deepEqual([toAll.status, toAll.body['repeated']], [201, false], 'the same reference for another account');
    const history = await operator.send('GET', '/api/v1/teams/Paying/transactions');
    assert.deepEqual(
      (history.body['items'] as { kind: string; user: unknown }[]).map(({ kind, user }) => [kind, user]),
      [['top_up', null]],
    );
    const all = (await operator.send('GET', '/api/v1/credits/balances')).body['items'] as { level: string; team: string | null }[];
    assert.deepEqual(
      all.slice(0, 2).map(({ level, team: name }) => [level, name]),
      [
        ['organization', null],
        ['team', 'Paying'],
      ],
    );
    assert.equal(code(await operator.send('POST', '/api/v1/teams/Nobody/transactions', payment)), '404 not_found');
    const found = await operator.send('GET', '/api/v1/teams/Paying');
    const changed = await operator.send(
      'PATCH',
      '/api/v1/teams/Paying',
      { prepaid: false, limits: { spend_per_day_usd: null } },
      etag(found),
    );
    assert.deepEqual([changed.body['prepaid'], changed.body['balance']], [false, { nano_usd: '100000000000', usd: '100' }], changed.text);
    const audit = (await operator.send('GET', '/api/v1/audit?action=credits.top_up')).body['items'] as { subject: string }[];
    assert.equal(audit[0]?.subject, 'team:Paying');
    assert.equal((await operator.send('POST', '/api/v1/credits/verifications')).body['adds_up'], true);
  });

  test('a billing token reads the statistics until it is deleted', async () => {
    const made = await operator.send('POST', '/api/v1/billing_tokens', { name: 'finance', user: 'bob' });
    assert.equal(made.status, 201, made.text);
    const ask = async (secret: unknown): Promise<number> =>
      (
        await fetch(`${weir.monitorUrl}/bill/stats`, {
          method: 'POST',
          headers: { token: String(secret), 'content-type': 'application/json' },
          body: JSON.stringify({ type: 3, startTime: 0, endTime: 86_400 }),
        })
      ).status;
    assert.equal(await ask(made.body['secret']), 200);
    assert.equal((await operator.send('DELETE', `/api/v1/billing_tokens/${String(made.body['id'])}`)).status, 204);
    assert.equal(
      ((await operator.send('GET', '/api/v1/billing_tokens')).body['items'] as { name: string }[]).some(({ name }) => name === 'finance'),
      false,
    );
  });
});
