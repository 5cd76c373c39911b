import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import type { RunningSimulator } from 'weir-simulator';

import { systemClock } from '../../src/platform/clock.ts';
import { runDoctor } from '../../src/main/doctor/run-doctor.ts';
import { readEnvironment } from '../../src/main/environment.ts';
import { azureTenant } from '../../simulator/src/clouds/azure/azure-cloud.ts';
import { type Answer, call, eventually, post } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';

/** Replaces a file as a rename does, and as a mounted secret of Kubernetes is replaced: by a link to another folder. */
function createSecretFiles() {
  const directory = mkdtempSync(join(tmpdir(), 'weir-secrets-'));
  let version = 0;
  const swap = (value: string): void => {
    version += 1;
    const folder = `..version-${version}`;
    mkdirSync(join(directory, folder));
    writeFileSync(join(directory, folder, 'mounted'), value);
    symlinkSync(folder, join(directory, '..data-next'));
    renameSync(join(directory, '..data-next'), join(directory, '..data'));
  };
  const link = (): void => symlinkSync('..data/mounted', join(directory, 'mounted'));
  return {
    directory,
    pathOf: (name: string) => join(directory, name),
    write: (name: string, value: string) => {
      writeFileSync(join(directory, `${name}.next`), `${value}\n`);
      renameSync(join(directory, `${name}.next`), join(directory, name));
    },
    swap: (value: string) => {
      swap(value);
      if (version === 1) link();
    },
    link,
    remove: (name: string) => rmSync(join(directory, name), { force: true }),
  };
}

const places = ['renamed', 'mounted', 'vault', 'aws', 'google', 'azure'] as const;
type Place = (typeof places)[number];
/** Upstreams whose secret cannot be read, and why. */
const unread = ['missing', 'forbidden', 'no-member', 'no-path', 'no-engine'] as const;

const first = (place: Place): string => `sk-${place}-first-0123456789`;
const next = (place: Place): string => `sk-${place}-next-9876543210`;

