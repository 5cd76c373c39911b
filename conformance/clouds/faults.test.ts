import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { azureTenant } from '../../simulator/src/clouds/azure/azure-cloud.ts';
import { runDoctor } from '../../src/main/doctor/run-doctor.ts';
import { readEnvironment } from '../../src/main/environment.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { runCommand } from '../programs/run-command.ts';
import { type Answer, eventually, post } from '../support/http.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

const clouds = ['azure', 'bedrock', 'vertex'] as const;
const sonnet = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const minuteMs = 60_000;
const tokenMs = 60 * minuteMs;

/** A call under load, with the simulated times of its begin and its end. */
type Seen = { readonly cloud: string; readonly beganMs: number; readonly endedMs: number; readonly status: number; readonly text: string };

type Load = { readonly called: readonly string[]; readonly seen: readonly Seen[]; readonly end: () => Promise<readonly Seen[]> };

/** The three clouds with their token services, at one simulated time, and a gateway whose clock can be wrong. */
describe('faults of clouds', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-faults-'));
  let simulator: RunningSimulator;
  let weir: ServedWeir;
  /** How far the time of clouds and gateway is ahead of the machine's, and the gateway's clock of both. */
  let aheadMs = 0;
  let wrongMs = 0;
  const nowMs = (): number => Date.now() + aheadMs;
  const clock: Clock = { nowMs: () => nowMs() + wrongMs, monotonicMs: () => performance.now() + aheadMs };
  const variables = (): Record<string, string> => ({
    HOME: directory,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: simulator.aws.tokensUrl,
  });
  const files = { keyFile: join(directory, 'vertex.json'), secret: join(directory, 'azure-secret'), aws: join(directory, '.aws') };
  const azure = () => simulator.azure ?? assert.fail();
  const google = () => simulator.google ?? assert.fail();

  /** The id of the access key in the profile. */
  let profileKey = '';
  const writeAwsProfile = (): void => {
    const { accessKeyId, secretAccessKey } = simulator.aws.state.addUser();
    const lines = `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;
    replaceFile(join(files.aws, 'credentials'), lines);
    profileKey = accessKeyId;
  };
  const writeGoogleKey = (): void => replaceFile(files.keyFile, JSON.stringify(google().createKeyFile()));

  function upstreams(): Readonly<Record<string, object>> {
    const { tenantId, clientId, clientSecret } = azureTenant;
    const { aws } = simulator;
    const login = { kind: 'azure', from: 'client-secret', tenantId, clientId, loginUrl: azure().loginUrl };
    const resource = { vendor: 'azure', baseUrl: azure().endpoint };
    const bedrock = { vendor: 'bedrock', region: 'us-east-1', baseUrl: aws.runtimeUrl };
    const vertex = { vendor: 'vertex', project: google().project, baseUrl: google().vertexUrl };
    const instance = { kind: 'aws', from: 'instance' };
    const metadata = { kind: 'google', from: 'metadata', metadataUrl: google().identityUrl };
    return {
      azure: { ...resource, credential: { ...login, clientSecret } },
      bedrock: { ...bedrock, credential: instance },
      vertex: { ...vertex, credential: metadata },
      // The same with sources of their own, which have fetched nothing yet.
      'new-azure': { ...resource, credential: { kind: 'azure', from: 'instance', metadataUrl: azure().metadataUrl } },
      'new-bedrock': { ...bedrock, credential: { ...instance, stsUrl: aws.tokensUrl } },
      'new-vertex': { ...vertex, credential: { ...metadata, metadataUrl: `${google().identityUrl}/` } },
      // Credentials that are replaced where they are kept.
      'kept-azure': { ...resource, credential: { ...login, loginUrl: `${login.loginUrl}/`, clientSecret: `\${file:${files.secret}}` } },
      'kept-bedrock': { ...bedrock, credential: { kind: 'aws', from: 'profile' } },
      'kept-vertex': { ...vertex, credential: { kind: 'google', file: files.keyFile } },
      // Set-up faults.
      'far-bedrock': { ...bedrock, region: 'eu-central-1', credential: { kind: 'aws', from: 'profile' } },
      'far-vertex': { ...vertex, location: 'europe-west1', credential: metadata },
    };
  }

  const models = (): Readonly<Record<string, object>> => {
    const modelOf = (upstream: string): object => {
      if (upstream.endsWith('azure')) return { model: 'chat-prod', is: 'gpt-4.1' };
      return upstream.endsWith('bedrock') ? { model: sonnet, is: 'claude-sonnet-4-5' } : { model: 'gemini-2.5-flash' };
    };
    const own = Object.keys(upstreams()).map((upstream) => [upstream, { targets: [{ upstream, ...modelOf(upstream) }] }] as const);
    return {
      ...Object.fromEntries(own),
      'missing-azure': { targets: [{ upstream: 'azure', model: 'nothing-deployed', is: 'gpt-4.1' }] },
      'missing-bedrock': { targets: [{ upstream: 'kept-bedrock', model: 'us.anthropic.claude-not-enabled' }] },
      'missing-vertex': { targets: [{ upstream: 'vertex', model: 'gemini-3-pro' }] },
      'far-vertex': { targets: [{ upstream: 'far-vertex', model: 'claude-opus-4-6' }] },
    };
  };

  before(async () => {
    simulator = await startSimulator({
      azure: {},
      google: { models: { '*': ['gemini-2.5-flash'], 'us-east5': ['claude-opus-4-6'] } },
      clock: { nowMs },
    });
    mkdirSync(files.aws);
    writeAwsProfile();
    writeGoogleKey();
    writeFileSync(files.secret, azureTenant.clientSecret);
    weir = await serveWeir({
      command: 'gateway',
      clock,
      environment: variables(),
      config: JSON.stringify({
        upstreams: upstreams(),
        models: models(),
        secrets: { refreshSeconds: 1 },
        alerts: { checkSeconds: 1 },
        overload: neverOverloaded,
      }),
    });
  });
  after(async () => {
    await weir?.[Symbol.asyncDispose]();
    await simulator?.close();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    setAway(false);
    wrongMs = 0;
  });

  function setAway(isAway: boolean): void {
    simulator.aws.state.tokensAreDown = isAway;
    azure().identity.failingStatus = isAway ? 503 : 0;
    google().identity.failingStatus = isAway ? 503 : 0;
  }

  function throttle(calls: number): void {
    simulator.aws.state.throttledTokens = calls;
    azure().identity.throttledCalls = calls;
    google().identity.throttledCalls = calls;
  }

  const ask = (model: string): Promise<Answer> =>
    post(
      `${weir.gatewayUrl}/v1/chat/completions`,
      { model, max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] },
      { authorization: `Bearer ${weir.apiKey}` },
    );

  /** Calls these models without a pause until `end`. */
  function load(called: readonly string[]): Load {
    const seen: Seen[] = [];
    let ends = false;
    const loops = called.map(async (cloud) => {
      while (!ends) {
        const beganMs = nowMs();
        const { status, text } = await ask(cloud);
        seen.push({ cloud, beganMs, endedMs: nowMs(), status, text });
      }
    });
    return {
      called,
      seen,
      end: async () => {
        ends = true;
        await Promise.all(loops);
        return seen;
      },
    };
  }

  /** Lets the simulated time pass in steps. A call of each model ends in each of them. */
  async function pass(ms: number, { called, seen }: Load): Promise<void> {
    for (const untilMs = aheadMs + ms; aheadMs < untilMs; aheadMs += 2_000) {
      const before = seen.length;
      while (!called.every((cloud) => seen.slice(before).some((one) => one.cloud === cloud))) await delay(1);
    }
  }

  const logged = (words: RegExp): Promise<string> =>
    eventually(
      () => weir.output(),
      (output) => words.test(output),
    );

  const alerts = async (): Promise<string> =>
    (
      await runCommand(['alerts', 'list'], {
        WEIR_DATA_DIR: weir.dataDirectory,
        WEIR_CONFIG: join(weir.dataDirectory, 'weir.yaml'),
      })
    ).stdout;

  /** What the doctor says about an upstream, with a clock. */
  async function examine(upstream: string, model?: string): Promise<string> {
    const { dataDirectory } = weir;
    const environment = { ...variables(), WEIR_CONFIG: join(dataDirectory, 'weir.yaml'), WEIR_DATA_DIR: dataDirectory };
    const report = await runDoctor({
      environment: readEnvironment(environment),
      clock,
      signal: new AbortController().signal,
      upstreams: [upstream],
      checks: ['reply'],
      model,
      mayCall: true,
      timeoutMs: 10_000,
      onStep: () => {},
    });
    return JSON.stringify([report.sections, report.upstreams]);
  }

  test('token servers that are away for ten minutes, at load: no call fails before the end of its token, then each says why', async () => {
    const firstMs = nowMs();
    for (const cloud of clouds) assert.equal((await ask(cloud)).status, 200, cloud);
    const lastMs = nowMs();
    aheadMs += 53 * minuteMs;
    setAway(true);
    const calls = load(clouds);
    // Renewals begin at 55 minutes.
    await pass(5 * minuteMs, calls);
    await logged(/"upstreams":\["azure"\],"reason":"client secret: the service answers 503.*"endsAt":"20.*"renewing a credential failed"/);
    await logged(/"upstreams":\["bedrock"\],"reason":"the metadata service of the instance answered 503.*"renewing a credential failed"/);
    await logged(/"upstreams":\["vertex"\],"reason":"metadata server: it answers 503.*"renewing a credential failed"/);
    // Time goes on until each has failed three times; metadata services are asked again within each failure.
    const alertsLater = async (): Promise<string> => {
      aheadMs += 500;
      return await alerts();
    };
    await eventually(alertsLater, (listed) =>
      clouds.every((cloud) => new RegExp(`credential_unavailable.*upstream:${cloud}`).test(listed)),
    );
    await pass(5 * minuteMs, calls);
    const seen = await calls.end();
    // AWS gives the end of its keys in whole seconds.
    const good = seen.filter(({ endedMs }) => endedMs < firstMs + tokenMs - 1_000);
    const late = seen.filter(({ beganMs }) => beganMs > lastMs + tokenMs);
    assert.deepEqual(
      good.filter(({ status }) => status !== 200),
      [],
    );
    for (const cloud of clouds) {
      assert.ok(good.filter((one) => one.cloud === cloud).length > 100, `${good.length} calls before the end`);
      const refused = late.filter((one) => one.cloud === cloud);
      assert.ok(refused.length > 10, `${cloud}: ${refused.length} calls after the end`);
      for (const { status, text } of refused) {
        assert.equal(status, 503);
        assert.match(text, /no valid credential for the model service at present; try again later, or tell the operator/);
      }
    }
    await logged(/"upstreams":\["bedrock"\].*"fetching a credential failed"/);
    await eventually(alerts, (listed) =>
      /Calls to upstream bedrock fail: there is no credential for it, because the metadata service/.test(listed),
    );
    assert.match(await examine('azure'), /no credential: client secret: the service answers 503/);
    setAway(false);
    // The pause after a failure is half a minute at most.
    aheadMs += 31_000;
    for (const cloud of clouds) assert.equal((await ask(cloud)).status, 200, `${cloud} is back`);
    await eventually(alerts, (listed) => !listed.includes('upstream:'));
  });

  test('metadata services that throttle cost no call: not the first one, and not while tokens are good', async () => {
    throttle(2);
    for (const cloud of clouds) assert.equal((await ask(`new-${cloud}`)).status, 200, cloud);
    throttle(1_000_000);
    aheadMs += 56 * minuteMs;
    const calls = load(clouds.map((cloud) => `new-${cloud}`));
    await pass(2 * minuteMs, calls);
    await logged(/"new-azure".*too many requests for tokens.*"renewing a credential failed"/);
    const failed = (await calls.end()).filter(({ status }) => status !== 200);
    throttle(0);
    assert.deepEqual(failed, []);
  });

  for (const [how, ms] of [
    ['ahead', 310_000],
    ['behind', -310_000],
  ] as const)
    test(`a clock that is five minutes ${how} is named as the reason, by the log and the doctor`, async () => {
      writeGoogleKey();
      google().tokens.revoke();
      aheadMs += 2 * tokenMs;
      wrongMs = ms;
      assert.equal((await ask('azure')).status, 200, 'a client secret needs no clock');
      for (const cloud of ['bedrock', 'vertex']) {
        const answer = await ask(`kept-${cloud}`);
        assert.equal(answer.status, 503, answer.text);
        assert.equal(answer.json.error.code, 'upstream_credentials_rejected');
        const words = new RegExp(`kept-${cloud}.*the clock of this machine is wrong.*synchronize it`);
        await logged(words);
        assert.match(await examine(`kept-${cloud}`), /the clock of this machine is wrong/);
      }
    });

  const setUpFaults = [
    ['missing-azure', 'azure', 'nothing-deployed', 404, /the resource has no deployment \\*"nothing-deployed/],
    ['missing-bedrock', 'kept-bedrock', 'us.anthropic.claude-not-enabled', 403, /enable the model for the account, and give the identity/],
    ['missing-vertex', 'vertex', 'gemini-3-pro', 404, /gemini-3-pro is not available in this location and project/],
    ['far-bedrock', 'far-bedrock', sonnet, 503, /the region of the upstream and its address differ/],
    ['far-vertex', 'far-vertex', 'claude-opus-4-6', 404, /claude-opus-4-6 is not available in this location and project/],
  ] as const;
  for (const [model, upstream, upstreamModel, status, words] of setUpFaults)
    test(`${model}: the log and the doctor say what to do`, async () => {
      const answer = await ask(model);
      assert.equal(answer.status, status, answer.text);
      await logged(words);
      assert.match(await examine(upstream, upstreamModel), words);
    });

  test('credentials of clouds that are replaced and revoked under load fail no call', async () => {
    const kept = clouds.map((cloud) => `kept-${cloud}`);
    // The pause after failures is over.
    aheadMs += 31_000;
    for (const model of kept) assert.equal((await ask(model)).status, 200, model);
    // They are made before, because that blocks this process.
    const keyFiles = Array.from({ length: 3 }, () => google().createKeyFile());
    const calls = load([...kept, ...kept]);
    const countOf = (cloud: string): number => calls.seen.filter((one) => one.cloud === cloud).length;
    const someMore = async (): Promise<void> => {
      const before = new Map(kept.map((model) => [model, countOf(model)]));
      await eventually(() => kept.every((model) => countOf(model) >= (before.get(model) ?? 0) + 10), Boolean);
    };
    for (const [round, keyFile] of keyFiles.entries()) {
      await someMore();
      // A credential that was just fetched is not fetched again at its first refusal.
      aheadMs += 5_000;
      const oldKeys = profileKey;
      writeAwsProfile();
      simulator.aws.state.removeUser(oldKeys);
      replaceFile(files.keyFile, JSON.stringify(keyFile));
      for (const { private_key_id: id = '' } of keyFiles.slice(0, round)) google().identity.accountKeys.delete(id);
      google().tokens.revoke();
      const [{ secrets } = assert.fail()] = azure().identity.applications;
      const old = [...secrets];
      const issued = azure().tokens.issued();
      secrets.add(`rotated~secret-${round}`);
      replaceFile(files.secret, `rotated~secret-${round}`);
      // The new secret is in force when it has fetched a token.
      await eventually(azure().tokens.issued, (count) => count > issued);
      // Calls that began before it have ended.
      await someMore();
      aheadMs += 5_000;
      for (const secret of old) secrets.delete(secret);
      azure().tokens.revokeAll();
    }
    await someMore();
    const failed = (await calls.end()).filter(({ status }) => status !== 200);
    assert.deepEqual(failed, []);
  });
});

/** Replaces a file as a whole, so that no reader sees half of it. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.next`, text);
  renameSync(`${path}.next`, path);
}
