import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';

import { openAiPage, openAiResult } from '../../src/billing/reconciliation/testing/reconciliation-kit.ts';
import { type ApiAnswer, type ConsoleClient, signInByLink, tokenClient } from '../admin/console-client.ts';
import { eventually, post } from '../support/http.ts';
import { skipPostgres } from '../support/start-postgres.ts';
import type { RunningWeir } from '../support/start-weir.ts';
import { startShared, useSharedParts } from './shared-weir.ts';

/** A machine that is busy with other suites needs several times as long. */
const patienceMs = 120_000;
/** An operation is answered within 30 s, whatever the database does; the rest is for a busy machine. */
const answerMsMax = 60_000;

/** A client whose token has the permissions of the test, and the token. */
async function makeClient({ consoleUrl, consoleLink }: RunningWeir): Promise<ConsoleClient & { readonly token: string }> {
  const operator = await signInByLink(consoleUrl, consoleLink);
  const permissions = ['limits:write', 'keys:read', 'calls:read', 'usage:read', 'audit:read', 'reconcile:run'];
  const made = await operator.send('POST', '/api/v1/admin_tokens', { name: `outage ${new URL(consoleUrl).port}`, permissions });
  assert.equal(made.status, 201, made.text);
  const token = String(made.body['secret']);
  return { ...tokenClient(consoleUrl, token), token };
}

describe('the console while its database or itself is killed', { skip: skipPostgres }, () => {
  const parts = useSharedParts();

  test('database away and back: problems with 503 meanwhile, then everything works, and each change was made once', async () => {
    const environment = { WEIR_LOG_LEVEL: 'silent', WEIR_CONSOLE_PORT: '0' };
    await using weir = await startShared(parts(), { command: 'console', database: { connectMs: 500, statementMs: 2000 }, environment });
    const client = await makeClient(weir);
    const { server } = parts();
    /** The users that were asked for, each with its key and the answers so far. */
    const asked: { readonly name: string; readonly key: string; readonly answers: ApiAnswer[] }[] = [];
    const reads: ApiAnswer[] = [];
    let isOver = false;
    const create = async (one: (typeof asked)[number]): Promise<void> => {
      const before = performance.now();
      one.answers.push(await client.send('POST', '/api/v1/users', { name: one.name }, { 'idempotency-key': one.key }));
      assert.ok(performance.now() - before < answerMsMax, 'no answer comes late');
    };
    const writing = (async () => {
      while (!isOver) {
        const one = { name: `away-${asked.length}`, key: randomUUID(), answers: [] };
        asked.push(one);
        await create(one);
        await delay(150);
      }
    })();
    const reading = (async () => {
      for (let turn = 0; !isOver; turn += 1) {
        reads.push(await client.send('GET', ['/api/v1/users', '/api/v1/calls', '/api/v1/overview', '/api/v1/keys'][turn % 4] ?? ''));
        await delay(150);
      }
    })();
    const statusOf = () => [asked.at(-2)?.answers.at(-1)?.status ?? 0, reads.at(-1)?.status ?? 0];
    for (const [kill, back] of [
      [() => server.signal('SIGKILL'), () => server.restart()],
      [() => server.signal('SIGSTOP'), async () => server.signal('SIGCONT')],
    ] as const) {
      await eventually(statusOf, (statuses) => statuses.join(' ') === '201 200', patienceMs);
      kill();
      await eventually(statusOf, (statuses) => statuses.join(' ') === '503 503', patienceMs);
      await back();
    }
    await eventually(statusOf, (statuses) => statuses.join(' ') === '201 200', patienceMs);
    isOver = true;
    await Promise.all([writing, reading]);
    const refused = [...asked.flatMap(({ answers }) => answers), ...reads].filter(({ status }) => status !== 200 && status !== 201);
    assert.ok(refused.length > 0);
    for (const { status, body, headers } of refused)
      assert.deepEqual(
        [status, body['code'], body['retryable'], headers.get('content-type')],
        [503, 'unavailable', true, 'application/problem+json; charset=utf-8'],
      );
    // A refusal leaves open whether the change was made. Its repetition says so, and changes nothing twice.
    for (const one of asked.filter(({ answers }) => answers.at(-1)?.status !== 201)) {
      const again = await client.send('POST', '/api/v1/users', { name: one.name }, { 'idempotency-key': one.key });
      assert.ok([201, 409].includes(again.status), again.text);
      if (again.status === 409) await client.send('POST', '/api/v1/users', { name: one.name });
    }
    const users = (await client.send('GET', '/api/v1/users')).body['items'] as readonly { name: string }[];
    const names = users.map(({ name }) => name).filter((name) => name.startsWith('away-'));
    assert.deepEqual(names.toSorted(), asked.map(({ name }) => name).toSorted(), 'every user exists, once');
    for (const { name } of asked) {
      const rows = (await client.send('GET', `/api/v1/audit?subject=user:${name}`)).body['items'] as readonly unknown[];
      assert.equal(rows.length, 1, `${name} has one row of the log`);
    }
    const verified = await client.send('POST', '/api/v1/audit/verifications');
    assert.deepEqual([verified.status, verified.body['broken_at']], [200, null], verified.text);
  });

  test('kill -9 in the middle of a reconciliation: another console ends it, and it is there once', async () => {
    const { server } = parts();
    const options = { command: 'console', environment: { WEIR_LOG_LEVEL: 'silent', WEIR_CONSOLE_PORT: '0' } } as const;
    await using gateway = await startShared(parts(), { command: 'gateway', environment: { WEIR_LOG_LEVEL: 'silent' } });
    const chat = { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Hello' }] };
    const served = await post(`${gateway.gatewayUrl}/v1/chat/completions`, chat, { authorization: `Bearer ${gateway.apiKey}` });
    assert.equal(served.status, 200, served.text);
    await using killed = await startShared(parts(), options);
    const first = await makeClient(killed);
    await eventually(
      async () => (await first.send('GET', '/api/v1/calls')).body['items'] as readonly unknown[],
      ({ length }) => length === 1,
      patienceMs,
    );
    const locker = new pg.Client(server.url());
    await locker.connect();
    await locker.query('begin');
    // The comparison stops at its first question to the ledger.
    await locker.query('lock table calls in access exclusive mode');
    const today = new Date().toISOString().slice(0, 10);
    const form = new FormData();
    form.append('vendor', 'openai');
    form.append('file', new Blob([JSON.stringify(openAiPage(today, [openAiResult()]))]), 'export.json');
    const headers = { authorization: `Bearer ${first.token}` };
    const begun = await fetch(`${killed.consoleUrl}/api/v1/reconciliations`, { method: 'POST', headers, body: form });
    assert.equal(begun.status, 202);
    const operation = `/api/v1/operations/${String(((await begun.json()) as { id: string }).id)}`;
    await eventually(
      async () => (await first.send('GET', operation)).body['state'],
      (state) => state === 'running',
      patienceMs,
    );
    await killed.stop('SIGKILL');
    await locker.query('rollback');
    await locker.end();
    await using again = await startShared(parts(), options);
    const second = await makeClient(again);
    const ended = await eventually(
      async () => (await second.send('GET', operation)).body,
      ({ state }) => state !== 'running' && state !== 'waiting',
      patienceMs,
    );
    assert.deepEqual([ended['state'], ended['attempts']], ['done', 2], JSON.stringify(ended));
    const list = (await second.send('GET', '/api/v1/reconciliations')).body['items'] as readonly Readonly<Record<string, unknown>>[];
    assert.deepEqual(
      list.map(({ state, compared }) => [state, compared]),
      [['differs', 1]],
    );
  });
});