describe('keys of upstreams that are secrets by reference', () => {
  let running: SimulatedWeir;
  let simulator: RunningSimulator;
  const files = createSecretFiles();

  /** Writes a secret where it is kept. */
  const writers: Readonly<Record<Place, (value: string) => void>> = {
    renamed: (value) => files.write('renamed', value),
    mounted: (value) => files.swap(value),
    vault: (value) => simulator.vault?.write('secret/weir/openai', { key: value, other: 7 }),
    aws: (value) => void simulator.aws.secrets.secrets.set('weir/openai', JSON.stringify({ key: value })),
    google: (value) => {
      const { secrets } = simulator.google?.secrets ?? assert.fail();
      secrets.getOrInsertComputed('projects/acme-models/secrets/openai', () => []).push(value);
    },
    azure: (value) => void simulator.azure?.keyVault.secrets.set('openai', { value }),
  };

  before(async () => {
    running = await startSimulatedGateway({
      simulator: { apiKeys: [upstreamKey, ...places.map(first)], vault: true, google: {}, azure: {} },
      secrets: (started) => {
        simulator = started;
        for (const place of places) writers[place](first(place));
        return settingsOf(started, files);
      },
      clouds: ({ addresses }) => {
        const openai = (apiKey: string) => ({ vendor: 'openai', baseUrl: addresses.openai, apiKey });
        return {
          renamed: openai(`\${file:${files.pathOf('renamed')}}`),
          mounted: openai(`\${file:${files.pathOf('mounted')}}`),
          vault: openai('${vault:secret/weir/openai#key}'),
          aws: openai('${aws-sm:weir/openai#key}'),
          google: openai('${gcp-sm:projects/acme-models/secrets/openai}'),
          azure: openai('${azure-kv:acme-vault/openai}'),
          missing: openai(`\${file:${files.pathOf('missing')}}`),
          forbidden: openai('${vault:secret/other/openai#key}'),
          'no-member': openai('${vault:secret/weir/openai#kee}'),
          'no-path': openai('${vault:secret/weir/opneai#key}'),
          'no-engine': openai('${vault:kv/weir/openai#key}'),
        };
      },
      models: {
        ...Object.fromEntries([...places, ...unread].map((name) => [name, { targets: [{ upstream: name, model: 'gpt-4.1-mini' }] }])),
        'falls-over': { targets: ['missing', 'openai'].map((upstream) => ({ upstream, model: 'gpt-4.1-mini' })) },
      },
      retries: { attemptsMax: 2, avoidFailing: false, holdOpeningMs: 60_000 },
      weir: { environment: { WEIR_METRICS_PORT: '0' } },
    });
  });
  after(async () => {
    await running[Symbol.asyncDispose]();
    rmSync(files.directory, { recursive: true, force: true });
  });

  const ask = (model: string): Promise<Answer> => {
    const body = { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 };
    return post(`${running.weir.gatewayUrl}/v1/chat/completions`, body, { authorization: `Bearer ${running.weir.apiKey}` });
  };

  /** Calls all places at once and without a pause until `end`. Returns what failed. */
  function load(): { readonly end: () => Promise<readonly string[]>; readonly count: (place: Place) => number } {
    let ends = false;
    const failed: string[] = [];
    const counts = new Map<Place, number>();
    const loops = places
      .flatMap((place) => [place, place])
      .map(async (place) => {
        while (!ends) {
          const answer = await ask(place);
          if (answer.status !== 200) failed.push(`${place}: ${answer.status} ${answer.text}`);
          counts.set(place, (counts.get(place) ?? 0) + 1);
        }
      });
    return {
      count: (place) => counts.get(place) ?? 0,
      end: async () => {
        ends = true;
        await Promise.all(loops);
        return failed;
      },
    };
  }

  const logged = (words: RegExp): Promise<string> =>
    eventually(
      () => running.weir.output(),
      (output) => words.test(output),
    );

  test('are read before the first call, from files, Vault and the three clouds', async () => {
    for (const place of places) assert.equal((await ask(place)).status, 200, place);
  });

  test('that cannot be read do not prevent the start; their calls fail clearly, or go to the next target', async () => {
    for (const name of unread) {
      const answer = await ask(name);
      assert.deepEqual([answer.status, answer.json?.error?.code], [503, 'upstream_credentials_rejected'], `${name}: ${answer.text}`);
    }
    assert.equal((await ask('falls-over')).status, 200);
    await logged(/missing.*the file cannot be read \(ENOENT\)/);
    await logged(/other\/openai#key.*its policy needs path .{0,3}secret\/data\/other\/openai.{0,3} \{ capabilities = /);
    await logged(/kee.{0,3} is not in it; it has key, other/);
    await logged(/there is no such secret \(path secret\/data\/weir\/opneai, KV version 2\)/);
    await logged(/there is no KV engine at .{0,3}kv.{0,3}: correct the path, or set secrets\.vault\.mount/);
    // The log of a failed call says it too.
    await logged(/missing: the secret [^\n]*missing\}[^\n]* cannot be read: the file cannot be read \(ENOENT\)/);
  });

  test('changed and revoked in the same moment under load: no call fails', async () => {
    const calls = load();
    await eventually(() => places.every((place) => calls.count(place) >= 5), Boolean);
    for (const place of places) writers[place](next(place));
    simulator.replaceKeys([upstreamKey, ...places.map(next)]);
    const before = new Map(places.map((place) => [place, calls.count(place)]));
    await eventually(() => places.every((place) => calls.count(place) >= (before.get(place) ?? 0) + 20), Boolean);
    assert.deepEqual(await calls.end(), []);
  });

  test('stay in use while no store answers, and follow again afterwards', async () => {
    const { vault, aws, google, azure } = simulator;
    assert.ok(vault !== undefined && google !== undefined && azure !== undefined);
    vault.state.isSealed = true;
    for (const state of [aws.secrets, google.secrets, azure.keyVault]) state.failingStatus = 503;
    files.remove('renamed');
    files.remove('mounted');
    const calls = load();
    await logged(/Vault is not available \(Vault is sealed\): unseal it/);
    await logged(/Secrets Manager answers InternalServiceError/);
    await logged(/Secret Manager: it answers 503/);
    await logged(/Key Vault: it answers 503/);
    const failed = await calls.end();
    assert.deepEqual(failed, []);
    vault.state.isSealed = false;
    for (const state of [aws.secrets, google.secrets, azure.keyVault]) state.failingStatus = 0;
    for (const place of places) writers[place](first(place));
    files.link();
    simulator.replaceKeys([upstreamKey, ...places.map(first)]);
    for (const place of places)
      await eventually(
        async () => (await ask(place)).status,
        (status) => status === 200,
      );
  });

  test('what a cloud refuses is worded so that the operator knows what to do', async () => {
    simulator.aws.secrets.withoutRight.add('weir/openai');
    simulator.google?.secrets.withoutRole.add('projects/acme-models/secrets/openai');
    simulator.azure?.keyVault.withoutRole.add('openai');
    await logged(/allow secretsmanager:GetSecretValue, and kms:Decrypt/);
    await logged(/grant roles\/secretmanager\.secretAccessor on the secret/);
    await logged(/assign the role Key Vault Secrets User/);
    for (const place of places) assert.equal((await ask(place)).status, 200, place);
  });

  test('a clock of AWS that is ten minutes ahead is named as the reason', async () => {
    simulator.aws.secrets.withoutRight.clear();
    simulator.aws.state.skewMs = 600_000;
    await logged(/the clock of this machine is wrong \(InvalidSignatureException: Signature expired/);
    simulator.aws.state.skewMs = 0;
    assert.equal((await ask('aws')).status, 200);
  });

  test('have their age and their failures in the metrics, with the logins to their stores', async () => {
    const { text } = await call(running.weir.metricsUrl);
    assert.match(text, /^weir_credential_age_seconds\{kind="secret",name="vault:secret\/weir\/openai#key"\} [0-9.]+$/m);
    assert.match(text, /^weir_credential_failures\{kind="secret",name="vault:secret\/other\/openai#key"\} [1-9]/m);
    assert.match(text, /^weir_credential_expires_in_seconds\{kind="login",name="Vault"\} [0-9.]+$/m);
    assert.doesNotMatch(text, /weir_credential_age_seconds\{kind="secret",name="vault:secret\/other/);
    for (const value of places.flatMap((place) => [first(place), next(place)])) assert.ok(!text.includes(value));
  });

  test('are named by the doctor with their store, and with the reason if they cannot be read', async () => {
    const { dataDirectory } = running.weir;
    const report = await runDoctor({
      environment: readEnvironment({ WEIR_CONFIG: join(dataDirectory, 'weir.yaml'), WEIR_DATA_DIR: dataDirectory }),
      clock: systemClock,
      signal: new AbortController().signal,
      upstreams: ['vault', 'forbidden'],
      checks: [],
      model: undefined,
      mayCall: false,
      timeoutMs: 10_000,
      onStep: () => {},
    });
    const told = report.sections.find(({ title }) => title === 'Secrets')?.findings.map(({ verdict, says }) => `${verdict} ${says}`) ?? [];
    const isTold = (words: RegExp): void =>
      assert.ok(
        told.some((line) => words.test(line)),
        `${String(words)}: ${told.join('; ')}`,
      );
    isTold(/^good \$\{vault:secret\/weir\/openai#key\} from Vault, read \d+ s ago$/);
    isTold(/^good \$\{aws-sm:weir\/openai#key\} from AWS Secrets Manager/);
    isTold(/^good Vault: app-role, as default, weir, until 20/);
    isTold(/^bad the secret "\$\{vault:secret\/other\/openai#key\}" cannot be read: the login may not read it/);
    assert.match(JSON.stringify(report.upstreams), /the secret \$\{vault:secret\/weir\/openai#key\}/);
    for (const value of places.flatMap((place) => [first(place), next(place)])) assert.ok(!JSON.stringify(report).includes(value));
  });

  test('that come late are used without a restart', async () => {
    files.write('missing', first('renamed'));
    await eventually(
      async () => (await ask('missing')).status,
      (status) => status === 200,
    );
  });

  test('are in no line of the log', () => {
    const output = running.weir.output();
    for (const value of places.flatMap((place) => [first(place), next(place)])) assert.ok(!output.includes(value), value);
    for (const token of simulator.vault?.state.tokens.keys() ?? []) assert.ok(!output.includes(token));
  });
});

/** The part `secrets` of weir.yaml: each store with the credentials that it wants. */
function settingsOf(simulator: RunningSimulator, files: ReturnType<typeof createSecretFiles>): Readonly<Record<string, unknown>> {
  const { aws, vault, google, azure } = simulator;
  assert.ok(vault !== undefined && google !== undefined && azure !== undefined);
  // A policy for a path without an engine, to see what Vault says then.
  vault.state.loginReads = ['secret/data/weir/*', 'kv/data/*'];
  vault.state.appRoles.set('weir-role', { secretIds: new Map([['weir-secret-id', 0]]) });
  files.write('secret-id', 'weir-secret-id');
  const { accessKeyId, secretAccessKey } = aws.state.addUser();
  const { tenantId, clientId, clientSecret } = azureTenant;
  return {
    refreshSeconds: 1,
    waitSeconds: 2,
    vault: { address: vault.url, login: { kind: 'app-role', roleId: 'weir-role', secretIdFile: files.pathOf('secret-id') } },
    aws: { region: 'us-east-1', url: aws.secretsUrl, accessKeyId, secretAccessKey },
    google: { url: google.secretsUrl, json: JSON.stringify(google.createKeyFile()) },
    azure: { url: azure.keyVaultUrl, from: 'client-secret', tenantId, clientId, clientSecret, loginUrl: azure.loginUrl },
  };
}
