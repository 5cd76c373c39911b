import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { startSimulator } from 'weir-simulator';

import { call, eventually } from '../support/http.ts';
import { askApi } from './ask-api.ts';
import { findChromium } from './find-chromium.ts';
import { assertNoBarrier, openPages, type Pages } from './open-pages.ts';
import { type ServedConsole, serveConsole } from './serve-console.ts';

const chromiumPath = findChromium();

type Secret = {
  readonly kind: string;
  readonly name: string;
  readonly origin: string;
  readonly age_s: number | null;
  readonly problem: string | null;
};

describe(
  'secrets of upstreams in the console',
  { skip: chromiumPath === undefined ? 'there is no Chromium on this machine' : false },
  () => {
    let weir: ServedConsole;
    let pages: Pages;
    const opened = new AsyncDisposableStack();
    const directory = mkdtempSync(join(tmpdir(), 'weir-console-secrets-'));
    const file = join(directory, 'key');
    const reference = 'vault:secret/weir/openai#key';

    before(async () => {
      opened.defer(() => rmSync(directory, { recursive: true, force: true }));
      const simulator = await startSimulator({ vault: true });
      opened.defer(() => simulator.close());
      const { vault } = simulator;
      assert.ok(vault);
      vault.write('secret/weir/openai', { key: 'sk-of-the-vault-0123456789' });
      writeFileSync(file, 'sk-of-the-file-0123456789');
      const baseUrl = simulator.addresses.openai;
      const config = {
        upstreams: {
          vaulted: { vendor: 'openai', baseUrl, apiKey: `\${${reference}}` },
          filed: { vendor: 'openai', baseUrl, apiKey: `\${file:${file}}` },
          missing: { vendor: 'openai', baseUrl, apiKey: `\${file:${file}.none}` },
          plain: { vendor: 'openai', baseUrl, apiKey: 'sk-plain-0123456789' },
        },
        secrets: { waitSeconds: 1, vault: { address: vault.url, login: { kind: 'token', token: vault.addToken({}) } } },
      };
      weir = opened.use(
        await serveConsole({
          config: Object.entries(config)
            .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
            .join(''),
          environment: { WEIR_METRICS_PORT: '0' },
        }),
      );
      pages = opened.use(await openPages(chromiumPath ?? '', weir.consoleUrl));
      await pages.page.goto(weir.consoleLink);
      await pages.page.getByRole('heading', { name: 'Overview' }).waitFor();
    });
    after(() => opened.disposeAsync());

    test('the API has the age of each secret, its store and the login to it, as the metrics have it', async () => {
      const secretsOf = async (name: string): Promise<readonly Secret[]> =>
        (await askApi(pages.context, 'GET', `/upstreams/${name}`))['secrets'] as readonly Secret[];
      const vaulted = await eventually(
        () => secretsOf('vaulted'),
        (secrets) => secrets.length === 2,
      );
      assert.deepEqual(
        vaulted.map(({ kind, name, problem }) => [kind, name, problem]),
        [
          ['secret', reference, null],
          ['login', 'Vault', null],
        ],
      );
      assert.ok(vaulted.every(({ age_s: age }) => age !== null && age < 60));
      const [filed] = await secretsOf('filed');
      assert.deepEqual([filed?.name, filed?.origin], [`file:${file}`, 'file']);
      const [missing] = await secretsOf('missing');
      assert.equal(missing?.age_s, null);
      assert.match(missing?.problem ?? '', /cannot be read \(ENOENT\)/);
      assert.deepEqual(await secretsOf('plain'), []);
      const { text } = await call(weir.metricsUrl);
      assert.match(text, /^weir_credential_age_seconds\{kind="secret",name="vault:secret\/weir\/openai#key"\} [0-9.]+$/m);
    });

    test('the pages show it, and no value', async () => {
      const { page } = pages;
      await page.goto('/upstreams');
      await page.getByRole('link', { name: 'missing' }).waitFor();
      await page.getByText('never', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'vaulted' }).click();
      const table = page.getByRole('table', { name: 'Secrets and credentials' });
      await table.getByText(reference).waitFor();
      await table.getByText('login to the store').waitFor();
      await table.getByText('● read').first().waitFor();
      assert.ok(!(await page.content()).includes('sk-of-the-vault'));
      await assertNoBarrier(pages, weir.consoleUrl, '/upstreams/vaulted');
      await page.goto('/upstreams/missing');
      await page.getByText('▲ cannot be read').waitFor();
      await page.getByText(/the file cannot be read \(ENOENT\)/).waitFor();
      await page.goto('/upstreams/plain');
      await page.getByRole('heading', { name: 'Settings in force' }).waitFor();
      assert.equal(await page.getByRole('heading', { name: 'Secrets and credentials' }).count(), 0);
    });
  },
);
