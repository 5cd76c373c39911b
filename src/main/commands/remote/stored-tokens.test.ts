import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';

import { generateSecret } from '../../../accounts/api-key-format.ts';
import { chooseConsole, onlyAddress } from './choose-console.ts';
import { readAddress } from './read-address.ts';
import { openStoredTokens } from './stored-tokens.ts';

const base = mkdtempSync(join(tmpdir(), 'weir-tokens-'));
after(() => rmSync(base, { recursive: true, force: true }));

let homes = 0;
function newHome(variables: Readonly<Record<string, string>> = {}) {
  homes += 1;
  const home = join(base, `home-${homes}`);
  const environment = { variable: (name: string) => ({ XDG_CONFIG_HOME: home, ...variables })[name] };
  return { home, environment, tokens: openStoredTokens(environment) };
}

const address = readAddress('https://Console.Example:443/');
const { id, secret } = generateSecret('at-weir', (size) => new Uint8Array(size).fill(7));
const stored = { token: secret, id, name: 'ann@laptop', expires_at: '2999-01-01T00:00:00.000Z' };
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('tokens of logins', () => {
  test('a token is read back for every spelling of its address, and for no other address', () => {
    const { tokens } = newHome();
    assert.deepEqual(tokens.addresses(), []);
    assert.equal(tokens.read(address), undefined);
    tokens.write(address, stored);
    assert.deepEqual(tokens.read(readAddress('https://console.example')), { address: 'https://console.example', ...stored });
    for (const other of ['https://console.example:8443', 'http://localhost', 'https://console.example/weir', 'https://example'])
      assert.equal(tokens.read(readAddress(other)), undefined, other);
    tokens.write(readAddress('https://console.example/weir/'), stored);
    assert.deepEqual(tokens.addresses(), ['https://console.example', 'https://console.example/weir']);
  });

  test('only the owner can read file and folder, whatever the umask is, and nothing else is left behind', () => {
    const umask = process.umask(0);
    try {
      const { tokens } = newHome();
      tokens.write(address, stored);
      tokens.write(address, { ...stored, name: 'second' });
      const path = tokens.pathOf(address);
      assert.deepEqual([modeOf(path), modeOf(dirname(path))], [0o600, 0o700]);
      assert.deepEqual(readdirSync(dirname(path)), ['https%3A%2F%2Fconsole.example.json']);
      assert.equal(tokens.read(address)?.name, 'second');
    } finally {
      process.umask(umask);
    }
  });

  test('a file that others may read or write is refused, and read only to end its token', () => {
    for (const mode of [0o604, 0o620, 0o640, 0o666]) {
      const { tokens } = newHome();
      tokens.write(address, stored);
      chmodSync(tokens.pathOf(address), mode);
      assert.throws(() => tokens.read(address), /others may read or write .*weir logout https:\/\/console\.example/, mode.toString(8));
      assert.equal(tokens.read(address, { evenIfShared: true })?.token, secret);
    }
  });

  test('a folder that others may enter is refused before anything is written', () => {
    const { home, tokens } = newHome();
    mkdirSync(join(home, 'weir', 'consoles'), { recursive: true });
    chmodSync(join(home, 'weir', 'consoles'), 0o755);
    assert.throws(() => tokens.prepare(), /must be a folder that only its owner may enter: chmod 700/);
    assert.throws(() => tokens.write(address, stored), /chmod 700/);
    assert.deepEqual(readdirSync(join(home, 'weir', 'consoles')), []);
  });

  test('a link, a folder, half a file, a changed token and the file of another address are named as damaged', () => {
    const { tokens, home } = newHome();
    tokens.write(address, stored);
    const path = tokens.pathOf(address);
    const whole = readFileSync(path, 'utf8');
    const elsewhere = join(home, 'elsewhere.json');
    writeFileSync(elsewhere, whole, { mode: 0o600 });
    const broken: readonly (() => void)[] = [
      () => writeFileSync(path, whole.slice(0, 40)),
      () => writeFileSync(path, ''),
      () => writeFileSync(path, 'null'),
      () => writeFileSync(path, whole.replace(secret, `${secret.slice(0, -1)}_`)),
      () => writeFileSync(path, whole.replace('https://console.example', 'https://evil.example')),
      () => writeFileSync(path, 'x'.repeat(70_000)),
      () => symlinkSync(elsewhere, path),
      () => mkdirSync(path),
    ];
    for (const [index, damage] of broken.entries()) {
      rmSync(path, { force: true, recursive: true });
      if (index < 6) writeFileSync(path, whole, { mode: 0o600 });
      damage();
      assert.throws(() => tokens.read(address), { name: 'StartError' }, String(index));
    }
    assert.equal(readFileSync(elsewhere, 'utf8'), whole);
  });

  test('--remote takes the stored token of the address; the variable comes before it, and never goes to a guessed address', () => {
    const { tokens, environment, home } = newHome();
    assert.throws(() => chooseConsole(environment, true), /no console is stored/);
    assert.throws(() => chooseConsole(environment, 'https://console.example'), /weir login https:\/\/console\.example/);
    tokens.write(address, stored);
    for (const remote of [true, 'https://console.example/'] as const) {
      const chosen = chooseConsole(environment, remote);
      assert.deepEqual([chosen.address.href, chosen.token, chosen.isStored], ['https://console.example/', secret, true]);
    }
    const withVariable = { variable: (name: string) => ({ XDG_CONFIG_HOME: home, WEIR_ADMIN_TOKEN: 'at-weir-mine' })[name] };
    assert.equal(chooseConsole(withVariable, 'https://console.example').token, 'at-weir-mine');
    assert.throws(() => chooseConsole(withVariable, true), /--remote needs the address/);
    tokens.write(readAddress('http://127.0.0.1:8082'), stored);
    assert.throws(() => chooseConsole(environment, true), /several consoles .*http:\/\/127\.0\.0\.1:8082, https:\/\/console\.example/);
    tokens.write(address, { ...stored, expires_at: '2020-01-01T00:00:00.000Z' });
    assert.throws(() => chooseConsole(environment, 'https://console.example'), /ended at 2020.*weir login/);
  });

  test('an address is https, or http on this machine, without user, query or fragment', () => {
    for (const wrong of [
      'console.example',
      'http://console.example',
      'ftp://x',
      'ann',
      '',
      'https://ann@x',
      'https://x/?a=1',
      'https://x/#in=y',
    ])
      assert.throws(() => readAddress(wrong), { name: 'StartError' }, wrong);
    assert.equal(onlyAddress(['http://localhost:8082']).href, 'http://localhost:8082/');
  });

  test('a relative XDG_CONFIG_HOME does not count, as its specification says', () => {
    const { tokens } = newHome({ XDG_CONFIG_HOME: 'relative', HOME: '/home/ann' });
    assert.equal(tokens.pathOf(address), '/home/ann/.config/weir/consoles/https%3A%2F%2Fconsole.example.json');
  });
});
