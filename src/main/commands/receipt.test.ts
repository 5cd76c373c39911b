import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { Command } from 'commander';

import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { loadShippedPriceBook } from '../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import { readEnvironment, StartError } from '../environment.ts';
import { openDatabase } from '../assembly/open-data-directory.ts';
import { addReceiptCommands } from './receipt.ts';

const book = createPriceBook({ book: loadShippedPriceBook() });
const call = {
  callId: 'req_1',
  acceptedAtMs: Date.UTC(2026, 10, 22),
  userName: 'alice',
  keyId: 'key_1',
  keyName: 'ci',
  dialect: 'anthropic-messages',
  requestedModel: 'claude-sonnet-4-5',
  upstream: 'anthropic',
  vendor: 'anthropic',
  upstreamModel: 'claude-sonnet-4-5',
  stream: true,
  inputCharacters: 12,
  usage: { inputTokens: 1234, outputTokens: 56 },
};
const entry: CallEntry = {
  ...call,
  priceVersion: book.version,
  end: 'client-left',
  upstreamStatus: 200,
  estimated: true,
  durationMs: 420,
  firstByteMs: 31,
  charge: book.rate(call),
  heldNanoUsd: '9000000',
  failedAttempts: [
    { upstream: 'other', credential: 'c', upstreamModel: 'm', upstreamStatus: 503, errorCode: 'upstream_error', durationMs: 7 },
  ],
  disconnect: { policy: 'abort', leftAfterMs: 400, deliveredCharacters: 200, upstreamEndedAfterMs: 410, usageReported: false },
  replyNotes: [{ kind: 'dropped', field: 'seed', reason: 'the upstream has no such field' }],
};

/** A data directory with one call in its ledger, and functions that run commands on it. */
async function setUp(context: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'weir-receipts-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const store = await openDatabase(readEnvironment({ WEIR_DATA_DIR: directory }));
  await store.appendEntries([entry]);
  await store.close();
  const output = context.mock.method(console, 'log', () => {});
  const notices = context.mock.method(console, 'error', () => {});
  const environment = readEnvironment({ WEIR_DATA_DIR: directory });
  const run = async (...words: readonly string[]) => {
    output.mock.resetCalls();
    notices.mock.resetCalls();
    const before = process.exitCode;
    process.exitCode = 0;
    const program = new Command().exitOverride();
    addReceiptCommands(program, environment, () => environment);
    await program.parseAsync(['receipt', ...words], { from: 'user' });
    const code = process.exitCode;
    process.exitCode = before;
    const join = (calls: readonly { readonly arguments: readonly unknown[] }[]): string =>
      calls.map((each) => each.arguments.join(' ')).join('\n');
    return { code, printed: join(output.mock.calls), notice: join(notices.mock.calls) };
  };
  const verify = (text: string, ...options: readonly string[]) => {
    const file = join(directory, 'receipt.json');
    writeFileSync(file, text);
    return run('verify', file, ...options);
  };
  return { run, verify };
}

test('a receipt shows people every part of its total', async (context) => {
  const { run } = await setUp(context);
  const { printed } = await run('req_1');
  for (const words of [
    'Receipt of req_1',
    'ci of alice',
    'claude-sonnet-4-5 (anthropic-messages, stream)',
    'failed attempt at other/m: upstream_error 503',
    'the client disconnected after 400 ms; policy abort, 200 characters delivered',
    'estimated: reply broken off',
    'dropped seed: the upstream has no such field',
    'Total 0.004542 USD (4542000 nano-USD); 0.009 USD had been held; estimated',
  ])
    assert.ok(printed.includes(words), `${words} in\n${printed}`);
  assert.match(printed, /^ {4}input +1234 +3 per 1000000 +0\.003702$/m);
});

test('verify accepts a receipt that was printed as JSON, with and without prices, and refuses a changed amount', async (context) => {
  const { run, verify } = await setUp(context);
  const { printed } = await run('req_1', '--json');
  assert.deepEqual([(await verify(printed)).code, (await verify(printed, '--prices')).code], [0, 0]);
  const changed = await verify(printed.replace('"nano_usd": "4542000"', '"nano_usd": "4542001"'));
  assert.deepEqual([changed.code, /rows\.0\.amount\.nano_usd: is "4542001"/.test(changed.notice)], [1, true]);
  const otherVersion = await verify(printed.replaceAll(book.version, 'other'), '--prices');
  assert.equal(otherVersion.code, 1);
});

test('a file that cannot be read, or is not a receipt, has its own exit code', async (context) => {
  const { run, verify } = await setUp(context);
  assert.equal((await verify('{}')).code, 2);
  assert.equal((await verify('nothing')).code, 2);
  assert.equal((await run('verify', '/nowhere/receipt.json')).code, 2);
});

test('an id that is not in the ledger is refused, and so is the id of a row of a call', async (context) => {
  const { run } = await setUp(context);
  for (const id of ['req_2', 'req_1.2', '%']) await assert.rejects(run(id), StartError);
});
