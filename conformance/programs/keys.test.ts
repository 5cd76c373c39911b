import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { eventually, post } from '../support/http.ts';
import { openLedger } from '../support/read-ledger.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { openCall } from '../support/open-call.ts';
import { type SimulatedWeir, startSimulatedWeir } from '../support/start-simulated-weir.ts';
import { startWeir } from '../support/start-weir.ts';
import { runCommand } from './run-command.ts';
import { runToEnd } from './run-weir.ts';

const root = join(import.meta.dirname, '../..');
const effectWithinMs = 20_000;

/** Commands that make, list, disable, enable and delete keys while the gateway runs. */
describe('weir keys beside a running gateway', () => {
  let simulated: SimulatedWeir;
  before(async () => {
    simulated = await startSimulatedWeir();
  });
  after(() => simulated[Symbol.asyncDispose]());

  const environment = () => ({ WEIR_DATA_DIR: simulated.weir.dataDirectory });
  const keys = (...command: string[]) => runCommand(['keys', ...command], environment());
  const chat = chatInterfaces.find(({ dialect }) => dialect === 'openai-chat');
  assert.ok(chat);
  const ask = (key: string) =>
    post(`${simulated.weir.gatewayUrl}${chat.path(chat.model)}`, chat.body(chat.model, 'Hello'), { authorization: `Bearer ${key}` });
  const becomes = (key: string, status: number) =>
    eventually(
      async () => (await ask(key)).status,
      (seen) => seen === status,
      effectWithinMs,
    );

  test('create prints only the key, also through npm, and it works at once', async () => {
    const npm = await runToEnd('npm', ['run', '-s', 'weir', '--', 'keys', 'create', '--user', 'bob', '--name', 'ci'], {
      environment: environment(),
      cwd: root,
    });
    assert.equal(npm.code, 0, npm.stderr);
    const secret = npm.stdout.trim();
    assert.match(npm.stdout, /^sk-weir-\S+\n$/);
    await becomes(secret, 200);
    const answer = await ask(secret);
    const ledger = await openLedger(simulated.weir.dataDirectory);
    const row = await ledger.row(String(answer.headers['x-weir-request-id']));
    await ledger.close();
    assert.equal(row.userName, 'bob');
    assert.equal(row.keyName, 'ci');
    const again = await keys('create', '--user', 'bob', '--name', 'ci');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /ci/);
    assert.equal(again.stdout, '');
  });

  test('list shows keys and no secrets', async () => {
    const { stdout: secret } = await keys('create', '--user', 'carol', '--name', 'laptop');
    const listed = await keys('list');
    assert.match(listed.stdout, /carol\s+laptop/);
    assert.ok(!listed.stdout.includes(secret.trim()));
    const json = JSON.parse((await keys('list', '--user', 'carol', '--json')).stdout) as { name: string }[];
    assert.deepEqual(
      json.map(({ name }) => name),
      ['laptop'],
    );
    assert.ok(!JSON.stringify(json).includes(secret.trim()));
  });

  test('both secrets of a rotated key work until the overlap ends, and the books show one key', async () => {
    const first = (await keys('create', '--user', 'rota', '--name', 'one')).stdout.trim();
    await becomes(first, 200);
    const rotated = await keys('rotate', 'rota/one', '--overlap', '1h');
    const second = rotated.stdout.trim();
    assert.match(rotated.stderr, /^the old secret of rota\/one \(\w+\) is valid until \S+$/m);
    const answers = [await ask(first), await ask(second)];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    const ledger = await openLedger(simulated.weir.dataDirectory);
    const rows = await Promise.all(answers.map(({ headers }) => ledger.row(String(headers['x-weir-request-id']))));
    await ledger.close();
    assert.equal(new Set(rows.map(({ keyId }) => keyId)).size, 1);
    assert.equal((await keys('rotate', 'rota/one', '--overlap', '0')).code, 0);
    await becomes(first, 401);
    await becomes(second, 401);
  });

  test('a disabled key is a 401 within seconds, an enabled one works again, a deleted one never does', async () => {
    const secret = (await keys('create', '--user', 'dave', '--name', 'one')).stdout.trim();
    await becomes(secret, 200);
    assert.equal((await keys('disable', 'dave/one')).code, 0);
    await becomes(secret, 401);
    assert.equal((await keys('enable', 'dave/one')).code, 0);
    await becomes(secret, 200);
    assert.equal((await keys('delete', 'dave/one')).code, 0);
    await becomes(secret, 401);
    const gone = await keys('enable', 'dave/one');
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /dave\/one/);
    assert.doesNotMatch(gone.stderr, /\n\s+at /);
    const anew = (await keys('create', '--user', 'dave', '--name', 'one')).stdout.trim();
    assert.notEqual(anew, secret);
    await becomes(anew, 200);
    assert.equal((await ask(secret)).status, 401);
  });

  test('a key that is disabled or deleted during its stream: the stream continues to its end and is booked for it', async () => {
    const secret = (await keys('create', '--user', 'erin', '--name', 'stream')).stdout.trim();
    await becomes(secret, 200);
    const call = openCall(`${simulated.weir.gatewayUrl}${chat.path(chat.model, true)}`, {
      headers: { authorization: `Bearer ${secret}`, 'x-simulator-output-tokens': '900', 'x-simulator-pace': 'tokensPerSecond=200' },
      body: JSON.stringify(chat.body(chat.model, 'Hello', true)),
    });
    await call.until((text) => text.includes('"content"'));
    await keys('disable', 'erin/stream');
    await becomes(secret, 401);
    await keys('delete', 'erin/stream');
    const reply = await call.done;
    assert.equal(reply.end, 'complete');
    assert.match(reply.text, chat.terminal);
    const ledger = await openLedger(simulated.weir.dataDirectory);
    const row = await ledger.row(String(reply.headers['x-weir-request-id']));
    await ledger.close();
    assert.equal(row.end, 'finished');
    assert.equal(row.userName, 'erin');
    assert.equal(row.usage.outputTokens, 900);
  });

  test('commands also make and revoke billing tokens', async () => {
    const created = await runCommand(['tokens', 'create', '--name', 'finance'], environment());
    assert.equal(created.code, 0, created.stderr);
    const token = created.stdout.trim();
    const now = Math.floor(Date.now() / 1000);
    const stats = () => post(`${simulated.weir.monitorUrl}/bill/stats`, { type: 3, startTime: now - 3600, endTime: now + 3600 }, { token });
    await eventually(
      async () => (await stats()).status,
      (status) => status === 200,
    );
    const listed = await runCommand(['tokens', 'list'], environment());
    assert.match(listed.stdout, /finance/);
    assert.ok(!listed.stdout.includes(token));
    assert.equal((await runCommand(['tokens', 'delete', 'finance'], environment())).code, 0);
    await eventually(
      async () => (await stats()).status,
      (status) => status === 401,
    );
  });
});

