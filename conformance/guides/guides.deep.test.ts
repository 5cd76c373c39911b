import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { type RunningSimulator, startSimulator } from 'weir-simulator';

import { permissions } from '../../src/accounts/people/permissions.ts';
import { signInByLink } from '../admin/console-client.ts';
import { serveWeir } from '../support/serve-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';
import { checkConfiguration, type Program, runPrograms, writePrograms } from './check-examples.ts';
import { type Block, readPage } from './read-page.ts';
import { isRun, type PageSurroundings, runPage } from './run-page.ts';
import { type ServedCommands, serveCommands } from './serve-commands.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'docs/guide');
const paths = [
  join(root, 'README.md'),
  ...readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
];
const pages = new Map(paths.map((path) => [path, readPage(readFileSync(path, 'utf8'))]));

/** Languages whose blocks are run or checked, and those that readers do not type. */
const languages = new Set(['sh', 'ts', 'yaml', 'mermaid', 'http']);

describe('pages that people read', () => {
  const base = mkdtempSync(join(tmpdir(), 'weir-guides-'));
  const programs: Program[] = [];
  let weir: ServedWeir;
  let commands: ServedCommands;
  let adminToken = '';
  let clouds: RunningSimulator;

  before(async () => {
    weir = await serveWeir({ environment: { WEIR_METRICS_PORT: '0', WEIR_CONSOLE_PORT: '0' } });
    adminToken = await makeAdminToken(weir);
    commands = await serveCommands(base);
    clouds = await startSimulator({ google: { models: { '*': ['gemini-2.5-flash'] } } });
    await bookCall(weir);
  });

  after(async () => {
    await commands[Symbol.asyncDispose]();
    await weir[Symbol.asyncDispose]();
    await clouds.close();
    rmSync(base, { recursive: true, force: true });
  });

  function surround(path: string): PageSurroundings {
    const nextYear = new Date().getUTCFullYear() + 1;
    return {
      directory: join(base, basename(path, '.md')),
      replacements: [
        ['http://127.0.0.1:8080', weir.gatewayUrl],
        ['http://127.0.0.1:8081', weir.monitorUrl],
        ['http://127.0.0.1:8082', weir.consoleUrl],
        ['http://127.0.0.1:9464/metrics', weir.metricsUrl],
        ['sk-weir-…', weir.apiKey],
        ['bt-weir-…', weir.billingToken],
        ['at-weir-…', adminToken],
        // A future day, whenever this runs.
        ['2030-01-01', `${nextYear}-01-01`],
        ...(cloudsOf[basename(path)]?.(clouds, base).replacements ?? []),
      ],
      environment: {
        WEIR_DATA_DIR: weir.dataDirectory,
        WEIR_CONSOLE_PORT: '8082',
        WEIR_LOG_LEVEL: 'warn',
        ...cloudsOf[basename(path)]?.(clouds, base).environment,
      },
      prelude: commands.shellFunction,
    };
  }

  for (const [path, page] of pages) {
    const name = basename(path);
    test(`${name}: its commands run in an empty directory and print what the page shows`, async () => {
      assert.deepEqual(await runPage(page, surround(path)), []);
    });

    test(`${name}: its parts of weir.yaml are valid together`, async () => {
      assert.equal(await checkConfiguration(page, join(base, basename(path, '.md'))), undefined);
    });

    test(`${name}: each block is tested, or has a reason why not`, () => {
      assert.deepEqual(
        page.filter((block, place) => !isAccountedFor(name, block, page[place - 1])).map(({ line }) => `${name}:${line}`),
        [],
      );
    });
  }

  test('programs in TypeScript do what the pages say', async () => {
    for (const [path, page] of pages) programs.push(...(await writePrograms(page, surround(path))));
    const environment = { WEIR: weir.gatewayUrl, KEY: weir.apiKey };
    await runPrograms(programs, { base, nodeModules: join(root, 'node_modules'), environment });
  });
});

type CloudPage = Pick<PageSurroundings, 'replacements' | 'environment'>;

/** The simulated cloud behind the commands of a page, and a credential where the tools of the cloud look for one. */
const cloudsOf: Readonly<Record<string, (clouds: RunningSimulator, directory: string) => CloudPage>> = {
  'bedrock.md': ({ aws }) => {
    const { accessKeyId, secretAccessKey } = aws.state.addUser();
    return {
      replacements: [['vendor: bedrock, region: eu-central-1', `vendor: bedrock, baseUrl: "${aws.runtimeUrl}", region: us-east-1`]],
      environment: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    };
  },
  'vertex.md': ({ google }, directory) => {
    assert.ok(google);
    const keyFile = join(directory, 'google-key.json');
    writeFileSync(keyFile, JSON.stringify(google.createKeyFile()));
    return {
      replacements: [['vendor: vertex, project: acme', `vendor: vertex, baseUrl: "${google.vertexUrl}", project: ${google.project}`]],
      environment: { GOOGLE_APPLICATION_CREDENTIALS: keyFile },
    };
  },
};

/** An admin token for the pages about the admin API. */
async function makeAdminToken({ consoleUrl, consoleLink }: ServedWeir): Promise<string> {
  const operator = await signInByLink(consoleUrl, consoleLink);
  const wanted = permissions.filter((permission) => permission !== 'content:read');
  return String((await operator.send('POST', '/api/v1/admin_tokens', { name: 'guide', permissions: wanted })).body['secret']);
}

/** Makes a call and waits until the statistics have it: some pages show usage. */
async function bookCall(weir: ServedWeir): Promise<void> {
  const post = async (url: string, headers: Readonly<Record<string, string>>, body: object): Promise<string> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
    return await (await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) })).text();
  };
  const messages = [{ role: 'user', content: 'Hello' }];
  const call = { model: 'claude-sonnet-4-5', max_tokens: 100, messages };
  await post(`${weir.gatewayUrl}/v1/messages`, { 'x-api-key': weir.apiKey, 'anthropic-version': '2023-06-01' }, call);
  const now = Math.floor(Date.now() / 1000);
  const question = { type: 3, startTime: now - 3600, endTime: now + 3600 };
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await post(`${weir.monitorUrl}/bill/stats`, { token: weir.billingToken }, question);
    if (answer.includes('claude-sonnet-4-5')) return;
    await setTimeout(50);
  }
  throw new Error('the call never reached the statistics');
}

/** @param before the block above it: a sample is compared only below commands that are run */
function isAccountedFor(page: string, { language, marker }: Block, before: Block | undefined): boolean {
  if (marker?.type === 'not run') return marker.value.split(' ').length >= 3;
  if (marker?.type === 'run by')
    return existsSync(join(root, marker.value)) && readFileSync(join(root, marker.value), 'utf8').includes(page);
  if (language === 'text') return before !== undefined && isRun(before);
  return marker?.type === 'file' || languages.has(language);
}
