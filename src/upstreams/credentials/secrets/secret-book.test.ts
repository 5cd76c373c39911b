import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { TokenRequest } from '../token-client.ts';
import { createSecretBook } from './secret-book.ts';
import { parseSecretReference } from './secret-reference.ts';

const reference = 'file:/run/secrets/key';
const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 5));

/** A book over files and a Vault that the test plays. Time passes only when the test says so. */
function openBook(options: { readonly tickMs?: number } = {}) {
  let nowMs = 1_000_000;
  const files = new Map<string, string>();
  const told: string[] = [];
  const asked: TokenRequest[] = [];
  let reply: () => { readonly status: number; readonly body: object } = () => ({ status: 404, body: { errors: [] } });
  const book = createSecretBook({
    tickMs: options.tickMs ?? 1,
    means: {
      ask: (request) => {
        asked.push(request);
        const { status, body } = reply();
        return Promise.resolve({ status, headers: {}, body: JSON.stringify(body) });
      },
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      variable: () => undefined,
      homeDirectory: '/home/weir',
      readFile: (path) => {
        const text = files.get(path);
        return text === undefined ? Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' })) : Promise.resolve(text);
      },
      run: () => Promise.reject(new Error('no command')),
    },
    onFailure: (name, reason) => told.push(`failed ${name}: ${reason}`),
    onRecovery: (name) => told.push(`recovered ${name}`),
    onChange: (name) => told.push(`changed ${name}`),
  });
  return {
    book,
    files,
    told,
    asked,
    advance: (ms: number) => void (nowMs += ms),
    answer: (next: typeof reply) => void (reply = next),
    wait: () => book.wait([reference], 100, new AbortController().signal),
  };
}

const refusalOf = (text: string): string => {
  const parsed = parseSecretReference(text);
  return typeof parsed === 'string' ? parsed : '';
};

describe('references to secrets', () => {
  test('have a kind, a place and, where a secret has members, one of them', () => {
    for (const [text, place, member] of [
      ['file:/run/secrets/x', '/run/secrets/x', undefined],
      ['vault:secret/weir/openai#key', 'secret/weir/openai', 'key'],
      ['aws-sm:arn:aws:secretsmanager:eu-west-1:1:secret:weir-AbC#key', 'arn:aws:secretsmanager:eu-west-1:1:secret:weir-AbC', 'key'],
      ['gcp-sm:projects/acme/secrets/openai/versions/3', 'projects/acme/secrets/openai/versions/3', undefined],
      ['azure-kv:acme-vault/openai', 'acme-vault/openai', undefined],
    ] as const) {
      const parsed = parseSecretReference(text);
      assert.ok(typeof parsed === 'object', text);
      assert.deepEqual([parsed.text, parsed.place, parsed.member], [text, place, member]);
    }
  });

  test('of another form are refused with an example', () => {
    assert.match(refusalOf('valt:a/b#c'), /no kind of secret "valt"; there are file, vault, aws-sm, gcp-sm, azure-kv/);
    assert.match(refusalOf('file:relative'), /\$\{file:\/run\/secrets\/openai\}": the path begins with \//);
    assert.match(refusalOf('vault:secret/weir'), /the name of the key within the secret follows a #/);
    for (const bad of ['gcp-sm:openai', 'azure-kv:openai', 'aws-sm:', 'vault:/a/b#c'])
      assert.match(refusalOf(bad), /must have the form/, bad);
  });
});

describe('the secrets of a configuration', () => {
  test('are at hand after the first reading, and read again in the background', async () => {
    const { book, files, told, advance, wait } = openBook();
    files.set('/run/secrets/key', 'first\n');
    book.use([reference], {});
    await wait();
    assert.equal(book.find(reference), 'first');
    const before = book.version();
    files.set('/run/secrets/key', 'second');
    advance(1_000);
    await settle();
    await settle();
    assert.equal(book.find(reference), 'second');
    assert.notEqual(book.version(), before);
    assert.deepEqual(told, [`changed ${reference}`]);
    assert.equal(book.sourceOf('second'), book.sourceOf(`\${${reference}}`));
    assert.equal(book.sourceOf('first'), undefined);
    await book.close();
  });

  test('keep their last value while they cannot be read, however long, and each outage is reported once', async () => {
    const { book, files, told, advance, wait } = openBook();
    files.set('/run/secrets/key', 'kept');
    book.use([reference], {});
    await wait();
    files.clear();
    for (let minute = 0; minute < 30; minute += 1) {
      advance(60_000);
      await settle();
      assert.equal(book.find(reference), 'kept');
    }
    const [state] = book.describe().secrets;
    assert.ok((state?.failure?.inARow ?? 0) > 3);
    assert.equal(state?.fetchedAtMs, 1_000_000);
    files.set('/run/secrets/key', 'kept');
    advance(60_000);
    await settle();
    await settle();
    assert.deepEqual(told, [`failed ${reference}: file: the file cannot be read (ENOENT)`, `recovered ${reference}`]);
    await book.close();
  });

  test('that are missing are an error that names the reference, and the wait for them has a limit', async () => {
    const { book, wait } = openBook();
    book.use([reference], {});
    await wait();
    assert.throws(() => book.find(reference), /^CredentialError: the secret "\$\{file:\/run\/secrets\/key\}" cannot be read: .*ENOENT/);
    assert.throws(() => book.find('file:/other'), /has not been read yet/);
    await book.close();
  });

  test('a refusal ends the wait at once, because waiting does not help', async () => {
    const { book, answer } = openBook({ tickMs: 1000 });
    answer(() => ({ status: 403, body: { errors: ['permission denied'] } }));
    book.use(['vault:secret/a#b'], { vault: { address: 'http://vault', login: { kind: 'token', token: 'secret-token' } } });
    await book.wait(['vault:secret/a#b'], 60_000, new AbortController().signal);
    assert.throws(
      () => book.find('vault:secret/a#b'),
      (error: Error) => /capabilities = \["read"\]/.test(error.message) && !error.message.includes('secret-token'),
    );
    await book.close();
  });

  test('a key that the vendor refuses is read again at once, and rarely if it is the same one', async () => {
    const { book, files, advance, wait } = openBook({ tickMs: 100_000 });
    files.set('/run/secrets/key', 'old');
    book.use([reference], {});
    await wait();
    const source = book.sourceOf('old');
    assert.ok(source);
    files.set('/run/secrets/key', 'new');
    advance(1_000);
    source.refused('old');
    assert.equal(await source.current(new AbortController().signal), 'new');
    assert.equal(book.find(reference), 'new');
    await book.close();
  });

  test('what nothing refers to any longer is not read, and not described', async () => {
    const { book, files, asked, advance, wait } = openBook();
    files.set('/run/secrets/key', 'value');
    book.use([reference, 'vault:secret/a#b'], { vault: { address: 'http://vault', login: { kind: 'token', token: 't' } } });
    await wait();
    await settle();
    assert.ok(asked.length > 0);
    book.use([reference], {});
    const count = asked.length;
    advance(600_000);
    await settle();
    assert.equal(asked.length, count);
    assert.deepEqual(
      book.describe().secrets.map((secret) => secret.reference),
      [reference],
    );
    await book.close();
  });
});
