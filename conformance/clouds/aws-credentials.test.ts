import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { createUpstreamClient, type UpstreamClient } from '../../src/platform/http/upstream-client.ts';
import type { CredentialSource } from '../../src/upstreams/credentials/credential-source.ts';
import { type CredentialSettings, openCredential } from '../../src/upstreams/credentials/registry.ts';
import { createTokenClient } from '../../src/upstreams/credentials/token-client.ts';
import { eventually } from '../support/http.ts';

const role = 'arn:aws:iam::123456789012:role/weir';

describe('credentials of AWS', () => {
  let simulator: RunningSimulator;
  const clients = new Map<string, UpstreamClient>();
  let nowMs = Date.now();
  before(async () => {
    simulator = await startSimulator({ clock: { nowMs: () => nowMs } });
  });
  after(async () => {
    await Promise.all([...clients.values()].map((client) => client.close()));
    await simulator.close();
  });

  /** A source with these variables and files. */
  function open(
    settings: Omit<Extract<CredentialSettings, { kind: 'aws' }>, 'kind'>,
    variables: Readonly<Record<string, string>>,
    files: Readonly<Record<string, string>> = {},
    printed = '',
  ): CredentialSource {
    const all: Readonly<Record<string, string>> = { AWS_EC2_METADATA_DISABLED: 'true', ...variables };
    return openCredential(
      { kind: 'aws', ...settings },
      { region: 'us-east-1' },
      {
        ask: createTokenClient((origin) =>
          clients.getOrInsertComputed(origin, () => createUpstreamClient({ origin, connectTimeoutMs: 1000, headerBytesMax: 65_536 })),
        ),
        clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
        variable: (name) => all[name],
        homeDirectory: '/home/weir',
        readFile: (path) => {
          const text = files[path];
          return text === undefined ? Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' })) : Promise.resolve(text);
        },
        run: () => Promise.resolve(printed),
      },
    );
  }

  const current = (source: CredentialSource) => Promise.resolve(source.current(new AbortController().signal));
  /** Whether the simulated cloud issued the keys. */
  const wasIssued = async (source: CredentialSource): Promise<boolean> => {
    const keys = await current(source);
    return keys.kind === 'aws-keys' && simulator.aws.state.findKeys(keys.accessKeyId)?.sessionToken === keys.sessionToken;
  };

  test('the environment is the first place, and its keys need both parts', async () => {
    const source = open({}, { AWS_ACCESS_KEY_ID: 'AKIA0123456789ABCDEF', AWS_SECRET_ACCESS_KEY: 'secret' });
    assert.deepEqual(await current(source), { kind: 'aws-keys', accessKeyId: 'AKIA0123456789ABCDEF', secretAccessKey: 'secret' });
    assert.equal(source.describe().origin, 'environment');
    await assert.rejects(current(open({}, { AWS_ACCESS_KEY_ID: 'AKIA0123456789ABCDEF' })), /AWS_SECRET_ACCESS_KEY is not set/);
  });

  test('an API key of Bedrock comes before all other places', async () => {
    const source = open({}, { AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key', AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 'B' });
    assert.deepEqual(await current(source), { kind: 'bearer', token: 'bedrock-key' });
    assert.equal(source.describe().origin, 'AWS_BEARER_TOKEN_BEDROCK');
  });

  test('profiles have keys, or a command that prints them', async () => {
    const files = {
      '/home/weir/.aws/credentials': '[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = s ; note\n',
      '/home/weir/.aws/config': '# file\n[profile sso]\ncredential_process = print-keys\n[profile empty]\nregion=eu-west-1\n',
    };
    assert.deepEqual(await current(open({}, {}, files)), { kind: 'aws-keys', accessKeyId: 'AKIADEFAULT', secretAccessKey: 's' });
    const printed = JSON.stringify({
      Version: 1,
      AccessKeyId: 'ASIA1',
      SecretAccessKey: 's',
      SessionToken: 't',
      Expiration: new Date(nowMs + 600_000).toISOString(),
    });
    const sso = open({ profile: 'sso' }, {}, files, printed);
    assert.deepEqual(await current(sso), { kind: 'aws-keys', accessKeyId: 'ASIA1', secretAccessKey: 's', sessionToken: 't' });
    assert.equal(sso.describe().origin, 'profile sso');
    await assert.rejects(current(open({ profile: 'empty' }, {}, files)), /neither keys nor credential_process/);
    await assert.rejects(current(open({ profile: 'nobody' }, {}, files)), /there is no profile "nobody"/);
    await assert.rejects(
      current(open({ profile: 'sso' }, {}, files, 'secret text')),
      (error: Error) => !error.message.includes('secret text'),
    );
  });

  test('web identity is exchanged by STS, with the file as it is then', async () => {
    const { tokensUrl, webIdentityToken } = simulator.aws;
    const variables = { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: role, AWS_ENDPOINT_URL_STS: tokensUrl };
    const source = open({}, variables, { '/token': `${webIdentityToken}\n` });
    assert.ok(await wasIssued(source));
    assert.match(source.describe().identity ?? '', /assumed-role\/weir/);
    await assert.rejects(current(open({}, variables, { '/token': 'stale' })), /InvalidIdentityToken/);
    await assert.rejects(current(open({}, variables)), /AWS_WEB_IDENTITY_TOKEN_FILE names \/token, which cannot be read \(ENOENT\)/);
  });

  test('the container service and the metadata of an instance (version 2) issue keys', async () => {
    const { tokensUrl, containerToken } = simulator.aws;
    const container = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${tokensUrl}/credentials`, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/c' };
    assert.ok(await wasIssued(open({}, container, { '/c': containerToken })));
    const instance = open({}, { AWS_EC2_METADATA_DISABLED: 'false', AWS_EC2_METADATA_SERVICE_ENDPOINT: tokensUrl });
    assert.ok(await wasIssued(instance));
    assert.equal(instance.describe().identity, 'weir-instance');
  });

  test('a role is assumed with a signed request, and with the external id that it requires', async () => {
    const { accessKeyId, secretAccessKey } = simulator.aws.state.addUser();
    const own = { accessKeyId, secretAccessKey, stsUrl: simulator.aws.tokensUrl };
    assert.ok(await wasIssued(open({ ...own, roleArn: role }, {})));
    const guarded = { ...own, roleArn: 'arn:aws:iam::123456789012:role/needs-external-id' };
    await assert.rejects(current(open(guarded, {})), /STS refused AssumeRole .*AccessDenied/);
    assert.ok(await wasIssued(open({ ...guarded, externalId: 'outside' }, {})));
  });

  test('a throttled metadata service and ten minutes without it cost no call before the end of the keys', async () => {
    const { state, tokensUrl } = simulator.aws;
    const source = open({}, { AWS_EC2_METADATA_DISABLED: 'false', AWS_EC2_METADATA_SERVICE_ENDPOINT: tokensUrl });
    const first = await current(source);
    // The keys live for an hour, and are renewed five minutes before their end. The outage begins five minutes earlier.
    nowMs += 3_600_000 - 600_000;
    state.tokensAreDown = true;
    let waited = 0;
    for (let second = 0; second < 595; second += 1) {
      const got = source.current(new AbortController().signal);
      if (got instanceof Promise) waited += 1;
      else assert.equal(got, first);
      nowMs += 1000;
      if (second % 20 === 0) await new Promise((resolve) => void setTimeout(resolve, 5));
    }
    assert.equal(waited, 0, 'every call before the end has the keys at once');
    await eventually(
      () => source.describe().failure?.inARow ?? 0,
      (count) => count >= 1,
    );
    state.tokensAreDown = false;
    state.throttledTokens = 1;
    nowMs += 31_000;
    await current(source).catch(() => undefined);
    nowMs += 31_000;
    assert.notEqual(await current(source), first);
  });

  test('without any keys, all places are named', async () => {
    await assert.rejects(current(open({}, {})), /no AWS credentials were found: not in AWS_ACCESS_KEY_ID.*instance/);
    await assert.rejects(current(open({ from: 'container' }, {})), /only place that is allowed \(container\)/);
  });
});
