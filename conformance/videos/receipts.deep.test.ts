import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../support/http.ts';
import { startVideosBench, type VideosBench } from './start-videos-bench.ts';
import { steerJob } from './task-books.ts';

const picture = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const remix = { video: 'https://files.example/in.mp4' };

type Line = { readonly quantity: number; readonly unit_price_usd: string; readonly per: number };

/** The sum of a receipt's lines, in nano-USD. */
const sumOf = (lines: readonly Line[]): number =>
  lines.reduce((sum, { quantity, unit_price_usd: price, per }) => sum + Math.round((quantity * Number(price) * 1e9) / per), 0);

/**
 * By the shipped price book: 480p costs $0.05 a second, 720p $0.07, and each image $0.002. The simulated vendor counts
 * an unreadable input as 5 s of 480p.
 */
const rows: readonly (readonly [name: string, body: object, held: string, charged: string])[] = [
  ['from words', { duration: 5 }, '0.25', '0.25'],
  ['from words, 720p', { duration: 3, metadata: { resolution: '720p' } }, '0.21', '0.21'],
  ['from a picture', { duration: 2, image: picture }, '0.102', '0.102'],
  ['from three pictures', { duration: 2, images: [picture, picture, picture] }, '0.106', '0.106'],
  ['a remix: the hold is for its longest and largest result', { metadata: remix }, '0.609', '0.35'],
];

describe('holds and costs of videos', () => {
  let bench: VideosBench;
  before(async () => {
    bench = await startVideosBench({ prices: { credits: { name: 'points', perUsd: '1000' } } });
  });
  after(() => bench[Symbol.asyncDispose]());

  const receiptOf = async (id: string) => (await bench.ask('GET', `/videos/${id}/receipt`)).json;
  const closed = (id: string) =>
    eventually(
      () => receiptOf(id),
      ({ state, charged }) => state !== 'held' && charged !== null,
      60_000,
    );

  test('every row is held in full, and settled by the delivered video', async () => {
    const created = await Promise.all(
      rows.map(async ([name, body, held, charged]) => ({
        name,
        held,
        charged,
        id: await bench.make({ prompt: name, ...body }, { headers: { 'x-simulator-video': 'end=never' } }),
      })),
    );
    for (const { id, name, held } of created) {
      const receipt = await receiptOf(id);
      assert.deepEqual([receipt.state, receipt.held.amount_usd, receipt.charged, receipt.settled_at], ['held', held, null, null], name);
    }
    for (const { name } of created) await steerJob(bench.simulator, name, 'end=done');
    for (const { id, name, held, charged } of created) {
      const receipt = await closed(id);
      assert.deepEqual([receipt.state, receipt.held.amount_usd, receipt.charged.amount_usd], ['settled', held, charged], name);
      assert.equal(sumOf(receipt.charged.lines), Math.round(Number(charged) * 1e9), name);
      assert.equal(receipt.charged.estimated, false, name);
      const points = (usd: string): string => String(Math.round(Number(usd) * 1000));
      assert.deepEqual([receipt.held.credits, receipt.charged.credits], [points(held), points(charged)], name);
      assert.deepEqual(receipt.credit_unit, { name: 'points', per_usd: '1000' });
      assert.equal(receipt.receipt.credits.total, points(charged), name);
      assert.match(receipt.charged.price_id, /^xai\/grok-imagine-video@/, name);
    }
  });

  test('a failure releases the hold; a video that moderation withheld is charged, as by the vendor', async () => {
    const [failed, moderated] = await Promise.all(
      ['end=failed', 'end=moderated'].map((end) => bench.make({ duration: 4 }, { headers: { 'x-simulator-video': `ms=100;${end}` } })),
    );
    const released = await closed(failed ?? '');
    assert.deepEqual(
      [released.state, released.held.amount_usd, released.charged.amount_usd, released.charged.lines],
      ['released', '0.2', '0', []],
    );
    const billed = await closed(moderated ?? '');
    assert.deepEqual([billed.status, billed.state, billed.charged.amount_usd], ['failed', 'settled', '0.2']);
  });

  test('models: the list has the possible requests of each, with the prices of the book', async () => {
    const { json } = await bench.ask('GET', '/videos/models');
    const models = new Map<string, { readonly prices: object; readonly modes: readonly string[]; readonly duration_seconds: object }>(
      json.data.map((model: { id: string }) => [model.id, model]),
    );
    for (const name of ['vendor-imagine-video', 'grok-imagine-video']) {
      const model = models.get(name);
      assert.ok(model, `${name} is among ${[...models.keys()].join(', ')}`);
      const { version, ...prices } = model.prices as { readonly version: string };
      assert.deepEqual(prices, { currency: 'USD', per_second: { '480p': '0.05', '720p': '0.07' }, per_input_image: '0.002' });
      assert.ok(version.length > 0);
      assert.deepEqual(model.duration_seconds, { min: 1, max: 15, default: 5 });
      for (const mode of ['text', 'image', 'remix']) assert.ok(model.modes.includes(mode), mode);
    }
    assert.ok(models.has('sora-2') && models.has('chained'));
    assert.ok(!models.has('gpt-4.1') && !models.has('whisper-1'));
  });
});
