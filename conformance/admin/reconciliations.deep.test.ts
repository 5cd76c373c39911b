import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { permissions } from '../../src/accounts/people/permissions.ts';
import { uploadBytesMax } from '../../src/admin/upload.ts';
import { openAiPage, openAiResult } from '../../src/billing/reconciliation/testing/reconciliation-kit.ts';
import { runCommand } from '../programs/run-command.ts';
import { eventually } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { type ConsoleClient, signInByLink } from './console-client.ts';

type Body = Readonly<Record<string, unknown>>;

describe('reconciliations of the admin API', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  let finance: ConsoleClient;
  let token: string;
  const folder = mkdtempSync(join(tmpdir(), 'weir-reconcile-'));
  const today = new Date().toISOString().slice(0, 10);
  const page = (results: readonly Body[]): string => JSON.stringify(openAiPage(today, results));
  const usage = page([openAiResult(), openAiResult({ project_id: 'p' }), openAiResult({ model: 'gpt-5' })]);

  before(async () => {
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' } });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    await operator.send('PUT', '/api/v1/session/password', { password: 'a long enough passphrase' });
    token = String(
      (
        await operator.send('POST', '/api/v1/admin_tokens', {
          name: 'books',
          permissions: [...permissions].filter((each) => each !== 'content:read'),
        })
      ).body['secret'],
    );
    const person = await operator.send('POST', '/api/v1/people', { name: 'Fin', role: 'finance' });
    const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
    finance = await signInByLink(weir.consoleUrl, String(link.body['url']));
    const { secret } = (await operator.send('POST', '/api/v1/keys', { user: 'reconciled-rita', name: 'app' })).body;
    for (let call = 0; call < 3; call += 1) {
      const response = await fetch(`${weir.gatewayUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${String(secret)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'hello' }] }),
      });
      assert.equal(response.status, 200, await response.text());
    }
    await eventually(
      async () => (await operator.send('GET', '/api/v1/calls')).body['items'] as unknown[],
      (calls) => calls.length === 3,
    );
  });
  after(async () => {
    await weir[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Uploads an export as a page of the console does. */
  async function upload(
    fields: Readonly<Record<string, string>>,
    content: string | Buffer,
    options: { cookie?: string; headers?: Record<string, string> } = {},
  ) {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob([Buffer.from(content)]), 'my/export.json');
    const response = await fetch(`${weir.consoleUrl}/api/v1/reconciliations`, {
      method: 'POST',
      headers: { cookie: options.cookie ?? finance.cookie(), 'sec-fetch-site': 'same-origin', 'x-weir-console': '1', ...options.headers },
      body: form,
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text) as Body, text };
  }
  const detailOf = ({ body }: { readonly body: Body }): string => String(body['detail']);
  /** Waits for a comparison; the reconciliation. */
  async function compared(begun: { readonly status: number; readonly body: Body; readonly text: string }): Promise<Body> {
    assert.equal(begun.status, 202, begun.text);
    const { reconciliation_id: id } = begun.body['input'] as { reconciliation_id: string };
    return await eventually(
      async () => (await finance.send('GET', `/api/v1/reconciliations/${id}`)).body,
      ({ state }) => state !== 'comparing',
    );
  }

  test('an export is compared with the ledger, and the result stays with a note and an acceptance', async () => {
    const begun = await upload({ vendor: 'openai', tolerance: '0.5', from: today }, usage);
    const found = await compared(begun);
    const { result, ...summary } = found as Body & { result: { cells: Body[] } };
    assert.deepEqual(
      [summary['state'], summary['kind'], summary['vendor'], summary['time_zone'], (summary['file'] as Body)['name']],
      ['differs', 'usage', 'openai', 'UTC', 'export.json'],
    );
    const cell = result.cells.find(({ model }) => model === 'gpt-5-mini-2025-08-07') as { usage: Body[] } | undefined;
    const output = cell?.usage.find((each) => each['class'] === 'output');
    // Two rows of the export, which differ in their project only.
    assert.deepEqual([output?.['theirs'], output?.['difference']], [14, 14 - Number(output?.['ours'])]);
    const requests = cell?.usage.find((each) => each['class'] === 'requests');
    assert.deepEqual([requests?.['theirs'], requests?.['ours']], [2, 3]);
    const path = `/api/v1/reconciliations/${String(summary['id'])}`;
    const calls = await finance.send('GET', `${path}/calls?model=gpt-5-mini-2025-08-07&day=${today}&limit=2`);
    const items = calls.body['items'] as Body[];
    assert.deepEqual(
      [items.length, items[0]?.['user'], (items[0]?.['usage'] as Body | undefined)?.['requests']],
      [2, 'reconciled-rita', 1],
      calls.text,
    );
    const next = await finance.send(
      'GET',
      `${path}/calls?model=gpt-5-mini-2025-08-07&day=${today}&limit=2&cursor=${String(calls.body['next_cursor'])}`,
    );
    assert.deepEqual([(next.body['items'] as Body[]).length, next.body['next_cursor']], [1, null], next.text);
    assert.equal((await finance.send('GET', `${path}/calls?model=none&day=${today}`)).status, 404);
    assert.equal((await finance.send('PATCH', path, { accepted: true })).status, 428);
    const accepted = await finance.send('PATCH', path, { accepted: true, note: 'the vendor lacks a call' }, { 'if-match': '*' });
    assert.deepEqual(
      [accepted.body['note'], (accepted.body['accepted'] as Body)['by']],
      ['the vendor lacks a call', 'person:Fin'],
      accepted.text,
    );
    const list = await finance.send('GET', '/api/v1/reconciliations?vendor=openai');
    assert.deepEqual(
      (list.body['items'] as Body[]).map(({ id }) => id),
      [summary['id']],
    );
    const actions = (await operator.send('GET', '/api/v1/audit?limit=20')).body['items'] as Body[];
    for (const action of ['reconciliations.run', 'reconciliations.update'])
      assert.ok(
        actions.some((row) => row['action'] === action),
        action,
      );
  });

  test('costs are compared at list price', async () => {
    const day = Date.parse(`${today}T00:00:00Z`) / 1000;
    const costs = {
      object: 'page',
      data: [
        {
          object: 'bucket',
          start_time: day,
          end_time: day + 86_400,
          results: [{ object: 'organization.costs.result', amount: { value: 1.5, currency: 'usd' }, line_item: null, project_id: null }],
        },
      ],
      has_more: false,
      next_page: null,
    };
    const found = await compared(await upload({ vendor: 'openai', prices: 'shipped' }, JSON.stringify(costs)));
    assert.deepEqual([found['kind'], found['state'], (found['theirs'] as Body)['usd'], found['compared']], ['costs', 'differs', '1.5', 1]);
    assert.ok(BigInt(String((found['ours'] as Body)['nano_usd'])) > 0n);
    const calls = await finance.send('GET', `/api/v1/reconciliations/${String(found['id'])}/calls?model=-&day=${today}`);
    assert.equal(calls.status, 409, calls.text);
  });

  test('weir reconcile prints the same here and with --remote', async () => {
    const file = join(folder, 'usage.json');
    writeFileSync(file, usage);
    writeFileSync(join(folder, 'cut.json'), usage.slice(0, -30));
    const run = async (words: readonly string[], isRemote: boolean) => {
      const { stdout, stderr, code } = await runCommand(['reconcile', ...words, ...(isRemote ? ['--remote', weir.consoleUrl] : [])], {
        WEIR_DATA_DIR: isRemote ? join(folder, 'none') : weir.dataDirectory,
        ...(isRemote && { WEIR_ADMIN_TOKEN: token }),
      });
      return { stdout, stderr, code };
    };
    for (const [words, code] of [
      [[file, '--vendor', 'openai'], 1],
      [[file, '--vendor', 'openai', '--json'], 1],
      [[file, '--vendor', 'openai', '--tolerance', '99.9', '--calls', `gpt-5-mini-2025-08-07:${today}`, '--json'], 1],
      [[file, '--vendor', 'openai', '--calls', `gpt-5-mini-2025-08-07:${today}`], 1],
      [[file, '--vendor', 'anthropic'], 2],
      [[join(folder, 'cut.json'), '--vendor', 'openai'], 2],
    ] as const) {
      const [local, remote] = [await run(words, false), await run(words, true)];
      assert.equal(local.code, code, local.stderr);
      assert.deepEqual([remote.stdout, remote.code], [local.stdout, local.code], `${words.join(' ')}: ${remote.stderr}`);
      assert.equal(remote.stderr.toLowerCase().replace(/\.\n$/, '\n'), local.stderr.toLowerCase());
    }
    const kept = async (words: readonly string[], isRemote: boolean) =>
      await runCommand(['reconciliations', ...words, ...(isRemote ? ['--remote', weir.consoleUrl] : [])], {
        WEIR_DATA_DIR: isRemote ? join(folder, 'none') : weir.dataDirectory,
        ...(isRemote && { WEIR_ADMIN_TOKEN: token }),
      });
    const newest = JSON.parse((await kept(['list', '--limit', '1', '--json'], true)).stdout) as [{ id: string; state: string }];
    const [{ id }] = newest;
    const compared = await run([file, '--vendor', 'openai'], false);
    for (const isRemote of [false, true]) {
      const shown = await kept(['show', id], isRemote);
      assert.deepEqual([shown.stdout, shown.code], [compared.stdout, 1], shown.stderr);
      const list = await kept(['list', '--vendor', 'openai'], isRemote);
      assert.match(list.stdout, new RegExp(`${id} .* openai .* differs +\\d+`));
      const calls = await kept(['show', id, '--calls', `gpt-5-mini-2025-08-07:${today}`], isRemote);
      assert.match(calls.stdout, /gpt-5-mini-2025-08-07 on .*: 3 calls/, calls.stderr);
      const noted = await kept(['update', id, '--note', 'a day of tests', '--accept'], isRemote);
      assert.match(noted.stderr, /: accepted by (?:token|cli):\S+, note: a day of tests\n$/);
      const again = await kept(['update', id, '--reopen', '--note', 'none'], isRemote);
      assert.match(again.stderr, /: not accepted, note: none\n$/);
      assert.match((await kept(['update', id], isRemote)).stderr, /nothing to change/);
      const missing = await kept(['show', 'rec_none'], isRemote);
      assert.deepEqual([missing.code, missing.stderr.includes('there is no reconciliation "rec_none"')], [1, true]);
    }
  });

  test('a file that is not an export is refused with its place', async () => {
    const sent = async (content: string | Buffer, vendor = 'openai') => {
      const refused = await upload({ vendor }, content);
      assert.equal(refused.status, 400, refused.text);
      assert.equal((refused.body['errors'] as { pointer: string }[])[0]?.pointer, '/file');
      return detailOf(refused);
    };
    assert.match(await sent(usage.slice(0, -30)), /ends in the middle, at line 1, column \d+/);
    assert.match(await sent('{"object": "page",\n "data": [}'), / at line 2, column 11/);
    assert.match(await sent(Buffer.from('504b0304140000000800', 'hex')), /ZIP archive or a workbook/);
    assert.match(await sent(Buffer.from([0x7b, 0x22, 0xff, 0xfe])), /not text in UTF-8/);
    assert.match(await sent(''), /The file/);
    assert.match(await sent(page([openAiResult({ output_tokens: -1 })])), /Page 0\.data\.0\.results\.0\.output_tokens is not a count/);
    assert.match(await sent('['.repeat(200_000)), /The file is not JSON: .* at line 1, column 65/);
    assert.match(await sent(`[${'{},'.repeat(4_000_000)}{}]`), /more than 4000000 values/);
    assert.match(await sent('a,b\n"never closed', 'anthropic'), /The (?:file|table)/i);
  });

  test('wrong fields, a missing file, another type and a form of another site are refused', async () => {
    const code = async (...parameters: Parameters<typeof upload>) => {
      const { status, body } = await upload(...parameters);
      return [status, body['code']];
    };
    assert.deepEqual(await code({ vendor: 'nobody' }, usage), [400, 'invalid_request']);
    assert.deepEqual(await code({ vendor: 'openai', tolerance: '-1' }, usage), [400, 'invalid_request']);
    assert.deepEqual(await code({ vendor: 'openai', prices: 'store-99' }, usage), [400, 'invalid_request']);
    assert.deepEqual(await code({ vendor: 'openai', other: '1' }, usage), [400, 'invalid_request']);
    assert.deepEqual(await code({ vendor: 'openai', from: '2020-01-01', to: '2020-01-02' }, usage), [400, 'invalid_request']);
    assert.deepEqual(await code({ vendor: 'openai' }, usage, { headers: { 'x-weir-console': '0' } }), [403, 'cross_origin']);
    assert.deepEqual(await code({ vendor: 'openai' }, usage, { headers: { 'sec-fetch-site': 'cross-site' } }), [403, 'cross_origin']);
    const json = await finance.send('POST', '/api/v1/reconciliations', { vendor: 'openai' });
    assert.deepEqual([json.status, json.body['code']], [415, 'unsupported_type']);
    const form = await fetch(`${weir.consoleUrl}/api/v1/saved_views`, {
      method: 'POST',
      headers: { cookie: finance.cookie(), 'sec-fetch-site': 'same-origin', 'idempotency-key': randomUUID() },
      body: new FormData(),
    });
    assert.equal(form.status, 415);
    const person = await operator.send('POST', '/api/v1/people', { name: 'Vic', role: 'viewer' });
    const link = await operator.send('POST', `/api/v1/people/${String(person.body['id'])}/link`);
    const viewer = await signInByLink(weir.consoleUrl, String(link.body['url']));
    assert.deepEqual(await code({ vendor: 'openai' }, usage, { cookie: viewer.cookie() }), [403, 'permission_required']);
  });

  test('the same Idempotency-Key begins one comparison', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const [first, again] = [await upload({ vendor: 'openai' }, usage, { headers }), await upload({ vendor: 'openai' }, usage, { headers })];
    assert.deepEqual([first.status, again.status, again.body['id']], [202, 202, first.body['id']]);
    const other = await upload({ vendor: 'openai', tolerance: '1' }, usage, { headers });
    assert.deepEqual([other.status, other.body['code']], [409, 'idempotency_conflict']);
  });

  test('64 MiB are read, one byte more is not; two at once fit; nothing stays on the disk', async () => {
    const filled = (bytes: number): Buffer => {
      const head = Buffer.from(`${usage.slice(0, -1)},"unread":"`);
      return Buffer.concat([head, Buffer.alloc(bytes - head.length - 2, 'x'), Buffer.from('"}')]);
    };
    const whole = filled(uploadBytesMax);
    const both = await Promise.all([upload({ vendor: 'openai' }, whole), upload({ vendor: 'openai' }, whole)]);
    for (const begun of both) assert.equal((await compared(begun))['state'], 'differs');
    const over = await upload({ vendor: 'openai' }, filled(uploadBytesMax + 1));
    assert.deepEqual([over.status, over.body['code']], [413, 'body_too_large'], over.text);
    assert.deepEqual(readdirSync(join(weir.dataDirectory, 'console-uploads')), []);
  });

  test('a client that leaves in the middle leaves nothing', async () => {
    const before = ((await finance.send('GET', '/api/v1/reconciliations')).body['items'] as Body[]).length;
    const { hostname, port } = new URL(weir.consoleUrl);
    const socket = connect(Number(port), hostname);
    const head = `--b\r\ncontent-disposition: form-data; name="vendor"\r\n\r\nopenai\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n`;
    const request =
      `POST /api/v1/reconciliations HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: multipart/form-data; boundary=b\r\ncontent-length: 9000000\r\n\r\n${head}${'x'.repeat(700_000)}`;
    await new Promise<void>((resolve) => void socket.write(request, () => resolve()));
    socket.destroy();
    assert.equal((await compared(await upload({ vendor: 'openai' }, usage)))['state'], 'differs');
    const items = (await finance.send('GET', '/api/v1/reconciliations')).body['items'] as Body[];
    assert.equal(items.length, before + 1);
    assert.deepEqual(readdirSync(join(weir.dataDirectory, 'console-uploads')), []);
  });
});
