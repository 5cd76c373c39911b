import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { Command } from 'commander';

import { plainEntry } from '../../billing/rating/testing/price-book-kit.ts';
import { readEnvironment } from '../environment.ts';
import { addPriceCommands } from './prices.ts';

const book = (...entries: Record<string, unknown>[]): string => JSON.stringify({ version: 'ours', currency: 'USD', entries });

/** Runs commands in a directory with these files. Each returns its output. */
function setUp(context: TestContext, files: Readonly<Record<string, string>>, config?: string) {
  const directory = mkdtempSync(join(tmpdir(), 'weir-prices-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ ...files, ...(config === undefined ? {} : { 'weir.yaml': config }) }))
    writeFileSync(join(directory, name), text);
  const output = context.mock.method(console, 'log', () => {});
  const notices = context.mock.method(console, 'error', () => {});
  const environment = readEnvironment({
    WEIR_DATA_DIR: directory,
    ...(config === undefined ? {} : { WEIR_CONFIG: join(directory, 'weir.yaml') }),
  });
  return async (...words: readonly string[]): Promise<{ readonly printed: string; readonly notice: string }> => {
    output.mock.resetCalls();
    notices.mock.resetCalls();
    const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
    addPriceCommands(program, () => environment);
    await program.parseAsync(['prices', ...words.map((word) => (word in files ? join(directory, word) : word))], { from: 'user' });
    const textOf = (calls: readonly { readonly arguments: readonly unknown[] }[]): string =>
      calls.map((call) => call.arguments.join(' ')).join('\n');
    return { printed: textOf(output.mock.calls), notice: textOf(notices.mock.calls) };
  };
}

test('list filters by vendor, model and day, and shows tiers and all parts of a price', async (context) => {
  const prices = setUp(context, {});
  const { printed } = await prices('list', '--vendor', 'anthropic', '--model', 'sonnet-4-5');
  assert.match(printed, /^VENDOR +MODEL +SINCE +INPUT +CACHED +WRITE +OUTPUT +BESIDES +CHECKED +SOURCE$/m);
  assert.match(
    printed,
    /^anthropic +claude-sonnet-4-5 +2025-09-29 +3 +0\.3 +3\.75\/6 +15 +web_search 0\.01, batch ×0\.5, regional_endpoint ×1\.1 +2026-07-29 +shipped$/m,
  );
  assert.match(printed, /^ +above 200000 input +6 +0\.6 +7\.5\/12 +22\.5$/m);
  const luna = async (...words: string[]) =>
    (await prices('list', '--model', 'luna', ...words)).printed.split('\n').filter((line) => line.startsWith('openai'));
  assert.deepEqual(
    (await luna('--at', '2026-07-29')).map((line) => line.split(/ +/)[2]),
    ['2026-07-09'],
  );
  assert.deepEqual(
    (await luna('--at', '2026-07-30')).map((line) => line.split(/ +/)[2]),
    ['2026-07-30'],
  );
  assert.equal((await luna('--at', 'all')).length, 2);
  assert.equal((await luna('--at', '2020-01-01')).length, 0);
  await assert.rejects(luna('--at', 'tomorrow'), /--at must be a day .*; got "tomorrow"/);
  const json = JSON.parse((await prices('list', '--model', 'grok-imagine-video-1.5', '--json')).printed) as { media: unknown }[];
  assert.deepEqual(
    json.map(({ media }) => media),
    [{ videoSecond: { '480p': '0.14', '720p': '0.14', '1080p': '0.25' }, inputImage: '0.01' }],
  );
  assert.match((await prices('list', '--model', 'opus-4-6')).printed, /us_inference ×1\.1, fast ×6/);
});

test('check summarises a valid file, and refuses an invalid file with every problem', async (context) => {
  const bad = book(plainEntry({ effectiveFrom: '2026-13-01' }), plainEntry({ fees: { call: '-1' } }));
  const prices = setUp(context, {
    'good.json': book(plainEntry()),
    'bad.json': bad,
    'good.yaml':
      'version: y\ncurrency: USD\nentries:\n  - {vendor: a, model: m, displayName: M, effectiveFrom: "2026-01-01", fees: {call: "1"}, source: s, checked: "2026-01-01"}\n',
    'torn.json': '{"version":',
    'twice.yaml': 'version: a\nversion: b\n',
  });
  assert.match((await prices('check', 'good.json')).printed, /^The price book is good: 1 models, 1 entries, version ours\+[0-9a-f]{8}\.$/);
  assert.match((await prices('check', 'good.yaml')).printed, /good: 1 models/);
  await assert.rejects(
    prices('check', 'bad.json'),
    /bad\.json cannot be used:\n {2}\/entries\/0\/effectiveFrom.*\n {2}\/entries\/1\/fees\/call/,
  );
  await assert.rejects(prices('check', 'torn.json'), /torn\.json cannot be used/);
  await assert.rejects(prices('check', 'twice.yaml'), /unique/);
  await assert.rejects(prices('check', 'absent.json'), /absent\.json cannot be read: ENOENT/);
});

test('diff compares two files, a file with the book in force, and the shipped book', async (context) => {
  const config = 'prices: { file: own.json }\n';
  const files = {
    'own.json': book(plainEntry()),
    'new.json': book(plainEntry({ tiers: [{ inputAbove: 0, prices: { input: '3', output: '10' } }] })),
  };
  const prices = setUp(context, files, config);
  assert.match((await prices('diff', 'own.json', 'new.json')).printed, /^acme\/m-1@2026-01-01 +tiers\.0\.prices\.input +2 +3$/m);
  assert.equal((await prices('diff', 'own.json', 'own.json')).printed, 'No price differs.');
  assert.match((await prices('diff', 'new.json')).printed, /^ENTRY.*\nacme\/m-1@2026-01-01 +tiers\.0\.prices\.input +2 +3$/);
  assert.match((await prices('diff', 'new.json', '--whole')).printed, /openai\/gpt-5@2025-08-07 +entry +input 1\.25, output 10 +-/);
  const changes = JSON.parse((await prices('diff', 'shipped', '--json')).printed) as unknown[];
  assert.deepEqual(
    changes,
    [{ entry: 'acme/m-1@2026-01-01', member: '', before: 'input 2, output 10' }],
    'the book in force is the shipped one with ours on top',
  );
});

test('export writes the book in force', async (context) => {
  const prices = setUp(context, { 'own.yaml': book(plainEntry()) }, 'prices: { file: own.yaml, mode: replace }\n');
  const exported = JSON.parse((await prices('export')).printed) as { entries: { model: string }[] };
  assert.deepEqual(
    exported.entries.map(({ model }) => model),
    ['m-1'],
  );
});

test('import converts the list of another program, and names what it leaves out', async (context) => {
  const lite = {
    'gpt-x': { litellm_provider: 'openai', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6, output_cost_per_widget: 1 },
  };
  const prices = setUp(context, {
    'lite.json': JSON.stringify(lite),
    'other.json': '{}',
    'bad.json': '{',
    'absurd.json': JSON.stringify({ model_ratio: { ['m'.repeat(200)]: 1 } }),
  });
  const { printed, notice } = await prices('import', 'lite.json', '--since', '2026-01-02');
  const made = JSON.parse(printed) as { entries: { effectiveFrom: string; tiers: unknown }[] };
  assert.deepEqual(made.entries[0]?.tiers, [{ inputAbove: 0, prices: { output: '2', input: '1' } }]);
  assert.equal(made.entries[0]?.effectiveFrom, '2026-01-02');
  assert.match(notice, /^1 entries were read as litellm\. Not imported:\n {2}gpt-x: output_cost_per_widget$/);
  await assert.rejects(prices('import', 'other.json'), /give --format with one of litellm, genai-prices, new-api/);
  await assert.rejects(prices('import', 'other.json', '--format', 'csv'), /give --format/);
  await assert.rejects(prices('import', 'other.json', '--format', 'new-api'), /has no price of a known model \(read as new-api\)/);
  await assert.rejects(prices('import', 'bad.json'), /cannot be read as JSON/);
  await assert.rejects(prices('import', 'absurd.json'), /absurd\.json do not make a valid price book/);
  await assert.rejects(prices('import', 'lite.json', '--since', 'soon'), /not make a valid price book/);
});
