import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseCsv } from './parse-csv.ts';
import { anthropicPage, anthropicResult, openAiPage, openAiResult } from './reconciliation-kit.ts';
import { vendorExports } from './vendor-exports.ts';
import type { VendorUsage } from './vendor-usage.ts';

function read(vendor: 'openai' | 'anthropic' | 'google', content: unknown): VendorUsage {
  const found = vendorExports[vendor];
  assert.ok(found !== undefined);
  return found.read(typeof content === 'string' ? content : JSON.stringify(content));
}

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 10, 20);

test('OpenAI: cached and written tokens are taken out of the input, days are of UTC, and a list of pages is one export', () => {
  const pages = [openAiPage('2026-11-20', [openAiResult()], { has_more: true }), openAiPage('2026-11-21', [])];
  assert.deepEqual(read('openai', pages), {
    timeZone: 'UTC',
    startMs,
    endMs: startMs + 2 * dayMs,
    rows: [{ model: 'gpt-5-mini-2025-08-07', startMs, counts: { input: 50, cache_read: 40, cache_write_5m: 10, output: 7, requests: 1 } }],
    unread: [],
  });
});

test('a file that begins with a byte order mark is read like any other', () => {
  const text = JSON.stringify(openAiPage('2026-11-20', [openAiResult()]));
  assert.deepEqual(read('openai', `\ufeff${text}`), read('openai', text));
});

test('OpenAI: what is not read is named: further pages, other kinds of results, members that nobody knows', () => {
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

const header = 'Project,SKU description,SKU ID,Usage start date,Usage end date,Usage amount,Usage unit,"Cost ($)"';
const line = (name: string, amount: string, unit = 'count'): string => `p,"${name}",A-1,2026-11-20,2026-11-20,"${amount}",${unit},0.1`;

test('Google: SKUs of tokens are read by model and class with days of California, and all others are named, not guessed', () => {
  const table = [
    header,
    line('Generate content input token count gemini 2.5 flash short input text', '1,234'),
    line('Generate_content cached content input token count Gemini 2.5 Flash short', '10'),
    line('Generate content output token count gemini 2.5 flash lite short output text', '7.000'),
    line('Generate content output token count gemini 2.5 flash image output', '99'),
    line('Generate content output token count gemini 2.5 flash', '3', 'byte-seconds'),
    line('Vertex Search queries', '1'),
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

const faulty: readonly [why: string, vendor: 'openai' | 'anthropic' | 'google', content: unknown, problem: RegExp][] = [
  ['no JSON', 'openai', '<html>', /is no JSON/],
  ['nothing', 'openai', [], /no page/],
  ['no bucket', 'anthropic', { data: [] }, /no bucket/],
  [
    'not grouped by model',
    'openai',
    openAiPage('2026-11-20', [openAiResult({ model: null })]),
    /results\.0 has no model: export it with group_by=model/,
  ],
  ['a count as text', 'openai', openAiPage('2026-11-20', [openAiResult({ output_tokens: '7' })]), /results\.0\.output_tokens is no count/],
  ['a negative count', 'anthropic', anthropicPage('2026-11-20', [anthropicResult({ output_tokens: -1 })]), /output_tokens is no count/],
  ['parts above the whole', 'openai', openAiPage('2026-11-20', [openAiResult({ input_tokens: 10 })]), /less than its cached parts/],
  ['a time that is none', 'anthropic', { data: [{ starting_at: 'today', results: [] }] }, /data\.0\.starting_at is no time/],
  ['another table', 'google', 'a,b\n1,2', /lacks the column SKU description, Usage start date, Usage amount, Usage unit/],
  [
    'an amount that is none',
    'google',
    `${header}\n${line('Generate content output token count gemini 2.5 pro', '1.5')}`,
    /line 2: the usage amount "1\.5"/,
  ],
  ['an open quote', 'google', `${header}\n"p,x`, /cannot be read as CSV/],
  ['no row of the API', 'google', `${header}\n${line('Cloud Storage', '1')}`, /no row with tokens/],
];
for (const [why, vendor, content, problem] of faulty)
  test(`an export that cannot be right is refused with its place: ${why} (${vendor})`, () => {
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
});
