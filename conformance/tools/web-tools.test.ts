import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startSimulator, type RunningSimulator } from 'weir-simulator';

import type { Config } from '../../src/main/config/config-schema.ts';
import { openWebTools, type WebTools } from '../../src/main/assembly/tools/open-web-search.ts';
import type { UrlContextTool, WebSearchTool } from '../../src/inference/inference-request.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import type { ToolOutcome } from '../../src/tools/gateway-tool.ts';

const owner = { userName: 'user', keyId: 'key' };
const apiKey = 'search-key-of-the-operator';
let simulator: RunningSimulator;
let port: number;
const opened: WebTools[] = [];
const logged: string[] = [];

before(async () => {
  simulator = await startSimulator({ apiKeys: [apiKey] });
  port = Number(new URL(simulator.search.origin).port);
});
after(async () => {
  await Promise.all(opened.map((tools) => tools.close()));
  await simulator.close();
});

function open(tools: NonNullable<Config['tools']> = {}): WebTools {
  const note = (...parts: unknown[]): void => void logged.push(JSON.stringify(parts));
  const logger = { debug: note, info: note, warn: note, error: note };
  const config = { tools: { ...tools, pages: { trustedOrigins: [simulator.search.pageOrigin], timeoutMs: pageMs, ...tools.pages } } };
  // Other tests are about the content of pages: here no page is omitted because the machine was busy.
  const extraction = { pageTimeoutMs: 60_000 };
  const created = openWebTools({ config, variable: () => undefined, simulated: simulator.search, logger, extraction });
  opened.push(created);
  return created;
}

const run = {
  callId: 'call',
  firstSource: 1,
  knowsAddress: () => true,
  /** Each run has its own, from its beginning. */
  get signal(): AbortSignal {
    return AbortSignal.timeout(60_000);
  },
};
/** The time limit of a page: pages that never arrive take that long. */
const pageMs = 8000;

async function search(args: JsonObject, tool: Partial<WebSearchTool> = {}, tools = open()): Promise<ToolOutcome> {
  const created = await tools['web-search']({ kind: 'web-search', ...tool }, owner);
  return await created.run({ ...run, arguments: args });
}

async function read(urls: readonly string[], tool: Partial<UrlContextTool> = {}, tools = open()): Promise<ToolOutcome> {
  const created = await tools['url-context']({ kind: 'url-context', ...tool }, owner);
  return await created.run({ ...run, arguments: { urls } });
}

const hostsOf = ({ shown }: ToolOutcome): readonly string[] => (shown.results ?? []).map(({ url }) => new URL(url ?? '').hostname);
const page = (site: string, path: string): string => `http://${site}.localhost:${port}${path}`;

test('without a key or a file the simulated web is searched, and its pages are read and say so', async () => {
  const outcome = await search({ query: 'When was the swing bridge of Eastquay opened?' });
  assert.match(outcome.answer, /<source number="【1】" title="Eastquay opens its new swing bridge"/);
  assert.match(outcome.answer, /turns in ninety seconds/);
  assert.match(outcome.answer, /simulated page/);
  assert.equal(outcome.sources[0]?.number, 1);
  assert.deepEqual(outcome.sources[0]?.citation.source, { kind: 'url', url: page('press', '/eastquay-bridge') });
  assert.match(outcome.sources[0]?.citation.citedText ?? '', /swing bridge/);
  assert.equal(outcome.shown.results?.[0]?.date, '2026-11-14T00:00:00');
  assert.equal(outcome.shown.results?.[0]?.score, 1);
  assert.deepEqual(outcome.usage, { webSearches: 1 });
});