describe('first credentials', { concurrency: 2 }, () => {
  test('credentials in the environment are used and never printed', async () => {
    const environment = { WEIR_API_KEY: 'a-key-of-my-own-0123', WEIR_BILLING_TOKEN: 'a-token-of-my-own-0123', WEIR_LOG_LEVEL: 'debug' };
    await using weir = await startWeir({ environment });
    const [api] = chatInterfaces;
    assert.ok(api);
    const answer = await post(`${weir.gatewayUrl}${api.path(api.model)}`, api.body(api.model, 'Hello'), {
      ...api.headers,
      'x-api-key': environment.WEIR_API_KEY,
    });
    assert.equal(answer.status, 200, answer.text);
    const now = Math.floor(Date.now() / 1000);
    const stats = await post(
      `${weir.monitorUrl}/bill/stats`,
      { type: 3, startTime: now - 60, endTime: now + 60 },
      { token: environment.WEIR_BILLING_TOKEN },
    );
    assert.equal(stats.status, 200);
    for (const secret of [environment.WEIR_API_KEY, environment.WEIR_BILLING_TOKEN]) assert.ok(!weir.output().includes(secret));
  });

  test('generated credentials are printed once, at the first start only', async () => {
    const none = { WEIR_API_KEY: '', WEIR_BILLING_TOKEN: '' };
    await using first = await startWeir({ environment: none });
    const secret = /^API key \(shown this once\):\s+(\S+)$/m.exec(first.output())?.[1];
    const token = /^Billing token \(shown this once\):\s+(\S+)$/m.exec(first.output())?.[1];
    assert.ok(secret && token);
    await first.stop();
    await using second = await startWeir({ environment: none, dataDirectory: first.dataDirectory });
    assert.ok(!second.output().includes(secret));
    assert.ok(!second.output().includes(token));
    assert.doesNotMatch(second.output(), /shown this once/);
    const [api] = chatInterfaces;
    assert.ok(api);
    const answer = await post(`${second.gatewayUrl}${api.path(api.model)}`, api.body(api.model, 'Hello'), {
      ...api.headers,
      'x-api-key': secret,
    });
    assert.equal(answer.status, 200);
    await second.stop();
  });

  test('a first start that fails makes no key: the next one prints one that works', async () => {
    const none = { WEIR_API_KEY: '', WEIR_BILLING_TOKEN: '' };
    const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-first-start-'));
    try {
      await assert.rejects(startWeir({ environment: none, dataDirectory, config: 'nonsense: 1' }), /nonsense: is not a known field/);
      await using next = await startWeir({ environment: none, dataDirectory, config: '# corrected' });
      const secret = /^API key \(shown this once\):\s+(\S+)$/m.exec(next.output())?.[1];
      assert.match(next.output(), /^Billing token \(shown this once\):\s+\S+$/m);
      const models = await fetch(`${next.gatewayUrl}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
      assert.equal(models.status, 200);
      await next.stop();
    } finally {
      rmSync(dataDirectory, { recursive: true, force: true });
    }
  });

  test('a weak key is refused at the start, without showing it', async () => {
    const ended = await runCommand(['start'], {
      WEIR_PORT: '0',
      WEIR_MONITOR_PORT: '0',
      WEIR_API_KEY: 'short',
      WEIR_DATA_DIR: mkdtempSync(join(tmpdir(), 'weir-weak-')),
    });
    assert.equal(ended.code, 1);
    assert.doesNotMatch(ended.stderr, /\bshort\b(?! )/);
  });
});

test('the list shows when a key was last used after the gateway has ended, and a key without calls as unused', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-uses-'));
  const environment = { WEIR_DATA_DIR: directory };
  const used = (await runCommand(['keys', 'create', '--user', 'ann', '--name', 'used'], environment)).stdout.trim();
  await runCommand(['keys', 'create', '--user', 'ann', '--name', 'idle'], environment);
  const startedMs = Date.now();
  {
    await using simulated = await startSimulatedWeir({ weir: { dataDirectory: directory } });
    const answer = await fetch(`${simulated.weir.gatewayUrl}/v1/models`, { headers: { 'x-api-key': used } });
    assert.equal(answer.status, 200);
    await answer.arrayBuffer();
    assert.equal((await fetch(`${simulated.weir.gatewayUrl}/v1/models`, { headers: { 'x-api-key': 'wrong' } })).status, 401);
  }
  const listed = JSON.parse((await runCommand(['keys', 'list', '--user', 'ann', '--json'], environment)).stdout) as {
    name: string;
    last_used_at: string | null;
  }[];
  const uses = Object.fromEntries(listed.map(({ name, last_used_at }) => [name, Date.parse(last_used_at ?? '')]));
  assert.ok(Number.isNaN(uses['idle']));
  assert.ok((uses['used'] ?? 0) >= startedMs && (uses['used'] ?? 0) <= Date.now());
});
