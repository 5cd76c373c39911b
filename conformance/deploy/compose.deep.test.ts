import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { startSimulator, type RunningSimulator } from 'weir-simulator';
import { parse, stringify } from 'yaml';

import { runCommand } from '../programs/run-command.ts';
import { call, eventually, post } from '../support/http.ts';
import { startObjectStore, type ObjectStore } from '../support/start-object-store.ts';
import { type PostgresServer, skipPostgres, startPostgres } from '../support/start-postgres.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';

const folder = join(import.meta.dirname, '../../deploy');
const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<
    Record<string, { readonly command: readonly string[]; readonly environment: Readonly<Record<string, string>> }>
  >;
};
const programs = ['gateway', 'monitor', 'console'] as const;

/**
 * The services of Weir in compose.yaml as processes, on a real PostgreSQL server and an object store: their commands,
 * their environment, and the secrets that docs/guide/containers.md makes. Only addresses are replaced, because there
 * are no containers here.
 */
describe('the compose file', { skip: skipPostgres }, () => {
  const base = mkdtempSync(join(tmpdir(), 'weir-compose-'));
  const secrets = join(base, 'secrets');
  const running = new Map<string, RunningWeir>();
  let server: PostgresServer;
  let simulator: RunningSimulator;
  let objects: ObjectStore;

  const secret = (name: string): string => readFileSync(join(secrets, name), 'utf8').trimEnd();

  /** The environment of a service, with its secrets where they are here. */
  function environmentOf(service: string): Record<string, string> {
    const entries = Object.entries(services[service]?.environment ?? {});
    const adapted = entries.map(([name, value]) => [name, value.replace('/run/secrets/', `${secrets}/`)] as const);
    return Object.fromEntries(adapted.filter(([name]) => !['WEIR_CONFIG', 'WEIR_DATA_DIR'].includes(name)));
  }

  before(async () => {
    [server, simulator, objects] = await Promise.all([startPostgres(['fsync=off']), startSimulator(), startObjectStore()]);
    // The command of the guide, in a copy of the folder, because it writes next to itself.
    cpSync(join(folder, 'compose'), join(base, 'compose'), { recursive: true });
    execFileSync(join(base, 'compose/make-secrets.sh'));
    await server.createDatabase('made');
    const socket = new URL(server.url()).searchParams.get('host') ?? '';
    execFileSync(join(base, 'compose/make-roles.sh'), {
      env: { PATH: process.env['PATH'], SECRETS: secrets, POSTGRES_USER: 'owner', POSTGRES_DB: 'made', PGHOST: socket },
    });
    for (const name of readdirSync(secrets).filter((one) => one.endsWith('_url')))
      writeFileSync(
        join(secrets, name),
        secret(name).replace('@postgres/weir?sslmode=disable', `@localhost/made?host=${encodeURIComponent(socket)}`),
      );
    writeFileSync(join(secrets, 'openai_api_key'), 'sk-of-the-vendor\n');
    writeFileSync(join(secrets, 'objects_access_key'), objects.settings.accessKeyId);
    writeFileSync(join(secrets, 'objects_secret_key'), objects.settings.secretAccessKey);
  });

  after(async () => {
    for (const weir of running.values()) await weir[Symbol.asyncDispose]();
    await objects?.[Symbol.asyncDispose]();
    await simulator?.close();
    await server?.close();
    rmSync(base, { recursive: true, force: true });
  });

  test('secrets are random, in a folder that only its owner reads, and a second run replaces none', () => {
    const all = new Map(readdirSync(secrets).map((name) => [name, secret(name)]));
    assert.equal(statSync(secrets).mode & 0o777, 0o700);
    const random = [...all].filter(([name]) => /password|proof_key|^first_/.test(name)).map(([, value]) => value);
    assert.equal(new Set(random).size, random.length);
    assert.ok(random.every((value) => /[0-9a-f]{64}$/.test(value)));
    execFileSync(join(base, 'compose/make-secrets.sh'));
    assert.deepEqual(new Map(readdirSync(secrets).map((name) => [name, secret(name)])), all);
  });

  test('each role has a password', async () => {
    const roles = "select rolname from pg_authid where rolname like 'weir%' and rolpassword like 'SCRAM-SHA-256$%' order by 1";
    assert.equal(await server.query(roles), 'weir_console\nweir_gateway\nweir_monitor\nweir_operator\nweir_owner');
  });

  test('the schema is made, then each role gets its rights, and both can run again', async () => {
    for (const service of ['migrate', 'roles', 'migrate', 'roles']) {
      const { code, stderr } = await runCommand(services[service]?.command ?? [], { ...environmentOf(service), WEIR_DATA_DIR: base });
      assert.equal(code, 0, `${service}: ${stderr}`);
    }
  });

  test('the programs start with their commands and secrets, serve a call and report it, each with its own role', async () => {
    const config = parse(readFileSync(join(folder, 'compose/weir.yaml'), 'utf8')) as Record<string, any>;
    const adapted = stringify({
      ...config,
      mediaStorage: { s3: { ...config['mediaStorage'].s3, endpoint: objects.settings.endpoint, bucket: objects.settings.bucket } },
      upstreams: { openai: { vendor: 'openai', baseUrl: simulator.addresses['openai'], apiKey: '${OPENAI_API_KEY:-none}' } },
      timeouts: { ...config['timeouts'], drainDelayMs: 0 },
    });
    for (const name of programs) {
      const environment = {
        ...environmentOf(name),
        // Files decide, not the usual variables of tests; and no port is fixed.
        WEIR_API_KEY: '',
        WEIR_BILLING_TOKEN: '',
        WEIR_HOST: '127.0.0.1',
        WEIR_PORT: '0',
        WEIR_MONITOR_PORT: '0',
        WEIR_CONSOLE_PORT: '0',
        ...(name === 'gateway' ? { WEIR_METRICS_HOST: '127.0.0.1', WEIR_METRICS_PORT: '0' } : {}),
      };
      const commandArguments = name === 'gateway' ? ['--workers', '2'] : [];
      running.set(name, await startWeir({ command: name, commandArguments, config: adapted, environment }));
    }
    const { gateway, monitor, console: desk } = Object.fromEntries(running) as Record<(typeof programs)[number], RunningWeir>;
    const authorization = { authorization: `Bearer ${secret('first_api_key')}` };
    const body = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'hello' }] };
    assert.equal((await post(`${gateway.gatewayUrl}/v1/chat/completions`, body, authorization)).status, 200);
    assert.equal(
      simulator.records()[0]?.requestHeaders['authorization'],
      `Bearer sha256:${createHash('sha256').update('sk-of-the-vendor').digest('hex').slice(0, 16)}`,
    );
    const now = Math.floor(Date.now() / 1000);
    const question = { type: 3, startTime: now - 3600, endTime: now + 3600 };
    const ask = () => post(`${monitor.monitorUrl}/bill/stats`, question, { token: secret('first_billing_token') });
    await eventually(ask, ({ text }) => text.includes('gpt-4.1'));
    assert.equal((await call(`${desk.consoleUrl}/health/ready`)).status, 200);
    assert.match((await call(gateway.metricsUrl)).text, /^weir_calls_total\{.* 1$/m);
    const roles = await server.query("select distinct usename from pg_stat_activity where usename like 'weir%' order by 1");
    assert.equal(roles, 'weir_console\nweir_gateway\nweir_monitor');
    for (const [name, weir] of running) {
      assert.doesNotMatch(weir.output(), /shown this once/, `${name} prints a secret`);
      assert.equal(await weir.stop(), 0, name);
    }
  });
});