test('every service finds the same page in its own format, and is recognised by its key', async () => {
  for (const provider of ['searxng', 'brave', 'tavily', 'exa', 'serper'] as const) {
    const webSearch = { provider, apiKey, baseUrl: `${simulator.search.origin}/${provider}` };
    const outcome = await search({ query: 'BM25 ranking' }, {}, open({ webSearch }));
    assert.equal(outcome.shown.results?.[0]?.url, page('code', '/bm25'), provider);
    assert.match(outcome.answer, /k1 = 1\.2/, provider);
    if (provider === 'searxng') continue;
    const wrong = await search({ query: 'BM25 ranking' }, {}, open({ webSearch: { ...webSearch, apiKey: 'not-the-key-1234' } }));
    assert.deepEqual(wrong.shown, { failed: true, failure: 'unavailable' }, provider);
    assert.deepEqual(wrong.usage, {});
    // The operator finds the cause in the log; neither text contains the key.
    assert.doesNotMatch(wrong.answer, /key|quota|401|403|422/i);
    assert.match(logged.at(-1) ?? '', /"credentials"/);
  }
  assert.ok(logged.every((line) => !line.includes('not-the-key-1234') && !line.includes(apiKey)));
});

test('several queries are one interleaved list, and each is charged', async () => {
  const outcome = await search({ query: 'sourdough starter', queries: ['sharpening a plane iron', 'sourdough starter', '龙井茶'] });
  assert.deepEqual(new Set(hostsOf(outcome).slice(0, 3)), new Set(['kitchen.localhost', 'workshop.localhost', 'cha.localhost']));
  assert.deepEqual(outcome.usage, { webSearches: 3 });
  assert.equal(new Set(outcome.shown.results?.map(({ url }) => url)).size, outcome.shown.results?.length);
});

test('sources are numbered from the current number of the reply', async () => {
  const created = await open()['web-search']({ kind: 'web-search', contextSize: 'low' }, owner);
  const outcome = await created.run({ ...run, firstSource: 7, arguments: { query: 'tides' } });
  assert.deepEqual(
    outcome.sources.map(({ number }) => number),
    outcome.sources.map((_, index) => 7 + index),
  );
  for (const { number } of outcome.sources) assert.ok(outcome.answer.includes(`【${number}】"`));
});

test('domains: only allowed ones are read, never blocked ones, redirects included', async () => {
  for (const provider of ['searxng', 'tavily'] as const) {
    const tools = open({ webSearch: { provider, apiKey, baseUrl: `${simulator.search.origin}/${provider}` } });
    const query = { query: 'lighthouse harbour Eastquay bridge' };
    const only = await search(query, { allowedDomains: ['press.localhost'] }, tools);
    assert.deepEqual([...new Set(hostsOf(only))], ['press.localhost']);
    const without = await search(query, { blockedDomains: ['press.localhost'] }, tools);
    assert.ok(hostsOf(without).length > 0 && !hostsOf(without).includes('press.localhost'));
    // trap.localhost/astray leads to a page of press.localhost.
    assert.doesNotMatch(without.answer, /ninety seconds/);
    const trapOnly = await search({ query: 'lighthouse lens' }, { allowedDomains: ['trap.localhost'] }, tools);
    assert.ok(hostsOf(trapOnly).every((host) => host === 'trap.localhost'));
    assert.doesNotMatch(trapOnly.answer, /ninety seconds/);
  }
});

test('uses: the limit is sent to the model, counts queries, and applies to one request', async () => {
  const tools = open();
  const created = await tools['web-search']({ kind: 'web-search', maxUses: 2 }, owner);
  const first = await created.run({ ...run, arguments: { query: 'tides', queries: ['bread', 'beavers'] } });
  assert.deepEqual(first.usage, { webSearches: 2 });
  assert.match(first.answer, /no room for "beavers"/);
  const second = await created.run({ ...run, arguments: { query: 'again' } });
  assert.deepEqual(second.shown, { failed: true, failure: 'limit-reached' });
  assert.deepEqual(second.usage, {});
  assert.match(second.answer, /limit of web searches/);
  assert.deepEqual((await search({ query: 'tides' }, { maxUses: 1 }, tools)).usage, { webSearches: 1 });
});

