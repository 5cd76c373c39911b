import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { Command } from 'commander';

import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { buildPriceBook } from '../config/build-price-book.ts';
import { loadConfig } from '../config/load-config.ts';
import { plainEntry } from '../../billing/rating/testing/price-book-kit.ts';
import { systemClock } from '../../platform/clock.ts';
import { readEnvironment } from '../environment.ts';
import { openDatabase } from '../assembly/open-data-directory.ts';
import { addPriceCommands } from './prices.ts';

const bookText = (version: string, ...entries: Record<string, unknown>[]): string => JSON.stringify({ version, currency: 'USD', entries });
const dayMs = 86_400_000;
const dayFromNow = (days: number): string => new Date(systemClock.nowMs() + days * dayMs).toISOString().slice(0, 10);

/** Stops the clock, so that no midnight passes between a test's computation and the command. */
const stopClock = (context: TestContext): void => context.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 22, 12) });

/** A data directory with calls of two users and a price file, and functions that run commands on it. */
async function setUp(context: TestContext, config = 'prices: { file: own.json }\n') {
  stopClock(context);
  const directory = mkdtempSync(join(tmpdir(), 'weir-stage-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'own.json'), bookText('ours-1', plainEntry()));
  writeFileSync(join(directory, 'weir.yaml'), config);
  const increased = { tiers: [{ inputAbove: 0, prices: { input: '3', output: '10' } }] };
  writeFileSync(join(directory, 'new.json'), bookText('ours-2', plainEntry(increased)));
  const environment = readEnvironment({ WEIR_DATA_DIR: directory, WEIR_CONFIG: join(directory, 'weir.yaml') });
  const store = await openDatabase(environment);
  await store.appendEntries([
    callOf('req_1', 'alice', 1),
    callOf('req_2', 'alice', 29),
    callOf('req_3', 'bob\u001b[2J', 2),
    callOf('req_4', 'alice', 31),
    callOf('req_5', 'alice', 1, { end: 'failed', charge: { amountNanoUsd: 0n, lines: [] } }),
  ]);
  await store.close();
  const output = context.mock.method(console, 'log', () => {});
  const run = async (...words: readonly string[]): Promise<string> => {
    output.mock.resetCalls();
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    addPriceCommands(program, () => environment);
    await program.parseAsync(['prices', ...words.map((word) => (word.endsWith('.json') ? join(directory, word) : word))], { from: 'user' });
    return output.mock.calls.map((call) => call.arguments.join(' ')).join('\n');
  };
  const costAt = (atMs: number): bigint => {
    const { config: read, priceBookData } = loadConfig(environment.configPath, environment);
    return buildPriceBook(read, priceBookData).rate({ ...callOf('req_x', 'alice', 0), acceptedAtMs: atMs }).amountNanoUsd;
  };
  return { directory, run, costAt };
}

function callOf(callId: string, userName: string, daysAgo: number, more: Partial<CallEntry> = {}): CallEntry {
  return {
    callId,
    acceptedAtMs: systemClock.nowMs() - daysAgo * dayMs,
    userName,
    keyId: `key_${userName}`,
    keyName: 'ci',
    dialect: 'openai-chat',
    requestedModel: 'm-1',
    upstream: 'acme',
    vendor: 'acme',
    upstreamModel: 'm-1',
    stream: false,
    inputCharacters: 1,
    priceVersion: 'v',
    end: 'finished',
    upstreamStatus: 200,
    usage: { inputTokens: 1_000_000 },
    estimated: false,
    durationMs: 1,
    charge: { amountNanoUsd: 2_000_000_000n, lines: [{ meter: 'input', quantity: 1_000_000, unitPrice: '2', per: 1_000_000 }] },
    ...more,
  };
}

test('stage lists past charges and charges under the staged prices for the requested days, and names cannot control the terminal', async (context) => {
  const { run, directory } = await setUp(context);
  const before = readFileSync(join(directory, 'own.json'), 'utf8');
  const printed = await run('stage', 'new.json');
  assert.match(printed, /^USER +CALLS +BOOKED +IN FORCE +STAGED +BY THE FILE +%$/m);
  assert.match(printed, /^alice +2 +4 +4 +6 +\+2 +\+50$/m);
  assert.match(printed, /^bob\ufffd\[2J +1 +2 +2 +3 +\+1 +\+50$/m);
  assert.match(printed, /^total +3 +6 +6 +9 +\+3 +\+50$/m);
  assert.match(await run('stage', 'new.json', '--days', '40', '--by', 'model', '--from', dayFromNow(9)), /^m-1 +4 +8 +8 +12 +\+4 +\+50$/m);
  assert.match(await run('stage', 'own.json', '--by', 'key'), /^alice \/ ci \(key_alice\) +2 +4 +4 +4 +0 +0$/m);
  const json = JSON.parse(await run('stage', 'new.json', '--json')) as { total: unknown };
  assert.deepEqual(json.total, {
    name: 'total',
    calls: 3,
    booked_usd: '6',
    in_force_usd: '6',
    staged_usd: '9',
    effect_usd: '3',
    other_changes_usd: '0',
  });
  assert.equal(readFileSync(join(directory, 'own.json'), 'utf8'), before);
});

test('stage says that calls cannot be read if there is no database', async (context) => {
  const { run, directory } = await setUp(context);
  for (const file of readdirSync(directory).filter((name) => name.startsWith('weir.sqlite'))) rmSync(join(directory, file));
  await assert.rejects(run('stage', 'new.json'), /^StartError: the calls of the database cannot be read: unable to open database file$/);
});

test('stage and publish refuse invalid options and write nothing', async (context) => {
  const { run, directory } = await setUp(context);
  const before = readFileSync(join(directory, 'own.json'), 'utf8');
  await assert.rejects(run('stage', 'new.json', '--by', 'colour'), /--by must be one of user, key, model/);
  await assert.rejects(run('stage', 'new.json', '--days', '0'), /--days must be/);
  await assert.rejects(run('stage', 'new.json', '--from', '2026-02-30'), /--from must be a day/);
  await assert.rejects(run('publish', 'new.json', '--from', dayFromNow(-1)), /is in the past/);
  await assert.rejects(run('publish', 'absent.json', '--from', dayFromNow(1)), /cannot be read/);
  await assert.rejects(run('publish', 'new.json'), /--from/);
  await assert.rejects(
    run('publish', 'new.json', '--from', dayFromNow(1), '--output', 'own.json', '--note', 'x'),
    /--output writes a file/,
  );
  assert.match(await run('history'), /No price book is published/);
  assert.equal(readFileSync(join(directory, 'own.json'), 'utf8'), before);
});

test('publish --output writes the prices before and after the day, and keeps the previous file', async (context) => {
  const { run, directory, costAt } = await setUp(context);
  const before = readFileSync(join(directory, 'own.json'), 'utf8');
  const from = dayFromNow(3);
  assert.match(
    await run('publish', 'new.json', '--from', from, '--output', 'own.json'),
    /own\.json: 1 models have new prices from .*; the previous file is .*own\.json\.before$/,
  );
  assert.equal(readFileSync(join(directory, 'own.json.before'), 'utf8'), before);
  assert.equal(costAt(systemClock.nowMs()), 2_000_000_000n);
  assert.equal(costAt(Date.parse(`${from}T00:00:00Z`) - 1), 2_000_000_000n);
  assert.equal(costAt(Date.parse(`${from}T00:00:00Z`)), 3_000_000_000n);
  assert.equal((JSON.parse(readFileSync(join(directory, 'own.json'), 'utf8')) as { entries: unknown[] }).entries.length, 2);
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.includes('draft')),
    [],
  );
});

test('publish --output creates a file that does not exist, and the file is valid', async (context) => {
  const { run, directory } = await setUp(context, 'upstreams: {}\n');
  assert.match(
    await run('publish', 'new.json', '--from', dayFromNow(1), '--output', 'made.json'),
    /gateways use it when prices\.file names it$/,
  );
  assert.match(await run('check', 'made.json'), /good: 1 models, 1 entries/);
  assert.ok(!readdirSync(directory).includes('made.json.before'));
});

test('publish --output keeps unchanged models in a file that replaces the shipped book', async (context) => {
  const { run, directory } = await setUp(context, 'prices: own.json\n');
  writeFileSync(join(directory, 'own.json'), bookText('ours-1', plainEntry(), plainEntry({ model: 'm-2' })));
  await run('publish', 'new.json', '--from', dayFromNow(1), '--output', 'own.json');
  const { entries } = JSON.parse(readFileSync(join(directory, 'own.json'), 'utf8')) as { entries: { model: string }[] };
  assert.deepEqual(
    entries.map(({ model }) => model),
    ['m-1', 'm-2', 'm-1'],
  );
});
