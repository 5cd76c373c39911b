import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import { parseCsv } from './parse-csv.ts';
import { anthropicPage, anthropicResult, googleHeader, googleLine, openAiPage, openAiResult } from './testing/reconciliation-kit.ts';
import { vendorExports } from './vendor-exports.ts';
import type { VendorUsage } from './vendor-usage.ts';

type Vendor = 'openai' | 'anthropic' | 'google';

function read(vendor: Vendor, content: unknown): VendorUsage {
  const found = vendorExports[vendor];
  assert.ok(found !== undefined);
  return found.read(typeof content === 'string' ? content : JSON.stringify(content));
}

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 10, 20);

test('OpenAI: cached and written tokens are subtracted from the input, days are days of UTC, and a list of pages is one export', () => {
  const pages = [openAiPage('2026-11-20', [openAiResult()], { has_more: true }), openAiPage('2026-11-21', [])];
  assert.deepEqual(read('openai', pages), {
    timeZone: 'UTC',
    startMs,
    endMs: startMs + 2 * dayMs,
    rows: [{ model: 'gpt-5-mini-2025-08-07', startMs, counts: { input: 50, cache_read: 40, cache_write_5m: 10, output: 7, requests: 1 } }],
    kinds: ['completions'],
    unread: [],
  });
});

test('a file that begins with a byte order mark is read like any other', () => {
  const text = JSON.stringify(openAiPage('2026-11-20', [openAiResult()]));
  assert.deepEqual(read('openai', `\ufeff${text}`), read('openai', text));
});

test('OpenAI: unread data is named: further pages, other kinds of results, unknown members', () => {
  const page = openAiPage(
    '2026-11-20',
    [
      openAiResult({ holographic_tokens: 5, empty_tokens: 0 }),
      { object: 'organization.costs.result', amount: { value: 0.06, currency: 'usd' } },
    ],
    { has_more: true, next_page: 'page_2' },
  );
  const { unread, rows } = read('openai', page);
  assert.deepEqual([...unread].toSorted(), [
    'further pages: the last one says has_more',
    'holographic_tokens',
    'results of organization.costs.result',
  ]);
  assert.equal(rows.length, 1);
});

test('OpenAI: a completely cached input leaves 0, and embeddings are read like completions', () => {
  const embedding = { object: 'organization.usage.embeddings.result', model: 'e', input_tokens: 9, num_model_requests: 2 };
  const { rows } = read('openai', openAiPage('2026-11-20', [openAiResult({ input_tokens: 50 }), embedding]));
  assert.deepEqual(
    rows.map(({ model, counts }) => [model, counts.input, counts.requests]),
    [
      ['gpt-5-mini-2025-08-07', 0, 1],
      ['e', 9, 2],
    ],
  );
});

test('members of groups, parts of a modality and empty members are ignored', () => {
  const grouped = (names: string): Record<string, unknown> => Object.fromEntries(names.split(' ').map((name) => [name, 'x']));
  const byOpenAi = grouped('project_id user_id api_key_id batch service_tier output_image_tokens input_cached_text_tokens');
  const byAnthropic = grouped('api_key_id workspace_id account_id service_account_id service_tier context_window inference_geo speed');
  const empty = { seance_tokens: null, other_tokens: 0 };
  assert.deepEqual(read('openai', openAiPage('2026-11-20', [openAiResult({ ...byOpenAi, ...empty })])).unread, []);
  assert.deepEqual(read('anthropic', anthropicPage('2026-11-20', [anthropicResult({ ...byAnthropic, ...empty })])).unread, []);
});

test('an export covers the time from its first bucket to its last, in any order', () => {
  const days = ['2026-11-21', '2026-11-20', '2026-11-22'];
  for (const [vendor, content, beginsMs] of [
    ['openai', days.map((day) => openAiPage(day, [])), startMs],
    ['anthropic', days.map((day) => anthropicPage(day, [])), startMs],
    [
      'google',
      [googleHeader, ...days.map((day) => googleLine('Generate content input token count gemini 3 pro', '1', { day }))].join('\n'),
      startMs + 8 * 3_600_000,
    ],
  ] as const) {
    const { startMs: from, endMs } = read(vendor, content);
    assert.deepEqual([from, endMs], [beginsMs, beginsMs + 3 * dayMs], vendor);
  }
  assert.equal(read('anthropic', anthropicPage('2026-11-20', [])).timeZone, 'UTC');
});

