import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { createUpstreamClient, type UpstreamClient } from '../../src/platform/http/upstream-client.ts';
import { createCredentialMeans } from '../../src/main/egress/credential-sources.ts';
import { openVault } from '../../src/upstreams/credentials/secrets/read-vault.ts';
import { parseSecretReference } from '../../src/upstreams/credentials/secrets/secret-reference.ts';
import type { SecretStore } from '../../src/upstreams/credentials/secrets/secret-store.ts';
import type { VaultSettings } from '../../src/upstreams/credentials/secrets/secrets-schema.ts';
import { eventually } from '../support/http.ts';

const hourMs = 3_600_000;

/** Weir's side of Vault, over HTTP, at a time that the test moves. */
describe('Vault', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-vault-'));
  const podTokenFile = join(directory, 'pod-token');
  const secretIdFile = join(directory, 'secret-id');
  const clients = new Map<string, UpstreamClient>();
  const opened: SecretStore[] = [];
  let simulator: RunningSimulator;
  let aheadMs = 0;
  const nowMs = (): number => Date.now() + aheadMs;
  const variables = new Map<string, string>();

  beforeEach(async () => {
    aheadMs = 0;
    variables.clear();
    simulator = await startSimulator({ vault: true, clock: { nowMs } });
    vault().write('secret/weir/openai', { key: 'the-key' });
    pod();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await simulator.close();
  });
  after(async () => {
    await Promise.all([...clients.values()].map((client) => client.close()));
    rmSync(directory, { recursive: true, force: true });
  });

  const vault = () => simulator.vault ?? assert.fail();
  const state = () => vault().state;
  /** Puts a new token of the pod in its place. */
  const pod = (claims?: Parameters<ReturnType<typeof vault>['addPodToken']>[0]): string => {
    const token = vault().addPodToken(claims);
    writeFileSync(podTokenFile, `${token}\n`);
    return token;
  };

  const means = createCredentialMeans({
    clock: { nowMs, monotonicMs: () => performance.now() + aheadMs },
    variable: (name) => variables.get(name),
    clientOf: (origin) =>
      clients.getOrInsertComputed(origin, () => createUpstreamClient({ origin, connectTimeoutMs: 5_000, headerBytesMax: 65_536 })),
  })({});

  const open = (settings: Omit<VaultSettings, 'address'>, address = vault().url): SecretStore => {
    const store = openVault({ vault: { address, ...settings } }, means);
    opened.push(store);
    return store;
  };
  const kubernetes = { kind: 'kubernetes', role: 'weir', tokenFile: podTokenFile } as const;
  const appRole = { kind: 'app-role', roleId: 'the-role', secretIdFile } as const;

  async function read(store: SecretStore, place = 'vault:secret/weir/openai#key'): Promise<string> {
    const reference = parseSecretReference(place);
    assert.ok(typeof reference !== 'string');
    return (await store.read(reference, new AbortController().signal)).value;
  }
  const count = (path: string, status = 200): number =>
    state().requests.filter((request) => request.path === path && request.status === status).length;
  const renewals = (status = 200): number => count('auth/token/renew-self', status);
  const refusal = (words: RegExp) => (error: Error) => {
    assert.match(error.message, words);
    for (const token of [readFileSync(podTokenFile, 'utf8').trim(), ...state().tokens.keys()])
      assert.ok(token === '' || !error.message.includes(token));
    return true;
  };

  test('Kubernetes: the service account of the pod signs in once, and its token is renewed before it ends', async () => {
    const store = open({ login: kubernetes });
    assert.equal(await read(store), 'the-key');
    assert.deepEqual([count('auth/kubernetes/login'), state().tokens.size], [1, 1]);
    const { origin, identity } = store.credential?.describe() ?? {};
    assert.deepEqual([origin, identity], ['kubernetes', 'default, weir']);
    for (let renewal = 1; renewal <= 30; renewal += 1) {
      // A renewal begins five minutes before the end, and reads go on meanwhile.
      aheadMs += 0.93 * hourMs;
      assert.equal(await read(store), 'the-key');
      await eventually(renewals, (done) => done === renewal);
    }
    assert.deepEqual([count('auth/kubernetes/login'), state().tokens.size], [1, 1]);
  });

  test('Kubernetes: at the greatest age of its token Weir signs in again, with the token that the pod has then', async () => {
    state().tokenSecondsMax = 2 * 3600;
    const store = open({ login: kubernetes });
    const first = pod();
    await read(store);
    aheadMs += 0.93 * hourMs;
    await read(store);
    await eventually(renewals, (done) => done === 1);
    // The kubelet replaces the file, and the old token ends.
    pod();
    state().podTokens.delete(first);
    aheadMs += 0.93 * hourMs;
    assert.equal(await read(store), 'the-key');
    await eventually(
      () => count('auth/kubernetes/login'),
      (done) => done === 2,
    );
    aheadMs += 0.5 * hourMs;
    assert.equal(await read(store), 'the-key');
  });

  test('a batch token, which cannot be renewed, is replaced by a login', async () => {
    state().areRenewable = false;
    const store = open({ login: kubernetes });
    await read(store);
    aheadMs += 0.95 * hourMs;
    await read(store);
    await eventually(
      () => count('auth/kubernetes/login'),
      (done) => done === 2,
    );
    assert.equal(renewals() + renewals(400), 0);
  });

  test('revoked tokens, and tokens for a few uses, are replaced within the reading that finds it', async () => {
    const store = open({ login: kubernetes });
    await read(store);
    aheadMs += 2_000;
    vault().revokeAll();
    assert.equal(await read(store), 'the-key');
    assert.equal(count('auth/kubernetes/login'), 2);
    state().tokenUses = 2;
    vault().revokeAll();
    for (let reading = 0; reading < 6; reading += 1) {
      aheadMs += 2_000;
      assert.equal(await read(store), 'the-key');
    }
    assert.equal(count('auth/kubernetes/login'), 5);
  });

  for (const [what, prepare, words] of [
    ['a role that does not exist', () => state().podRoles.clear(), /invalid role name "weir"/],
    [
      'another service account',
      () => pod({ name: 'default' }),
      /service accounts, namespaces and audience .*service account name not auth/,
    ],
    ['another namespace of Kubernetes', () => pod({ namespace: 'default' }), /namespace not authorized/],
    [
      'another audience',
      () => state().podRoles.set('weir', { names: ['weir'], namespaces: ['models'], audience: 'vault' }),
      /audience claim does not match/,
    ],
    ['a token of the pod that has ended', () => pod({ expiresAtMs: Date.now() - 1000 }), /token is expired/],
    [
      'a token that Kubernetes does not confirm',
      () => state().podTokens.clear(),
      /may review tokens of this cluster \(system:auth-delegator\)/,
    ],
    ['a login method at another path', () => state().mounts.delete('kubernetes'), /auth\/kubernetes in the root namespace.*check that the/],
    ['an empty file', () => writeFileSync(podTokenFile, ''), /missing jwt/],
  ] as const)
    test(`Kubernetes: ${what} is refused in words that say what to correct`, async () => {
      prepare();
      await assert.rejects(read(open({ login: kubernetes })), refusal(words));
    });

  test('login methods may have paths of their own', async () => {
    state().mounts.clear();
    state().mounts.set('clusters/east 1', 'kubernetes');
    assert.equal(await read(open({ login: { ...kubernetes, mount: '/clusters/east 1/' } })), 'the-key');
    state().mounts.set('machines', 'approle').set('approle', 'kubernetes');
    state().appRoles.set('the-role', { secretIds: undefined });
    assert.equal(await read(open({ login: { kind: 'app-role', roleId: 'the-role', mount: 'machines' } })), 'the-key');
  });

  test('a namespace is in every request: of the login, of a renewal, of a reading', async () => {
    state().namespace = 'acme/models';
    const store = open({ namespace: 'acme/models', login: kubernetes });
    assert.equal(await read(store), 'the-key');
    aheadMs += 0.93 * hourMs;
    await read(store);
    await eventually(renewals, (done) => done === 1);
    variables.set('VAULT_NAMESPACE', 'acme/models/');
    assert.equal(await read(open({ login: kubernetes })), 'the-key');
  });

  test('a wrong namespace, and a token of another one, are refused in words that name it', async () => {
    state().namespace = 'acme/models';
    await assert.rejects(read(open({ login: kubernetes })), refusal(/auth\/kubernetes in the root namespace.*permission denied/s));
    await assert.rejects(read(open({ namespace: 'acme', login: kubernetes })), refusal(/in the namespace acme\b/));
    const token = vault().addToken({ namespace: 'elsewhere' });
    await assert.rejects(read(open({ namespace: 'acme/models', login: { kind: 'token', token } })), refusal(/or the namespace is wrong/));
  });

  test('AppRole: a secret id for one login serves as long as its token can be renewed', async () => {
    state().appRoles.set('the-role', { secretIds: new Map([['for-one-login', 1]]) });
    writeFileSync(secretIdFile, 'for-one-login\n');
    const store = open({ login: appRole });
    for (let renewal = 1; renewal <= 30; renewal += 1) {
      assert.equal(await read(store), 'the-key');
      aheadMs += 0.93 * hourMs;
      await read(store);
      await eventually(renewals, (done) => done === renewal);
    }
    // A secret outside of the policy does not cost the token.
    vault().write('secret/other/openai', { key: 'another' });
    await assert.rejects(read(store, 'vault:secret/other/openai#key'), /its policy needs path "secret\/data\/other\/openai"/);
    assert.equal(await read(store), 'the-key');
    assert.equal(count('auth/approle/login'), 1);
  });

  test('AppRole: the next secret id is read from its file at the next login', async () => {
    state().appRoles.set('the-role', { secretIds: new Map([['first', 1]]) });
    writeFileSync(secretIdFile, 'first');
    const store = open({ login: appRole });
    await read(store);
    state().appRoles.get('the-role')?.secretIds?.set('second', 1);
    writeFileSync(secretIdFile, 'second');
    vault().revokeAll();
    aheadMs += 2_000;
    assert.equal(await read(store), 'the-key');
    assert.equal(count('auth/approle/login'), 2);
  });

  for (const [what, login, words] of [
    ['an unknown role', { kind: 'app-role', roleId: 'nobody', secretId: 'x' }, /check roleId and the secret id.*invalid role or secret ID/],
    ['a used secret id', { kind: 'app-role', roleId: 'the-role', secretId: 'used' }, /have been used as often as it may be/],
    ['no secret id', { kind: 'app-role', roleId: 'the-role' }, /missing secret_id/],
    [
      'a path without the method',
      { kind: 'app-role', roleId: 'the-role', mount: 'roles' },
      /auth\/roles in the root.*the login method is there/,
    ],
    [
      'no file',
      { kind: 'app-role', roleId: 'the-role', secretIdFile: '/none' },
      /secretIdFile names \/none, which cannot be read \(ENOENT\)/,
    ],
  ] as const)
    test(`AppRole: ${what} is refused in words that say what to correct`, async () => {
      state().appRoles.set('the-role', { secretIds: new Map() });
      await assert.rejects(read(open({ login })), refusal(words));
    });

  test('a token is renewed until its greatest age, and then its end is said; one that cannot be renewed is used as it is', async () => {
    const token = vault().addToken({ expiresAtMs: nowMs() + hourMs, endsAtMs: nowMs() + 3 * hourMs });
    const store = open({ login: { kind: 'token', token } });
    assert.equal(await read(store), 'the-key');
    assert.equal(renewals(), 1);
    aheadMs += 0.95 * hourMs;
    await read(store);
    await eventually(renewals, (done) => done === 2);
    aheadMs += 3 * hourMs;
    await assert.rejects(read(store), refusal(/the token of Vault is refused: make a new one/));
    const fixed = vault().addToken({ isRenewable: false });
    assert.equal(await read(open({ login: { kind: 'token', token: fixed } })), 'the-key');
    variables.set('VAULT_TOKEN', fixed);
    assert.equal(await read(open({})), 'the-key');
  });

  test('a Vault that is away or sealed costs nothing while the token is good, and says why afterwards', async () => {
    const store = open({ login: kubernetes });
    await read(store);
    state().isSealed = true;
    aheadMs += 0.95 * hourMs;
    await assert.rejects(read(store), /Vault is not available \(Vault is sealed\): unseal it/);
    await eventually(
      () => store.credential?.describe().failure,
      (failure) => failure !== undefined,
    );
    state().isSealed = false;
    assert.equal(await read(store), 'the-key');
    aheadMs += 0.1 * hourMs;
    assert.equal(await read(store), 'the-key');
  });

  describe('a standby that redirects', () => {
    const followed: string[] = [];
    const standby = createServer((request, response) => {
      followed.push(request.url ?? '');
      response.writeHead(307, { location: `${vault().url}${request.url}` }).end();
    });
    before(() => new Promise<void>((resolve) => void standby.listen(0, '127.0.0.1', resolve)));
    after(() => new Promise((resolve) => standby.close(resolve)));

    test('gets no token sent on, and the operator learns which address to set', async () => {
      const address = `http://127.0.0.1:${(standby.address() as AddressInfo).port}`;
      await assert.rejects(read(open({ login: kubernetes }, address)), /is a standby, and Weir follows no redirect with a token: set the/);
      assert.deepEqual(followed, ['/v1/auth/kubernetes/login']);
      assert.deepEqual(state().requests, []);
    });
  });
});
