import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { acceptedAtMs, bookOf, plainEntry } from '../../../billing/rating/testing/price-book-kit.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { standaloneMeters } from '../../../inference/meters.ts';
import { readPrices } from './open-attempt.ts';

const book = bookOf(
  plainEntry({ multipliers: [{ name: 'quality', factor: '/metadata/quality == "hd" ? 2 : 1' }] }),
  plainEntry({ model: 'plain' }),
);
const callTo = (upstreamModel: string) => ({
  target: { upstreamModel, upstream: { vendor: { id: 'acme' }, facts: {} } },
  requestedModel: 'mine',
  acceptedAtMs,
});
const body = Buffer.from('{"model":"m-1","metadata":{"quality":"hd","secret":"kept"}}');

describe('prices are read before a call is made', () => {
  test('only the values that its price depends on are read from its body', () => {
    const priceBook = createPriceBook({ book });
    assert.deepEqual(readPrices(priceBook, callTo('m-1'), body), { '/metadata/quality': '"hd"' });
    assert.equal(readPrices(priceBook, callTo('m-1'), undefined), undefined);
    assert.equal(readPrices(priceBook, callTo('plain'), body), undefined);
  });

  test('a model without a price is free, or refused by name if the operator sets that', () => {
    assert.equal(readPrices(createPriceBook({ book }), callTo('unknown'), body), undefined);
    const refusing = createPriceBook({ book, unlisted: 'refuse' });
    assert.throws(
      () => readPrices(refusing, callTo('unknown'), body),
      (error) =>
        error instanceof GatewayError && error.code === 'model_not_priced' && error.message.startsWith('model: mine has no price here'),
    );
    assert.equal(readPrices(refusing, callTo('plain'), body), undefined);
    const overridden = createPriceBook({ book, unlisted: 'refuse', overrides: [{ model: 'mine', input: '1', output: '1' }] });
    assert.equal(readPrices(overridden, callTo('unknown'), body), undefined);
  });

  test('a price of tokens does not apply to other units, and the refusal names the unit without a price', () => {
    const priceBook = createPriceBook({ book, unlisted: 'refuse' });
    for (const meter of standaloneMeters)
      assert.throws(
        () => readPrices(priceBook, { ...callTo('plain'), uses: { [meter]: 1 } }, body),
        (error) => error instanceof GatewayError && error.code === 'model_not_priced' && !error.message.includes('for tokens'),
        meter,
      );
  });
});
