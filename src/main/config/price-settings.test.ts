import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { plainEntry } from '../../billing/rating/testing/price-book-kit.ts';
import { formatCredits } from '../../billing/rating/format-credits.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLiveSettings } from './live-settings.ts';
import { ConfigError } from './config-error.ts';

const book = (...entries: Record<string, unknown>[]): string => JSON.stringify({ version: 'ours', currency: 'USD', entries });
const upstream = 'upstreams: { one: { vendor: openai-compatible, baseUrl: "http://h:1", discoverModels: false } }\n';
const priced = (input: string) =>
  book(plainEntry({ vendor: 'openai', model: 'gpt-5', tiers: [{ inputAbove: 0, prices: { input, output: '1' } }] }));

function open(context: TestContext, config: string, prices = priced('7')) {
  const directory = mkdtempSync(join(tmpdir(), 'weir-price-settings-'));
  const write = (text: string, name: string): void => writeFileSync(join(directory, name), text);
  write(prices, 'prices.json');
  write(upstream + config, 'weir.yaml');
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  const live = createLiveSettings({
    path: join(directory, 'weir.yaml'),
    variable: () => undefined,
    simulated: undefined,
    clock: systemClock,
    logger: quiet,
    pollMs: 86_400_000,
  });
  context.after(() => live.close());
  return { live, write, priceBook: () => live.settings().routing.priceBook };
}

const call = (requestedModel: string, more: object = {}) => ({
  vendor: 'openai',
  upstreamModel: requestedModel,
  requestedModel,
  acceptedAtMs: Date.UTC(2026, 10, 22),
  usage: { inputTokens: 1000 },
  ...more,
});

test('prices.file takes precedence over the shipped book, and replaces it with replace or as a path alone', (context) => {
  const amounts = (config: string) => {
    const { priceBook } = open(context, config);
    return ['gpt-5', 'gpt-5-mini'].map((model) => priceBook().rate(call(model)).amountNanoUsd / 1000n);
  };
  assert.deepEqual(amounts('prices: { file: prices.json }\n'), [7000n, 250n]);
  assert.deepEqual(amounts('prices: { file: prices.json, mode: replace }\n'), [7000n, 0n]);
  assert.deepEqual(amounts('prices: prices.json\n'), [7000n, 0n]);
  assert.deepEqual(amounts(''), [1250n, 250n]);
});

test('factors, the unit of credits and the rule for models without a price come from the configuration', (context) => {
  const { priceBook } = open(
    context,
    'prices: { unlisted: refuse, users: { alice: "0.5" }, keys: { key_1: "3" }, credits: { perUsd: "1000" } }\n',
  );
  const book_ = priceBook();
  assert.equal(book_.rate(call('gpt-5', { userName: 'alice', keyId: 'key_1' })).amountNanoUsd, 1_875_000n);
  assert.equal(book_.unlisted, 'refuse');
  assert.ok(book_.credits !== undefined);
  assert.equal(formatCredits(1_250_000n, book_.credits), '1.25 credits');
  assert.deepEqual([open(context, '').priceBook().unlisted, open(context, '').priceBook().credits], ['free', undefined]);
});

test('problems of prices have their position', (context) => {
  const faults: readonly (readonly [config: string, prices: string, words: RegExp])[] = [
    ['prices: { users: { alice: "-1" } }\n', priced('1'), /prices\.users\.alice/],
    ['prices: { mode: add }\n', priced('1'), /prices\.mode/],
    ['prices: { files: a }\n', priced('1'), /files/],
    ['prices: { credits: { perUsd: "0" } }\n', priced('1'), /perUsd/],
    ['prices: { file: absent.yaml }\n', priced('1'), /absent\.yaml: it cannot be read/],
    ['prices: { file: prices.json }\n', priced('-1'), /prices\.json: The price book cannot be used.*\/entries\/0\/tiers\/0\/prices\/input/],
  ];
  for (const [config, prices, words] of faults) {
    assert.throws(
      () => open(context, config, prices),
      (error) => error instanceof ConfigError && words.test(error.message),
      config,
    );
  }
});

test('M13 a price edit creates a new book; calls that began before keep the old one; an invalid edit changes nothing', (context) => {
  const { live, write, priceBook } = open(context, 'prices: { file: prices.json }\n');
  const admitted = Array.from({ length: 1000 }, (_, index) => ({
    book: priceBook(),
    call: call('gpt-5', { usage: { inputTokens: index } }),
  }));
  const held = admitted.map(
    ({ book: pinned, call: { usage, ...plan } }) => pinned.bound({ ...plan, expected: usage, most: usage }).maximumNanoUsd,
  );
  const before = priceBook().version;
  write(priced('700'), 'prices.json');
  assert.equal(live.reload(), true);
  assert.notEqual(priceBook().version, before);
  for (const [index, { book: pinned, call: made }] of admitted.entries()) {
    const { amountNanoUsd } = pinned.rate(made);
    assert.equal(amountNanoUsd, BigInt(index) * 7000n);
    assert.ok(amountNanoUsd <= (held[index] ?? 0n));
  }
  const good = priceBook();
  write(priced('-1'), 'prices.json');
  assert.equal(live.reload(), false);
  assert.equal(priceBook(), good);
});