test('every vendor with exports is in the ledger under the same name', () => {
  const vendors = new Set(loadShippedPriceBook().entries.map(({ vendor }) => vendor));
  for (const [word, { ledgerVendor }] of Object.entries(vendorExports)) assert.ok(vendors.has(ledgerVendor), word);
});

test('Anthropic: all counts are disjoint, writes by their lifetime, searches of the vendor; requests are not counted', () => {
  const { rows, unread } = read(
    'anthropic',
    anthropicPage('2026-11-20', [
      anthropicResult(),
      anthropicResult({ cache_creation: null, server_tool_use: null, model: 'm', seance_tokens: 1 }),
    ]),
  );
  assert.deepEqual(rows, [
    {
      model: 'claude-sonnet-4-5-20250929',
      startMs,
      counts: { input: 50, cache_read: 40, cache_write_5m: 10, cache_write_1h: 3, output: 7, web_searches: 2 },
    },
    { model: 'm', startMs, counts: { input: 50, cache_read: 40, cache_write_5m: 0, cache_write_1h: 0, output: 7, web_searches: 0 } },
  ]);
  assert.deepEqual(unread, ['seance_tokens']);
});

test('Google: SKUs of tokens are read by model and class with days of California, and all others are named', () => {
  const table = [
    googleHeader,
    googleLine('Generate content input token count gemini 2.5 flash short input text', '1,234'),
    googleLine('Generate_content cached content input token count Gemini 2.5 Flash short', '10'),
    googleLine('Generate content output token count gemini 2.5 flash lite short output text', '7.000'),
    googleLine('Generate content output token count gemini 2.5 flash image output', '99'),
    googleLine('Generate content output token count gemini 2.5 flash', '3', { unit: 'byte-seconds' }),
    googleLine('Vertex Search queries', '1'),
    ',,,,,,Total,0.6',
  ].join('\r\n');
  const { rows, timeZone, unread, ...span } = read('google', `\ufeff${table}\r\n`);
  const day = Date.parse('2026-11-20T08:00:00Z');
  assert.equal(timeZone, 'America/Los_Angeles');
  assert.deepEqual(span, { startMs: day, endMs: day + dayMs });
  assert.deepEqual(rows, [
    { model: 'gemini-2.5-flash', startMs: day, counts: { input: 1234 } },
    { model: 'gemini-2.5-flash', startMs: day, counts: { cache_read: 10 } },
    { model: 'gemini-2.5-flash-lite', startMs: day, counts: { output: 7 } },
  ]);
  assert.deepEqual(unread, [
    'SKU Generate content output token count gemini 2.5 flash image output (99 count)',
    'SKU Generate content output token count gemini 2.5 flash (3 byte-seconds)',
    'SKU Vertex Search queries (1 count)',
  ]);
});

test('Google: model and class of a SKU are read in every spelling, and SKUs that only look similar are not', () => {
  for (const [name, found] of [
    ['Generate content input token count gemini 10.15 pro', 'gemini-10.15-pro input'],
    ['  generate_content -- OUTPUT token count  Gemini 3 Flash-Lite ', 'gemini-3-flash-lite output'],
    ['Generate content cached content input token count gemini 2 flash long text', 'gemini-2-flash cache_read'],
    ['Generate content cached content output token count gemini 2 flash', undefined],
    ['Batch generate content input token count gemini 2 flash', undefined],
    ['Generate content input token count gemini 2 flash live', undefined],
  ] as const) {
    const table = [
      googleHeader,
      googleLine(name, '5', { unit: 'Tokens' }),
      googleLine('Generate content input token count gemini 1 pro', '1'),
    ];
    const { rows, unread } = read('google', table.join('\n'));
    const [row] = rows.filter(({ model }) => model !== 'gemini-1-pro');
    assert.equal(row && `${row.model} ${Object.keys(row.counts).join()}`, found, name);
    assert.equal(unread.length, found === undefined ? 1 : 0, name);
  }
});

const input = 'Generate content input token count gemini 2.5 pro';
const long = 'x'.repeat(100);

