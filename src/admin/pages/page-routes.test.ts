import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import type { FastifyInstance } from 'fastify';

import { createAdmin } from '../server/create-admin.ts';
import { openConsoleFiles } from './console-files.ts';
import { quietOptions } from '../testing/quiet-options.ts';

const html = '<html lang="en" data-theme="system" data-session="perhaps"><head></head><body></body></html>';

describe('pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-pages-'));
  let app: FastifyInstance;

  /** Writes files as a build does. */
  function build(script: string): void {
    mkdirSync(join(folder, 'dist/assets'), { recursive: true });
    const files = {
      'index.html': html,
      'assets/app-1.js': script,
      'assets/app-1.js.br': `br ${script}`,
      'assets/app-1.js.gz': `gz ${script}`,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'dist', name), text);
    const script1 = { type: 'text/javascript', bytes: 1, br: 1, gz: 1 };
    writeFileSync(
      join(folder, 'dist/manifest.json'),
      JSON.stringify({ files: { '/index.html': { type: 'text/html' }, '/assets/app-1.js': script1 } }),
    );
  }
  before(async () => {
    writeFileSync(join(folder, 'secret.svg'), 'secret');
    app = await createAdmin({
      operations: [],
      services: {},
      ...quietOptions,
      pages: openConsoleFiles(pathToFileURL(join(folder, 'dist/'))),
    });
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });
  const get = (url: string, headers: Readonly<Record<string, string>> = {}) =>
    app.inject({ method: 'GET', url, headers: { host: '127.0.0.1:8082', accept: 'text/html', 'sec-fetch-site': 'none', ...headers } });

  test('before the pages are built, the address says what to run, and afterwards it shows them', async () => {
    const missing = await get('/');
    assert.equal(missing.statusCode, 503);
    assert.match(missing.body, /npm run console:build/);
    build('one');
    assert.equal((await get('/')).statusCode, 200);
  });

  test('every address that a browser opens shows the console, and the API keeps its refusals', async () => {
    assert.equal((await get('/calls/req_1')).statusCode, 200);
    assert.equal((await get('/models/gpt-4.1')).statusCode, 200);
    for (const path of ['/api/v1/nothing', '/problems/nothing', '/oidc/nothing'])
      assert.equal((await get(path)).json<{ code: string }>().code, 'unknown_path', path);
    assert.equal((await get('/calls', { accept: 'application/json' })).statusCode, 404);
    assert.equal((await get('/', { host: 'evil.example' })).statusCode, 421);
  });

  test('a page has a policy without inline scripts, and a new nonce each time', async () => {
    const [one, other] = [await get('/'), await get('/')];
    const policy = String(one.headers['content-security-policy']);
    const [, nonce = ''] = /style-src 'self' 'nonce-([^']+)'/.exec(policy) ?? [];
    assert.match(policy, /default-src 'none'; script-src 'self';/);
    assert.match(policy, /frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(Buffer.from(nonce, 'base64').length, 16);
    assert.ok(one.body.includes(nonce));
    assert.notEqual(other.headers['content-security-policy'], policy);
    assert.equal(one.headers['cache-control'], 'no-store');
  });

  test('the page knows the theme, and whether there may be a session', async () => {
    assert.match((await get('/', { cookie: 'weir_theme=dark' })).body, /data-theme="dark" data-session="none"/);
    assert.match((await get('/', { cookie: 'weir_theme="><script>; weir_session=x' })).body, /data-theme="system" data-session="perhaps"/);
    const fromElsewhere = await get('/', { 'sec-fetch-site': 'cross-site' });
    assert.match(fromElsewhere.body, /data-session="perhaps"/, 'the cookie is not sent after a link on another site');
  });

  test('files are sent in the smallest form that the client reads, and are kept', async () => {
    const forms = [
      ['br, gzip', 'br', 'br one'],
      ['gzip, br;q=0', 'gzip', 'gz one'],
      ['', undefined, 'one'],
    ] as const;
    for (const [accepted, encoding, body] of forms) {
      const answer = await get('/assets/app-1.js', { 'accept-encoding': accepted });
      assert.deepEqual([answer.headers['content-encoding'], answer.body], [encoding, body]);
      assert.match(String(answer.headers['cache-control']), /immutable/);
    }
  });

  test('no path leads out of the folder', async () => {
    for (const path of [
      '/assets/../secret.svg',
      '/assets/%2e%2e/secret.svg',
      '/assets/..%2fsecret.svg',
      '/secret.svg',
      '/assets/manifest.json',
    ]) {
      const answer = await get(path);
      assert.ok(answer.statusCode === 404 || answer.statusCode === 400, `${path}: ${answer.statusCode}`);
      assert.ok(!answer.body.includes('secret'), path);
    }
  });
});