test('context size: a larger one has more sources and more text', async () => {
  const lengths: number[] = [];
  for (const contextSize of ['low', 'medium', 'high'] as const) {
    const outcome = await search({ query: 'lighthouse water bread time a year of Eastquay' }, { contextSize });
    lengths.push(outcome.answer.length);
    assert.ok(outcome.sources.length <= { low: 4, medium: 7, high: 12 }[contextSize]);
  }
  assert.deepEqual(
    lengths,
    lengths.toSorted((one, other) => one - other),
  );
  const snippets = await search(
    { query: 'swing bridge' },
    {},
    open({ webSearch: { provider: 'searxng', baseUrl: simulator.search.url, pagesMax: 0, resultsMax: 1 } }),
  );
  assert.equal(snippets.sources.length, 1);
  assert.match(snippets.answer, /Simulated result/);
});

test('invalid arguments of a model are answered with a message', async () => {
  for (const args of [{}, { query: '' }, { query: 5 }, { queries: 'x' }, { query: { a: 1 } }, { queries: [null, 3, ''] }]) {
    const outcome = await search(args);
    assert.deepEqual(outcome.shown, { failed: true, failure: 'invalid-input' }, JSON.stringify(args));
  }
  const nothing = await search({ query: 'zzzz qqqq xxxx' });
  assert.deepEqual(nothing.shown, { results: [] });
  assert.match(nothing.answer, /found no pages/);
});

test('faults of the service: the model receives the failure, and another query that works still counts', async () => {
  const cases: Record<string, string> = {
    'status;status=429': 'unavailable',
    'status;status=500': 'unavailable',
    html: 'unavailable',
    'empty-body': 'unavailable',
    'reset-before-headers': 'unavailable',
    'truncate;how=short-length': 'unavailable',
    'redirect;location=http://127.0.0.1:9/': 'unavailable',
    'stall-before-headers': 'timed-out',
  };
  const within = (timeoutMs: number) => open({ webSearch: { provider: 'searxng', baseUrl: simulator.search.url, timeoutMs } });
  const [patient, impatient] = [within(30_000), within(5000)];
  for (const [fault, failure] of Object.entries(cases)) {
    const tools = failure === 'timed-out' ? impatient : patient;
    const query = `swing bridge [[simulator fault=${encodeURIComponent(fault)}]]`;
    const alone = await search({ query }, {}, tools);
    assert.deepEqual(alone.shown, { failed: true, failure }, fault);
    const both = await search({ query, queries: ['swing bridge'] }, {}, tools);
    assert.deepEqual(both.usage, { webSearches: 1 }, fault);
    assert.match(both.answer, /1 of 2 queries could not be searched/);
  }
});

test('hostile pages: a search that finds them ends with the readable ones', async () => {
  const outcome = await search({ query: 'lighthouses' }, { contextSize: 'high' });
  assert.ok(outcome.sources.length >= 8);
  assert.match(outcome.answer, /Simulated result: A page about lighthouses that never quite arrives/);
  const injected = await search({ query: 'walnut shelves' });
  assert.equal(injected.answer.match(/<source\b/g)?.length, 1 + injected.sources.length, 'the notice names the element once');
  assert.equal(injected.answer.match(/<\/source>/g)?.length, injected.sources.length);
  assert.doesNotMatch(injected.answer, /【99】/);
});