const faulty: readonly [why: string, vendor: Vendor, content: unknown, problem: RegExp][] = [
  ['no JSON', 'openai', '<html>', /is not JSON/],
  ['nothing', 'openai', [], /no page/],
  ['no bucket', 'anthropic', { data: [] }, /no bucket/],
  ['no bucket', 'openai', { data: [] }, /no bucket/],
  ['a page that is text', 'openai', ['page'], /^page 0 is not an object/],
  ['a page that is null', 'openai', [openAiPage('2026-11-20', []), null], /^page 1 is not an object/],
  ['a page that is a list', 'openai', [[]], /^page 0 is not an object/],
  ['a page without buckets', 'openai', [openAiPage('2026-11-20', []), {}], /^page 1\.data is not a list/],
  ['a bucket that is none', 'openai', { data: [5] }, /^page 0\.data\.0 is not an object/],
  [
    'a bucket without results',
    'anthropic',
    { data: [{ starting_at: '2026-11-20', ending_at: '2026-11-21' }] },
    /^page 0\.data\.0\.results is not a list/,
  ],
  [
    'writes that are a number',
    'anthropic',
    anthropicPage('2026-11-20', [anthropicResult({ cache_creation: 5 })]),
    /results\.0\.cache_creation is not an object/,
  ],
  [
    'tools that are a list',
    'anthropic',
    anthropicPage('2026-11-20', [anthropicResult({ server_tool_use: [] })]),
    /results\.0\.server_tool_use is not an object/,
  ],
  [
    'a model without a name',
    'anthropic',
    anthropicPage('2026-11-20', [anthropicResult(), anthropicResult({ model: '' })]),
    /results\.1 has no model/,
  ],
  [
    'not grouped by model',
    'openai',
    openAiPage('2026-11-20', [openAiResult({ model: null })]),
    /results\.0 has no model: export it with group_by=model/,
  ],
  [
    'a count as text',
    'openai',
    openAiPage('2026-11-20', [openAiResult({ output_tokens: '7' })]),
    /results\.0\.output_tokens is not a count/,
  ],
  ['a negative count', 'anthropic', anthropicPage('2026-11-20', [anthropicResult({ output_tokens: -1 })]), /output_tokens is not a count/],
  [
    'parts above the whole',
    'openai',
    openAiPage('2026-11-20', [openAiResult({ input_tokens: 10 })]),
    /less than the sum of its cached parts/,
  ],
  ['a time that is none', 'anthropic', { data: [{ starting_at: 'today', results: [] }] }, /data\.0\.starting_at is not a time/],
  ['another table', 'google', 'a,b\n1,2', /lacks the column SKU description, Usage start date, Usage amount, Usage unit/],
  [
    'an amount that is none',
    'google',
    `${googleHeader}\n${googleLine('Generate content output token count gemini 2.5 pro', '1.5')}`,
    /line 2: the usage amount "1\.5"/,
  ],
  ['an amount below zero', 'google', `${googleHeader}\n${googleLine(input, '-15')}`, /the usage amount "-15"/],
  ['an amount in powers of ten', 'google', `${googleHeader}\n${googleLine(input, '15e1')}`, /the usage amount "15e1"/],
  ['an amount that is a long text', 'google', `${googleHeader}\n${googleLine(input, long)}`, /"x{32}" is not a count/],
  ['a day that no month has', 'google', `${googleHeader}\n${googleLine(input, '1', { day: '2026-02-30' })}`, /"2026-02-30" is not a day/],
  ['a day that is a long text', 'google', `${googleHeader}\n${googleLine(input, '1', { day: long })}`, /"x{32}" is not a day/],
  ['an empty file', 'google', '', /lacks the column SKU description/],
  ['an open quote', 'google', `${googleHeader}\n"p,x`, /cannot be read as CSV/],
  ['no row of the API', 'google', `${googleHeader}\n${googleLine('Cloud Storage', '1')}`, /no row with tokens/],
];
for (const [why, vendor, content, problem] of faulty)
  test(`an invalid export is refused with its place: ${why} (${vendor})`, () => {
    assert.throws(() => read(vendor, content), { name: 'ExportError', message: problem });
  });

test('CSV: quotes, commas and line breaks in fields, empty fields and lines, with and without a last line break', () => {
  const rows = [
    ['a', 'b,c', 'd "e"', ''],
    ['', '1\n2', 'x', 'y'],
  ];
  const text = 'a,"b,c","d ""e""",\r\n\r\n,"1\n2",x,y';
  assert.deepEqual(parseCsv(text), rows);
  assert.deepEqual(parseCsv(`${text}\n`), rows);
  assert.deepEqual(parseCsv('a,'), [['a', '']]);
  assert.deepEqual(parseCsv(''), []);
  assert.deepEqual(parseCsv('\ufeffa\n\nb'), [['a'], ['b']]);
});
