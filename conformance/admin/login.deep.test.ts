import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { openStoredTokens } from '../../src/main/commands/remote/stored-tokens.ts';
import { runCommand } from '../programs/run-command.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { cleanEnvironment, program, type ServedWeir } from '../support/start-weir.ts';
import { type ConsoleClient, openBrowser, signInByLink, tokenClient } from './console-client.ts';

const password = 'a passphrase for logins';
const base = mkdtempSync(join(tmpdir(), 'weir-login-'));
/** The commands and the sample of the guide, with the address of this test. */
function readGuide(consoleUrl: string, code: string) {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/remote.md'), 'utf8');
  const text = guide.replaceAll('https://weir.example', consoleUrl).replaceAll('BCDFG-HJKLM', code);
  const blocks = [...text.matchAll(/```(?:sh|text)\n([^]*?)```/g)].map(([, block = '']) => block);
  const [login = '', sample = '', commands = '', approvals = ''] = blocks;
  const lines = (block: string) =>
    block
      .trim()
      .split('\n')
      .map((line) => line.split(' ').slice(1));
  return { login: lines(login), sample, commands: lines(commands), approvals: lines(approvals) };
}

const codePattern = /[B-Z]{5}-[B-Z]{5}/;

describe('signing in other machines', () => {
  let weir: ServedWeir;
  let operator: ConsoleClient;
  let machine: ConsoleClient;
  before(async () => {
    weir = await serveWeir({ environment: { WEIR_CONSOLE_PORT: '0' }, monitor: false });
    operator = await signInByLink(weir.consoleUrl, weir.consoleLink);
    assert.equal((await operator.send('PUT', '/api/v1/session/password', { password })).status, 204);
    machine = openBrowser(weir.consoleUrl);
  });
  after(async () => {
    await weir[Symbol.asyncDispose]();
    rmSync(base, { recursive: true, force: true });
  });

  /** Begins a sign-in as a machine does: without cookies, and not from a page. */
  async function begin(body: Readonly<Record<string, unknown>> = {}) {
    const begun = await machine.send('POST', '/api/v1/device_sign_ins', { client_name: 'ann@laptop', ...body });
    assert.equal(begun.status, 201, begun.text);
    return { deviceCode: String(begun.body['device_code']), userCode: String(begun.body['user_code']), body: begun.body };
  }
  const poll = (deviceCode: string) => machine.send('POST', '/api/v1/device_sign_ins/token', { device_code: deviceCode });
  const approve = (by: ConsoleClient, userCode: string, body: object = {}, headers = {}) =>
    by.send('POST', `/api/v1/device_sign_ins/${userCode}/approve`, body, headers);
  async function signInPerson(name: string, role: string): Promise<ConsoleClient> {
    const made = await operator.send('POST', '/api/v1/people', { name, role });
    const link = await operator.send('POST', `/api/v1/people/${String(made.body['id'])}/link`);
    return await signInByLink(weir.consoleUrl, String(link.body['url']));
  }

  test('a person sees who asks from where, approves, and the machine gets a token that does just that, once', async () => {
    const { deviceCode, userCode, body } = await begin({ permissions: ['audit:read'], lasts_s: 3600 });
    assert.equal(body['verification_uri_complete'], `${weir.consoleUrl}/#device=${userCode}`);
    assert.deepEqual([body['expires_in'], body['interval']], [600, 2]);
    assert.deepEqual((await poll(deviceCode)).body['code'], 'authorization_pending');
    assert.deepEqual((await poll(deviceCode)).body['code'], 'slow_down');
    const shown = await operator.send('GET', `/api/v1/device_sign_ins/${userCode.toLowerCase()}`);
    const { client_name, address, permissions, state } = shown.body;
    assert.deepEqual([client_name, address, permissions, state], ['ann@laptop', '127.0.0.1', ['audit:read'], 'waiting']);
    assert.equal((await approve(operator, userCode)).body['state'], 'granted');
    assert.deepEqual((await approve(operator, userCode)).body['code'], 'conflict');
    const fetched = await poll(deviceCode);
    assert.deepEqual([fetched.status, fetched.body['token_type'], fetched.body['expires_in']], [200, 'Bearer', 3600]);
    assert.equal((await poll(deviceCode)).body['code'], 'expired_token');
    const token = tokenClient(weir.consoleUrl, String(fetched.body['access_token']));
    assert.equal((await token.send('GET', '/api/v1/audit')).status, 200);
    assert.equal((await token.send('GET', '/api/v1/keys')).body['permission'], 'keys:read');
    const listed = (await operator.send('GET', '/api/v1/admin_tokens')).text;
    assert.match(listed, /"name":"ann@laptop"/);
    const rows = (await operator.send('GET', '/api/v1/audit?limit=2')).body['items'] as { action: string; actor: string }[];
    assert.deepEqual(
      rows.map(({ action, actor }) => `${action} ${actor}`),
      ['admin_tokens.create person:operator', 'device_sign_ins.approve person:operator'],
    );
    assert.equal((await token.send('DELETE', '/api/v1/admin_tokens/current')).status, 204);
    assert.equal((await token.send('GET', '/api/v1/audit')).status, 401);
    assert.equal((await operator.send('DELETE', '/api/v1/admin_tokens/current')).status, 404);
  });

  test('a viewer gives a machine what a viewer may do, and no more', async () => {
    const viewer = await signInPerson('Vic', 'viewer');
    const { deviceCode, userCode } = await begin({ permissions: ['people:write', 'usage:read'] });
    const refused = await approve(viewer, userCode, { permissions: ['people:write'] });
    assert.deepEqual([refused.status, refused.body['code']], [403, 'permission_required']);
    assert.deepEqual((await approve(viewer, userCode)).body['permissions'], ['usage:read']);
    const token = tokenClient(weir.consoleUrl, String((await poll(deviceCode)).body['access_token']));
    assert.deepEqual((await token.send('GET', '/api/v1/session')).body['permissions'], ['usage:read']);
    // A token must not make others that outlive it.
    const next = await begin();
    const byToken = await approve(token, next.userCode);
    assert.deepEqual([byToken.status, byToken.body['code']], [403, 'permission_required']);
    assert.equal((await token.send('GET', `/api/v1/device_sign_ins/${next.userCode}`)).status, 403);
    const people = (await operator.send('GET', '/api/v1/people')).body['items'] as { id: string; name: string }[];
    const { id } = people.find(({ name }) => name === 'Vic') ?? assert.fail();
    assert.equal((await operator.send('DELETE', `/api/v1/people/${id}`, undefined, { 'if-match': '*' })).status, 204);
    assert.equal((await token.send('GET', '/api/v1/session')).status, 401, 'the token ends with the person');
  });

  test('another site approves nothing, nobody approves without a session, and a refusal is final', async () => {
    const { deviceCode, userCode } = await begin();
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }])
      assert.equal((await approve(operator, userCode, {}, headers)).body['code'], 'cross_origin');
    assert.equal((await approve(openBrowser(weir.consoleUrl), userCode)).status, 401);
    assert.equal((await operator.send('POST', `/api/v1/device_sign_ins/${userCode}/deny`)).status, 204);
    assert.equal((await poll(deviceCode)).body['code'], 'access_denied');
    assert.equal((await poll(deviceCode)).body['code'], 'expired_token');
    assert.equal((await approve(operator, userCode)).status, 404);
  });

  test('guessing user codes is slowed down to a try a minute, and does not lock the person out', async () => {
    const guesser = await signInPerson('Gus', 'finance');
    const { userCode } = await begin();
    for (let index = 0; index < 10; index += 1) assert.equal((await approve(guesser, 'XXXXX-XXXXX')).status, 404);
    const limited = await approve(guesser, userCode);
    assert.deepEqual([limited.status, limited.headers.get('retry-after')], [429, '60']);
    assert.equal((await operator.send('GET', `/api/v1/device_sign_ins/${userCode}`)).status, 200);
    const browser = openBrowser(weir.consoleUrl);
    assert.equal((await browser.send('POST', '/api/v1/session', { name: 'operator', password })).status, 201);
  });

  /** Environment of a machine that has nothing but its own configuration. */
  const away = (name: string) => ({ WEIR_DATA_DIR: join(base, 'none'), XDG_CONFIG_HOME: join(base, name) });

  /** A login in a process of its own, because it waits; `code` is what it shows. */
  async function startLogin(name: string, ...words: readonly string[]) {
    const child = spawn(process.execPath, [program, 'login', weir.consoleUrl, ...words], {
      env: cleanEnvironment(away(name)),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => void (printed += text));
    const ended = once(child, 'close') as Promise<[number | null]>;
    while (!codePattern.test(printed) && child.exitCode === null) await once(child.stderr, 'data');
    return {
      code: codePattern.exec(printed)?.[0] ?? assert.fail(printed),
      kill: () => void child.kill('SIGINT'),
      finish: async () => ({ code: (await ended)[0], printed }),
    };
  }
  const onConsole = { WEIR_CONSOLE_PORT: 'off' };
  const storedBy = (name: string) => openStoredTokens({ variable: (variable) => ({ XDG_CONFIG_HOME: join(base, name) })[variable] });

  test('weir login waits for weir console approve, keeps its token for itself, and commands use it until weir logout', async () => {
    const login = await startLogin('laptop', '--expires', '1h');
    const { pathOf } = storedBy('laptop');
    const path = pathOf(new URL(weir.consoleUrl));
    const own = { WEIR_DATA_DIR: weir.dataDirectory, ...onConsole };
    const guide = readGuide(weir.consoleUrl, login.code);
    assert.deepEqual(guide.login, [['login', weir.consoleUrl]]);
    const [approval = [], denial = []] = guide.approvals;
    assert.deepEqual(denial, [...approval, '--deny']);
    const unsure = await runCommand(approval, own);
    assert.match(unsure.stderr, /address +127\.0\.0\.1\n.*permissions.*\n.*\n.*add --yes or --deny/);
    assert.equal(existsSync(path), false);
    assert.equal((await runCommand([...approval, '--yes'], own)).code, 0);
    const { code, printed } = await login.finish();
    assert.equal(code, 0, printed);
    const steady = (text: string) => text.replaceAll(/ as .*, until .*/g, ' as <name>, until <time>');
    assert.equal(steady(printed), steady(guide.sample));
    assert.doesNotMatch(printed, /at-weir-/);
    assert.deepEqual([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777], [0o600, 0o700]);
    const [audit = [], keys = [], list = [], logout = []] = guide.commands;
    assert.match((await runCommand(audit, away('laptop'))).stdout, /cli:.* admin_tokens\.create/);
    assert.equal((await runCommand(keys, away('laptop'))).code, 0);
    const asJson = await runCommand([...list, '--json'], away('laptop'));
    const [listed] = JSON.parse(asJson.stdout) as { address: string; name: string }[];
    assert.equal(listed?.address, weir.consoleUrl);
    assert.ok(listed?.name.endsWith(`@${hostname()}`), listed?.name);
    assert.doesNotMatch(asJson.stdout, /at-weir-/);
    const { token } = storedBy('laptop').read(new URL(weir.consoleUrl)) ?? assert.fail();
    const out = await runCommand(logout, away('laptop'));
    assert.match(out.stderr, /^signed out at http/);
    assert.equal(existsSync(path), false);
    assert.equal((await tokenClient(weir.consoleUrl, token).send('GET', '/api/v1/session')).status, 401);
    assert.match((await runCommand(['audit', 'list', '--remote'], away('laptop'))).stderr, /no console is stored/);
  });

  test('a second login ends the token of the first one; a token that was ended elsewhere asks for a new login', async () => {
    const tokens: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const login = await startLogin('twice', '--name', 'twice@pc');
      await approve(operator, login.code);
      assert.equal((await login.finish()).code, 0);
      tokens.push(storedBy('twice').read(new URL(weir.consoleUrl))?.token ?? '');
    }
    const [first = '', second = ''] = tokens;
    assert.equal((await tokenClient(weir.consoleUrl, first).send('GET', '/api/v1/session')).status, 401);
    assert.equal((await tokenClient(weir.consoleUrl, second).send('DELETE', '/api/v1/admin_tokens/current')).status, 204);
    const ended = await runCommand(['keys', 'list', '--remote'], away('twice'));
    assert.match(ended.stderr, /has ended: sign in again with weir login http/);
    assert.match((await runCommand(['logout'], away('twice'))).stderr, /^signed out/);
  });

  test('a refusal and Ctrl-C end a login at once and store nothing', async () => {
    const [refused, left] = [await startLogin('refused'), await startLogin('left')];
    left.kill();
    assert.match((await left.finish()).printed, /not signed in: interrupted/);
    const deny = await runCommand(['console', 'approve', refused.code, '--deny'], { WEIR_DATA_DIR: weir.dataDirectory, ...onConsole });
    assert.match(deny.stderr, /refused\n$/);
    const { code, printed } = await refused.finish();
    assert.equal(code, 1);
    assert.match(printed, /the sign-in was refused/);
    for (const name of ['refused', 'left']) assert.deepEqual(readdirSync(join(base, name, 'weir', 'consoles')), [], name);
    const unknown = await runCommand(['console', 'approve', refused.code], { WEIR_DATA_DIR: weir.dataDirectory, ...onConsole });
    assert.match(unknown.stderr, /no machine waits with this code/);
  });

  test('a file that others can read or that is damaged is not used, is listed with its problem, and logout removes it', async () => {
    const { deviceCode, userCode } = await begin({ client_name: 'shared@pc' });
    await approve(operator, userCode);
    const { body } = await poll(deviceCode);
    const { id, name, expires_at } = body['token'] as { id: string; name: string; expires_at: string };
    const address = new URL(weir.consoleUrl);
    const tokens = storedBy('shared');
    tokens.write(address, { token: String(body['access_token']), id, name, expires_at });
    chmodSync(tokens.pathOf(address), 0o644);
    const used = await runCommand(['keys', 'list', '--remote'], away('shared'));
    assert.match(used.stderr, /others may read or write/);
    assert.match((await runCommand(['login', '--list'], away('shared'))).stdout, /others may read or write/);
    assert.match((await runCommand(['logout'], away('shared'))).stderr, /^signed out/);
    assert.equal((await tokenClient(weir.consoleUrl, String(body['access_token'])).send('GET', '/api/v1/session')).status, 401);
    writeFileSync(tokens.pathOf(address), '{"addr', { mode: 0o600 });
    assert.match((await runCommand(['keys', 'list', '--remote'], away('shared'))).stderr, /is damaged .*weir logout/);
    assert.match((await runCommand(['logout', weir.consoleUrl], away('shared'))).stderr, /without a readable token/);
    assert.match((await runCommand(['logout', weir.consoleUrl], away('shared'))).stderr, /is not signed in at/);
  });

  test('a token goes to no other address, also not by a redirect, and stays if the console cannot end it', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const other = createServer((request, response) => {
      seen.push(request.headers);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    const redirecting = createServer((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${(other.address() as AddressInfo).port}/api/v1/keys` }).end();
    }).listen(0, '127.0.0.1');
    try {
      await Promise.all([once(other, 'listening'), once(redirecting, 'listening')].map((listening) => listening.catch(() => undefined)));
      const addressOf = (server: typeof other) => new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const { deviceCode, userCode } = await begin({ client_name: 'moved@pc' });
      await approve(operator, userCode);
      const { body } = await poll(deviceCode);
      const { id, name, expires_at } = body['token'] as { id: string; name: string; expires_at: string };
      const tokens = storedBy('moved');
      tokens.write(addressOf(redirecting), { token: String(body['access_token']), id, name, expires_at });
      assert.match((await runCommand(['keys', 'list', '--remote'], away('moved'))).stderr, /does not answer/);
      assert.match((await runCommand(['keys', 'list', '--remote', addressOf(other).href], away('moved'))).stderr, /there is no token for/);
      assert.match((await runCommand(['logout'], away('moved'))).stderr, /still signed in .*--forget/);
      assert.match(readFileSync(tokens.pathOf(addressOf(redirecting)), 'utf8'), /at-weir-/);
      assert.match((await runCommand(['logout', '--forget'], away('moved'))).stderr, /works until it expires/);
      assert.deepEqual(seen, []);
    } finally {
      other.close();
      redirecting.close();
    }
  });

  test('a login names what is wrong before anybody is asked to approve', async () => {
    const login = (...words: string[]) => runCommand(['login', ...words], away('wrong'));
    assert.match((await login()).stderr, /name the address of the console/);
    assert.match((await login('http://10.0.0.5:8082')).stderr, /must be an https address/);
    assert.match((await login(weir.consoleUrl, '--expires', '91d')).stderr, /at most 90d/);
    assert.match((await login(weir.consoleUrl, '--permission', 'everything')).stderr, /is not a permission; these are/);
    assert.match((await login(weir.consoleUrl, '--name', 'a\u202Eb')).stderr, /may contain only letters/);
    assert.match((await login('http://127.0.0.1:1')).stderr, /does not answer/);
  });
});
