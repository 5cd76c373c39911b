import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import readXlsxFile from 'read-excel-file/node';

import { runCommand } from '../programs/run-command.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ApiAnswer, type ConsoleClient, signInByLink } from './console-client.ts';

type Item = { readonly id: string; readonly user: string; readonly model: string; readonly amount: { readonly nano_usd: string } };

describe('calls and usage of the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  let owner: ConsoleClient;
  const made: { id: string; user: string }[] = [];

  before(async () => {
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' } });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    const keys: Record<string, unknown> = {};
    for (const user of ['ann', 'bob']) keys[user] = (await operator.send('POST', '/api/v1/keys', { user, name: 'ci' })).body['secret'];
    const person = await operator.send('POST', '/api/v1/people', { name: 'Ann', role: 'owner', users: ['ann'] });
    const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
    owner = await signInByLink(weir.consoleUrl, String(link.body['url']));
    for (const [user, model] of [
      ['ann', 'claude-sonnet-4-5'],
      ['bob', 'claude-sonnet-4-5'],
      ['ann', 'claude-haiku-4-5'],
    ] as const) {
      const response = await fetch(`${weir.gatewayUrl}/v1/messages`, {
        method: 'POST',
        headers: {
          'x-api-key': String(keys[user]),
          'anthropic-version': '2023-06-01',
          'content-type': 'application/json',
          ...(user === 'bob' ? {} : { 'x-weir-tags': 'project=web' }),
        },
        body: JSON.stringify({ model, max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] }),
      });
      assert.equal(response.status, 200, await response.text());
      made.push({ id: response.headers.get('x-weir-request-id') ?? '', user });
    }
    // Calls are booked and get their facts within a second or so.
    for (let tries = 0; tries < 200; tries += 1) {
      if (((await operator.send('GET', '/api/v1/calls')).body['items'] as Item[]).length === made.length) return;
      await delay(50);
    }
    assert.fail('the calls were never listed');
  });
  after(() => weir[Symbol.asyncDispose]());

  test('calls are listed newest first, page by page, and filtered', async () => {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: ApiAnswer = await operator.send('GET', `/api/v1/calls?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      ids.push(...(page.body['items'] as Item[]).map(({ id }) => id));
      cursor = page.body['next_cursor'] as string | null;
    }
    assert.deepEqual(ids, made.map(({ id }) => id).toReversed());
    const filtered = await operator.send('GET', '/api/v1/calls?user=ann&model=claude-haiku-4-5&end=finished&amount_min_usd=0');
    assert.deepEqual(
      (filtered.body['items'] as Item[]).map(({ id }) => id),
      [made[2]?.id],
    );
    assert.equal((await operator.send('GET', '/api/v1/calls?amount_min_usd=x')).status, 400);
  });

  test('a user has what it spent and how fast, its keys and its last call, as its calls say', async () => {
    const { status, body, text } = await operator.send('GET', '/api/v1/users/ann');
    assert.equal(status, 200, text);
    const { items } = (await operator.send('GET', '/api/v1/calls?user=ann')).body as { items: (Item & { at: string })[] };
    const spent = items.reduce((sum, { amount }) => sum + BigInt(amount.nano_usd), 0n);
    assert.ok(spent > 0n);
    const { month, last_day, burn_per_day, keys, last_call_at } = body as unknown as {
      month: { amount: { nano_usd: string }; calls: number };
      last_day: { amount: { nano_usd: string }; calls: number };
      burn_per_day: { nano_usd: string };
      keys: { all: number; enabled: number };
      last_call_at: string;
    };
    for (const { amount, calls } of [month, last_day]) assert.deepEqual([amount.nano_usd, calls], [String(spent), items.length]);
    assert.equal(burn_per_day.nano_usd, String(spent / 7n));
    assert.deepEqual(keys, { all: 1, enabled: 1 });
    assert.equal(last_call_at, items[0]?.at);
    assert.ok(String(body['as_of']) > last_call_at, text);
    await operator.send('POST', '/api/v1/users', { name: 'quiet' });
    const quiet = (await operator.send('GET', '/api/v1/users/quiet')).body;
    assert.deepEqual([quiet['last_call_at'], quiet['keys']], [null, { all: 0, enabled: 0 }]);
  });

  test('postings of an account come page by page, each once, also of the same moment and while others are posted', async () => {
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    const post = async (reference: string): Promise<void> => {
      const body = { kind: 'grant', usd: '1', reference };
      assert.equal((await operator.send('POST', '/api/v1/users/bob/transactions', body)).status, 201);
    };
    await Promise.all(Array.from({ length: 5 }, (_, index) => post(`paged-${index}`)));
    const path = '/api/v1/users/bob/transactions';
    const all = ((await operator.send('GET', `${path}?limit=9999`)).body['items'] as { id: string }[]).map(({ id }) => id);
    assert.ok(all.length >= 5);
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await operator.send('GET', `${path}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      assert.equal(page.status, 200, page.text);
      ids.push(...(page.body['items'] as { id: string }[]).map(({ id }) => id));
      cursor = page.body['next_cursor'] as string | null;
      await post(`later-${ids.length}`);
    }
    assert.deepEqual(ids, all);
    const first = await operator.send('GET', `${path}?limit=2`);
    const foreign = await operator.send('GET', `/api/v1/users/ann/transactions?cursor=${String(first.body['next_cursor'])}`);
    assert.deepEqual([foreign.status, foreign.body['code']], [400, 'cursor_mismatch']);
  });

  test('a call has its receipt, by which it can be verified', async () => {
    const id = made[0]?.id ?? '';
    const { status, body, text } = await operator.send('GET', `/api/v1/calls/${id}`);
    assert.equal(status, 200, text);
    assert.match(String(body['as_of']), /^\d{4}-.*Z$/);
    const receipt = await operator.send('GET', `/api/v1/calls/${id}/receipt`);
    assert.deepEqual(body['receipt'], receipt.body);
    assert.equal((await operator.send('POST', `/api/v1/calls/${id}/receipt/verify`)).body['is_right'], true);
  });

  test('usage adds up to the calls, and series to the totals', async () => {
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const to = new Date(Date.now() + 3_600_000).toISOString();
    const answer = await operator.send('POST', '/api/v1/usage/query', { from, to, group_by: ['user', 'model'], granularity: 'hour' });
    assert.equal(answer.status, 200, answer.text);
    const { totals, series } = answer.body as unknown as {
      totals: { total: { calls: number; amount: { nano_usd: string } } };
      series: { names: string[]; total: { calls: number; amount: { nano_usd: string } } }[];
    };
    const calls = (await operator.send('GET', '/api/v1/calls')).body['items'] as Item[];
    const sum = (amounts: readonly string[]): bigint => amounts.reduce((total, amount) => total + BigInt(amount), 0n);
    assert.equal(totals.total.calls, made.length);
    assert.equal(BigInt(totals.total.amount.nano_usd), sum(calls.map(({ amount }) => amount.nano_usd)));
    assert.equal(sum(series.map(({ total }) => total.amount.nano_usd)), BigInt(totals.total.amount.nano_usd));
    const byKey = { from, to, group_by: ['key', 'model'], granularity: 'none' };
    const groups = (await operator.send('POST', '/api/v1/usage/query', byKey)).body['series'] as typeof series;
    assert.ok(groups[0] !== undefined);
    const { names: namesOfFirst, total: taken } = groups[0];
    const [user, key, model] = namesOfFirst;
    const pair = { key: [`${user}/${key}`], model: [model] };
    const callsOf = async (more: object): Promise<number> =>
      ((await operator.send('POST', '/api/v1/usage/query', { ...byKey, ...more })).body['totals'] as typeof totals).total.calls;
    assert.equal(await callsOf({ filters: pair }), taken.calls);
    assert.equal(await callsOf({ exclude_groups: [pair] }), made.length - taken.calls, 'without the calls of this key for this model');
    const nameless = await operator.send('POST', '/api/v1/usage/query', { from, to, filters: { key: ['admin'] } });
    assert.match(`${nameless.status} ${String(nameless.body['detail'])}`, /^400 .*must name a user and its key/);
    const zone = await operator.send('POST', '/api/v1/usage/query', { from, to, time_zone: 'Mars/Olympus' });
    assert.deepEqual([zone.status, zone.body['code']], [400, 'invalid_request']);
  });

  test('usage by tag has a group for calls without it, its export has the same rows, and calls are found and counted by tag', async () => {
    const span = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date(Date.now() + 3_600_000).toISOString() };
    const question = { ...span, group_by: ['tag:project'], granularity: 'none' };
    const { body, status, text } = await operator.send('POST', '/api/v1/usage/query', question);
    assert.equal(status, 200, text);
    const series = body['series'] as { names: string[]; total: { calls: number; amount: { nano_usd: string } } }[];
    assert.deepEqual(
      series.map(({ names: [name], total }) => [name, total.calls]).toSorted(([, one], [, other]) => Number(one) - Number(other)),
      [
        ['', 1],
        ['web', 2],
      ],
    );
    const exported = await operator.send('POST', '/api/v1/usage/export', { question, format: 'jsonl' });
    const rows = exported.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      rows.filter(({ group }) => group === 'series').map((row) => [row['tag:project'], row['calls'], row['amount_nano_usd']]),
      series.map(({ names: [name], total }) => [name, total.calls, total.amount.nano_usd]),
    );
    const csv = await operator.send('POST', '/api/v1/usage/export', { question, format: 'csv' });
    assert.equal(csv.text.trim().split('\r\n').length, rows.length + 1);
    for (const [method, path, sheet, lines] of [
      ['POST', '/api/v1/usage/export', 'Usage', rows.length],
      ['GET', '/api/v1/calls/export?format=xlsx&tag=project%3Dweb', 'Calls', 2],
    ] as const) {
      const response = await fetch(`${weir.consoleUrl}${path}`, {
        method,
        headers: { cookie: operator.cookie(), 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
        ...(method === 'POST' && { body: JSON.stringify({ question, format: 'xlsx' }) }),
      });
      assert.match(response.headers.get('content-disposition') ?? '', /attachment; filename="(?:usage|calls)\.xlsx"/);
      const [read, ...others] = await readXlsxFile(Buffer.from(await response.arrayBuffer()));
      assert.deepEqual([read?.sheet, read?.data.length, others.length], [sheet, lines + 1, 0]);
    }
    const { items: audited } = (await operator.send('GET', '/api/v1/audit?limit=2')).body as { items: { action: string; after: object }[] };
    assert.deepEqual(
      audited.map(({ action }) => action),
      ['calls.export', 'usage.export'],
    );
    assert.match(JSON.stringify(audited[0]), /project=web/);
    const { from, to } = span;
    const workbook = (who: ConsoleClient, more: string) =>
      who.send('GET', `/api/v1/usage/workbook?from=${from}&to=${to}&granularity=day${more}`);
    assert.equal((await workbook(owner, '&user=bob')).status, 404, 'a foreign user does not exist');
    assert.equal((await workbook(owner, '')).status, 200);
    const years = await operator.send('GET', '/api/v1/usage/workbook?from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z&granularity=minute');
    assert.match(
      `${years.status} ${String(years.body['detail'])}`,
      /^400 From and to are more than 7 days apart, the limit for granularity minute/,
    );
    const posted = await operator.send('POST', '/api/v1/calls/export', { format: 'jsonl', user: ['ann'], end: ['finished'] });
    const exportedIds = posted.text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { call_id: string }).call_id);
    assert.deepEqual(
      exportedIds,
      made
        .filter(({ user }) => user === 'ann')
        .map(({ id }) => id)
        .toReversed(),
    );
    assert.equal((await owner.send('POST', '/api/v1/calls/export', { format: 'csv', user: ['bob'] })).text.trim().split('\r\n').length, 1);
    const run = (...words: readonly string[]) => runCommand(['usage', '--from', '2h', ...words], { WEIR_DATA_DIR: weir.dataDirectory });
    const table = await run('--group-by', 'tag:project,user');
    assert.match(table.stdout, /^PROJECT +USER +CALLS +TOKENS IN +TOKENS OUT +USD\n/, table.stderr);
    assert.match(table.stdout, /^web +ann +2 /m);
    assert.match(table.stdout, /^\(none\) +bob +1 /m);
    assert.match(table.stdout, /^TOTAL +3 /m);
    const listed = await run('--group-by', 'key', '--tag', 'project=web', '--by', 'hour', '--json');
    const hours = JSON.parse(listed.stdout) as { group: string; key_user: string; calls: number }[];
    const own = hours.filter(({ group, key_user }) => group === 'series' && key_user === 'ann');
    assert.equal(
      own.reduce((sum, { calls }) => sum + calls, 0),
      2,
    );
    assert.match((await run('--team', '', '--csv')).stdout, /^start,group,calls,tokens_in/);
    const wrong = await run('--group-by', 'tag:Project');
    assert.deepEqual([wrong.code, /--group-by must be user, key, .* got "tag:Project"/.test(wrong.stderr)], [1, true], wrong.stderr);
    assert.match((await run('--tag', 'project')).stderr, /tag must be name=value/);
    const tagged = await operator.send('GET', `/api/v1/calls?tag=${encodeURIComponent('project=web')}`);
    assert.deepEqual(
      (tagged.body['items'] as (Item & { tags: object })[]).map(({ user, tags }) => [user, tags]),
      [
        ['ann', { project: 'web' }],
        ['ann', { project: 'web' }],
      ],
    );
    const counted = await operator.send('GET', `/api/v1/calls/histogram?from=${span.from}&to=${span.to}&tag=project%3D`);
    const items = counted.body['items'] as { ends: { finished: number } }[];
    assert.equal(
      items.reduce((sum, { ends }) => sum + ends.finished, 0),
      1,
      counted.text,
    );
    assert.equal((await operator.send('GET', '/api/v1/calls?tag=project')).status, 400);
    assert.equal((await operator.send('GET', `/api/v1/calls/histogram?from=${span.to}&to=${span.from}`)).status, 400);
  });

  test('an owner sees calls and usage of its own users alone', async () => {
    const calls = (await owner.send('GET', '/api/v1/calls')).body['items'] as Item[];
    assert.deepEqual(new Set(calls.map(({ user }) => user)), new Set(['ann']));
    assert.deepEqual(((await owner.send('GET', '/api/v1/calls?user=bob')).body['items'] as Item[]).length, 0);
    const foreign = made.find(({ user }) => user === 'bob')?.id ?? '';
    for (const path of [`/api/v1/calls/${foreign}`, `/api/v1/calls/${foreign}/receipt`])
      assert.equal((await owner.send('GET', path)).status, 404);
    const span = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date(Date.now() + 3_600_000).toISOString() };
    const usage = await owner.send('POST', '/api/v1/usage/query', { ...span, granularity: 'none' });
    assert.equal((usage.body['totals'] as { total: { calls: number } }).total.calls, 2);
    const csv = await owner.send('GET', '/api/v1/calls/export?format=csv');
    assert.equal(csv.text.trim().split('\r\n').length, 3, csv.text);
  });
});
