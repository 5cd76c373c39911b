import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parsePriceBook, PriceBookError } from './parse-price-book.ts';
import { bookOf, plainEntry, problemsOf } from './testing/price-book-kit.ts';

const prices = { input: '2', output: '10' };
const many = <Value>(count: number, value: (index: number) => Value): Value[] => Array.from({ length: count }, (_, index) => value(index));
const line = (more: Record<string, unknown> = {}) => ({ meter: 'a', quantity: '1', price: '1', ...more });

const refused: readonly (readonly [why: string, entry: Record<string, unknown>, place: RegExp])[] = [
  ['a month that does not exist', { effectiveFrom: '2026-13-01' }, /entries\/0\/effectiveFrom must match pattern/],
  ['a day with a time', { checked: '2026-01-02T00:00' }, /entries\/0\/checked/],
  ['a model without a name', { model: '' }, /entries\/0\/model/],
  ['a name of 129 characters', { displayName: 'x'.repeat(129) }, /entries\/0\/displayName/],
  ['17 aliases', { aliases: many(17, String) }, /entries\/0\/aliases/],
  ['an empty condition', { when: '', variant: 'v' }, /entries\/0\/when/],
  ['a variant in capitals', { when: '/a == 1', variant: 'HD' }, /entries\/0\/variant/],
  ['a variant with a space behind', { when: '/a == 1', variant: 'hd ' }, /entries\/0\/variant/],
  ['no tier', { tiers: [] }, /entries\/0\/tiers/],
  ['nine tiers', { tiers: many(9, (inputAbove) => ({ inputAbove, prices })) }, /entries\/0\/tiers/],
  ['a tier below 0', { tiers: [{ inputAbove: -1, prices }] }, /entries\/0\/tiers\/0\/inputAbove/],
  ['media without a price', { media: {} }, /entries\/0\/media/],
  ['video without a resolution', { media: { videoSecond: {} } }, /entries\/0\/media\/videoSecond/],
  ['a resolution of another form', { media: { videoSecond: { '720p60': '1' } } }, /entries\/0\/media\/videoSecond/],
  ['a service tier in capitals', { serviceTiers: { Flex: '0.5' } }, /entries\/0\/serviceTiers/],
  ['an invalid price of an unknown resolution', { media: { videoSecond: { '720p': '1', '4K': '-1' } } }, /entries\/0\/media\/videoSecond/],
  ['a service tier with a space', { serviceTiers: { 'flex tier': '0.5' } }, /entries\/0\/serviceTiers/],
  ['17 multipliers', { multipliers: many(17, (index) => ({ name: `m${index}`, factor: '1' })) }, /entries\/0\/multipliers/],
  ['17 lines', { lines: many(17, (index) => line({ meter: `m${index}` })) }, /entries\/0\/lines/],
  ['a price for no units', { lines: [line({ per: 0 })] }, /entries\/0\/lines\/0\/per/],
  ['a note of 401 characters', { note: 'x'.repeat(401) }, /entries\/0\/note/],
];
for (const [why, entry, place] of refused)
  test(`an entry is refused for ${why}`, () => {
    assert.match(problemsOf({ version: 'v', currency: 'USD', entries: [plainEntry(entry), plainEntry()] }).join('\n'), place);
  });

test('an entry at the limits of the schema is accepted, also with only lines and fees', () => {
  const entry = {
    displayName: 'x'.repeat(128),
    aliases: many(16, String),
    tiers: many(8, (inputAbove) => ({ inputAbove, prices })),
    media: { videoSecond: { '1080p': '1' } },
    multipliers: [{ name: 'a-1_b', factor: '1', of: 'tokens' }],
    lines: [line({ per: 1_000_000_000 })],
    note: 'x'.repeat(400),
  };
  assert.deepEqual(problemsOf({ version: 'v', currency: 'USD', entries: [plainEntry(entry)] }), []);
  const pointers = Array.from('abcdefgh', (name) => `/${name} == 1`).join(' or ');
  assert.deepEqual(
    problemsOf({ version: 'v', currency: 'USD', entries: [plainEntry({ when: pointers, variant: 'v' }), plainEntry()] }),
    [],
  );
  bookOf(plainEntry({ tiers: undefined, fees: { call: '1' } }), plainEntry({ model: 'm-2', tiers: undefined, lines: [line()] }));
});

test('a file with an invalid head is refused', () => {
  const entries = [plainEntry()];
  for (const [head, place] of [
    [{ version: '', currency: 'USD', entries }, /^\/version /],
    [{ version: 'x'.repeat(65), currency: 'USD', entries }, /^\/version /],
    [{ version: 'v', currency: 'usd', entries }, /^\/currency must match pattern/],
    [{ version: 'v', currency: 'USDX', entries }, /^\/currency /],
    [{ version: 'v', currency: 'USD', entries: [] }, /^\/entries /],
    [{ version: 'v', currency: 'USD', entries, extra: 1, more: 2 }, /^\/ must not have additional properties \(extra, more\)\.$/m],
  ] as const)
    assert.match(problemsOf(head).join('\n'), place);
});

test('every problem has its place and reason, and all of them are in the message', () => {
  const entries = [plainEntry({ colour: 'red' }), plainEntry({ model: '' }), plainEntry({ model: 'm-3', aliases: 'none' })];
  const problems = problemsOf({ version: 'v', currency: 'USD', entries });
  assert.deepEqual(problems, [
    '/entries/0/colour schema is false.',
    '/entries/0/ must not have additional properties (colour).',
    '/entries/1/model must not have fewer than 1 characters.',
    '/entries/2/aliases must be array.',
  ]);
  assert.throws(
    () => parsePriceBook({ version: 'v', currency: 'USD', entries }),
    (error) => error instanceof PriceBookError && error.name === 'PriceBookError' && error.message.endsWith(problems.join(' ')),
  );
});

test('windows of a model may follow each other without a gap, and do not affect other models', () => {
  bookOf(
    plainEntry({ effectiveUntil: '2026-03-01' }),
    plainEntry({ effectiveFrom: '2026-03-01' }),
    plainEntry({ model: 'm-2', effectiveFrom: '2026-02-01' }),
  );
  const tiers = [0, 5, 5].map((inputAbove) => ({ inputAbove, prices }));
  assert.deepEqual(problemsOf({ version: 'v', currency: 'USD', entries: [plainEntry({ tiers })] }), [
    'acme/m-1@2026-01-01: tier 2 must begin above tier 1 (5), not at 5.',
  ]);
});

test('every kind of price of an entry is converted, and the book is then in USD', () => {
  const entries = [
    plainEntry(),
    plainEntry({ model: 'm-2', tiers: undefined, media: { inputImage: '1' } }),
    plainEntry({ model: 'm-3', tiers: undefined, fees: { call: '1' } }),
    plainEntry({ model: 'm-4', tiers: undefined, lines: [line()] }),
  ];
  const book = parsePriceBook({ version: 'v', currency: 'credits', usdPerUnit: '0.5', entries });
  assert.equal(book.currency, 'USD');
  const priced = book.entries.map(({ tiers, media, fees, lines }) =>
    Object.entries({ tiers, media, fees, lines }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name} ${JSON.stringify(value)}`],
    ),
  );
  assert.deepEqual(priced, [
    ['tiers [{"inputAbove":0,"prices":{"input":"1","output":"5"}}]'],
    ['media {"inputImage":"0.5"}'],
    ['fees {"call":"0.5"}'],
    ['lines [{"meter":"a","quantity":"1","price":"0.5"}]'],
  ]);
});
