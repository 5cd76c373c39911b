import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { fakeTarget } from '../../attempts/routing/testing/fake-routing.ts';
import { boundUsage } from './chat-credit.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** One nano-USD for each token. */
const priceBook = createPriceBook({ book: loadShippedPriceBook(), overrides: [{ model: 'm', input: '0.001', output: '0.001' }] });

function boundOf(body: Buffer, framing: StreamFraming | undefined) {
  const call = {
    settings: { routing: { priceBook } },
    caller: { userName: 'ann', id: 'k' },
    facts: { requestedModel: 'm', stream: framing !== undefined, inputCharacters: body.length, outputTokensMax: 50 },
    framing,
    acceptedAtMs: 0,
  } as unknown as Parameters<typeof boundUsage>[0];
  return boundUsage(call, { target: fakeTarget('a'), plan: { upstreamRequest: { body } }, pricingParameters: undefined });
}

const request = (members: object): Buffer => Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], ...members }));

describe('the bound of a chat without a hold', () => {
  test('it is the same for a stream as for a whole reply', () => {
    const stored = request({ previous_response_id: 'resp_1' });
    for (const body of [request({}), stored, Buffer.from('no JSON'), request({ padding: 'x'.repeat(20_000) })])
      assert.deepEqual(boundOf(body, 'sse').find(), boundOf(body, undefined).find(), body.subarray(0, 80).toString());
    const [named, plain] = [boundOf(stored, 'sse').find(), boundOf(request({}), 'sse').find()];
    assert.ok((named.most.inputTokens ?? 0) > 1_000_000, 'a stored response may be as long as the largest window');
    assert.ok((plain.most.inputTokens ?? 0) < 1000);
  });

  test('that of a stream does not keep its request', async () => {
    const open = (framing: StreamFraming | undefined) => {
      // A buffer of its own: small ones share the memory of a pool.
      const body = Buffer.from(request({}).toString());
      return { bound: boundOf(body, framing), body: new WeakRef(body) };
    };
    const [stream, whole] = [open('sse'), open(undefined)];
    // An object that was in a WeakRef of this turn lives until its end.
    await new Promise((resolve) => void setImmediate(resolve));
    collectGarbage();
    assert.equal(stream.body.deref(), undefined);
    assert.notEqual(whole.body.deref(), undefined, 'that of a whole reply is measured later, if at all');
    assert.deepEqual(stream.bound.find(), whole.bound.find());
  });
});
