import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createLostCallSettler } from '../journal/settle-lost-call.ts';
import { billingOf, type CallOpening } from '../ledger/call-entry.ts';
import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { settleTools } from './settle-tools.ts';

const book = loadShippedPriceBook();
const priceBook = createPriceBook({ book, toolPrices: { webSearch: '0.0025', codeExecution: '0.03' } });
const toolUsage = { webSearches: 3, fileSearches: 2, codeExecutions: 1 };
const opening: CallOpening = {
  callId: 'req_1.1.tools',
  parentCallId: 'req_1',
  toolUsage,
  acceptedAtMs: 1,
  userName: 'u',
  keyId: 'k',
  keyName: 'key',
  dialect: 'openai-chat',
  requestedModel: 'm',
  upstream: 'gateway',
  vendor: 'gateway',
  upstreamModel: 'tools',
  stream: true,
  inputCharacters: 0,
  priceVersion: priceBook.version,
};

test('each use of a tool is charged, and a free one is on the receipt too', () => {
  const { charge } = settleTools(opening, toolUsage, priceBook, 5);
  assert.equal(charge.amountNanoUsd, 37_500_000n);
  assert.deepEqual(
    charge.lines.map(({ meter, quantity, unitPrice }) => [meter, quantity, unitPrice]),
    [
      ['gateway_web_search', 3, '0.0025'],
      ['gateway_file_search', 2, '0'],
      ['gateway_code_execution', 1, '0.03'],
    ],
  );
});

test('a process that dies after its tools have run has charged them', () => {
  const lost = createLostCallSettler({ priceBook })(opening, undefined, undefined);
  assert.equal(lost.charge.amountNanoUsd, 37_500_000n);
  assert.equal(lost.end, 'finished');
});

test('parts of a call add to the sums and do not count as calls', () => {
  const entry = settleTools(opening, toolUsage, priceBook, 5);
  assert.equal(billingOf(entry), 2);
  const { parentCallId: _parent, toolUsage: _usage, ...call } = { ...entry, upstreamStatus: 200 };
  assert.equal(billingOf(call), 1);
  assert.equal(billingOf({ ...call, parentCallId: 'req_1' }), 2);
  assert.equal(billingOf({ ...call, parentCallId: 'req_1', end: 'failed' }), 0);
});

test('a changed price of a tool changes the version of the prices, and an invalid price is refused', () => {
  const plain = createPriceBook({ book });
  assert.notEqual(priceBook.version, plain.version);
  assert.notEqual(createPriceBook({ book, toolPrices: { webSearch: '1' } }).version, priceBook.version);
  assert.throws(() => createPriceBook({ book, toolPrices: { webSearch: 'much' } }), /must be a decimal/);
});