test('pages by their addresses: each is read or reported as unreadable, in order', async () => {
  const paths = ['/moved', '/inward', '/loop', '/gone', '/huge', '/slow', '/deep', '/binary', '/latin', '/report.pdf'];
  const outcome = await read(paths.map((path) => page('trap', path)));
  const readable = (outcome.shown.results ?? []).map(({ unreadable }) => unreadable !== true);
  assert.deepEqual(readable, [true, false, false, false, true, false, true, false, true, true]);
  assert.deepEqual(outcome.usage, { pagesRead: 5 });
  assert.equal(outcome.sources.length, 5);
  for (const words of [/mean range of 3\.4 metres/, /lamp at the bottom/, /fünf Mark/, /nine are cracked/, /more characters are left out/])
    assert.match(outcome.answer, words);
  assert.match(outcome.answer, /inward was not read: the URL's host has no public internet address/);
  assert.match(outcome.answer, /gone was not read: the URL's server answers with status 410/);
  assert.equal(outcome.shown.failed, undefined);
});

test('pages by their addresses: servers of the gateway and its network are unreachable, also those of the simulated vendors', async () => {
  const addresses = [
    simulator.addresses.openai,
    simulator.controlUrl,
    simulator.search.origin,
    'http://169.254.169.254/',
    'http://localhost/',
  ];
  const outcome = await read(addresses);
  assert.equal(outcome.shown.failed, true);
  assert.deepEqual(outcome.usage, {});
  assert.ok(outcome.shown.results?.every(({ unreadable }) => unreadable));
});

test('pages by their addresses: limits, domains and cancelled calls apply', async () => {
  const tools = open();
  const created = await tools['url-context']({ kind: 'url-context', maxUses: 1, allowedDomains: ['code.localhost'] }, owner);
  const first = await created.run({ ...run, arguments: { urls: [page('code', '/bm25'), page('code', '/utf-8')] } });
  assert.deepEqual(first.usage, { pagesRead: 1 });
  assert.match(first.answer, /no room for http/);
  assert.equal((await created.run({ ...run, arguments: { urls: [page('code', '/utf-8')] } })).shown.failure, 'limit-reached');
  const unwanted = await read([page('press', '/chess'), page('trap', '/astray')], { blockedDomains: ['press.localhost'] }, tools);
  assert.equal(unwanted.shown.failed, true);
  assert.doesNotMatch(unwanted.answer, /ninety seconds|chess club/);
  const leave = AbortSignal.timeout(100);
  const slow = await tools['url-context']({ kind: 'url-context' }, owner);
  const before = performance.now();
  const left = await slow.run({ ...run, signal: leave, arguments: { urls: [page('trap', '/slow')] } });
  assert.equal(left.shown.failure, 'timed-out');
  // The page itself would take longer.
  assert.ok(performance.now() - before < pageMs - 100);
});

test('a tool that is not configured is refused when a request needs it, with the missing setting', async () => {
  const note = (): void => {};
  const logger = { debug: note, info: note, warn: note, error: note };
  const tools = openWebTools({
    config: { tools: { urlContext: { enabled: false } } },
    variable: () => undefined,
    simulated: undefined,
    logger,
  });
  assert.throws(() => tools['web-search']({ kind: 'web-search', path: 'tools[0]' }, owner), {
    code: 'tool_unavailable',
    param: 'tools[0]',
    message: /tools\.webSearch\.provider/,
  });
  assert.throws(() => tools['url-context']({ kind: 'url-context' }, owner), {
    code: 'tool_unavailable',
    message: /tools\.urlContext\.enabled/,
  });
});

test('an address that did not occur before is not read, and the model is notified', async () => {
  const created = await open()['url-context']({ kind: 'url-context' }, owner);
  const known = page('trap', '/latin');
  const outcome = await created.run({
    ...run,
    knowsAddress: (address) => address === known,
    arguments: { urls: [known, `${known}?told=secret`, 'https://evil.test/?told=secret'] },
  });
  assert.deepEqual(outcome.usage, { pagesRead: 1 });
  assert.equal(outcome.answer.match(/was not read: only addresses in the conversation/g)?.length, 2);
  // A redirect of a known page is followed as its server says.
  const moved = await created.run({
    ...run,
    knowsAddress: (address) => address === page('trap', '/moved'),
    arguments: { urls: [page('trap', '/moved')] },
  });
  assert.deepEqual(moved.usage, { pagesRead: 1 });
});
