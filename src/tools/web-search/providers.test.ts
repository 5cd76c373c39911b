import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';

import type { JsonValue } from '../../platform/json/json-value.ts';
import { askProvider, type SearchError } from './ask-provider.ts';
import { searchProviders } from './registry.ts';
import { searchProviderIds, type SearchProviderId, type SearchQuery, type SearchResult } from './search-provider.ts';

const query: SearchQuery = {
  text: 'tide tables',
  resultsMax: 5,
  charactersMax: 3000,
  allowedHosts: ['a.example', 'b.example'],
  blockedHosts: ['c.example'],
  location: { city: 'Lyon', region: 'Rhône', country: 'FR', timezone: 'Europe/Paris' },
};
const signal = new AbortController().signal;

/** Answers once, and records the request. */
async function answering(context: TestContext, status: number, body: string) {
  const requests: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: text });
      response.writeHead(status, { 'content-type': 'application/json', location: 'http://127.0.0.1:1/' }).end(body);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = (id: SearchProviderId) =>
    askProvider({ provider: searchProviders[id], baseUrl: `${baseUrl}/`, apiKey: 'key-1234', timeoutMs: 60_000 }, query, signal);
  return { ask, requests };
}

/** A sample answer of each service, shortened from its documentation, and the expected results. */
const answers: Readonly<Record<SearchProviderId, { readonly body: JsonValue; readonly results: readonly SearchResult[] }>> = {
  searxng: {
    body: {
      query: 'tide tables',
      number_of_results: 0,
      results: [
        {
          url: 'https://a.example/1',
          title: 'A &amp; B',
          content: 'about <b>tides</b>',
          publishedDate: '2026-03-02T00:00:00',
          engine: 'brave',
          score: 4,
        },
        { url: 'https://a.example/2', title: 'C', content: '', publishedDate: null, score: 1 },
        { title: 'no address', score: 9 },
      ],
      answers: [],
      unresponsive_engines: [['google', 'timeout']],
    },
    results: [
      { url: 'https://a.example/1', title: 'A & B', snippet: 'about tides', date: '2026-03-02T00:00:00', score: 4 / 9 },
      { url: 'https://a.example/2', title: 'C', score: 1 / 9 },
    ],
  },
  brave: {
    body: {
      type: 'search',
      query: { original: 'tide tables' },
      web: {
        type: 'search',
        results: [
          {
            title: 'Tides',
            url: 'https://a.example/1',
            description: 'about <strong>tides</strong> &#x27;here&#x27;',
            page_age: '2026-03-02T10:00:00',
            extra_snippets: ['more of it'],
          },
          { title: 7, url: 'https://a.example/2' },
        ],
      },
    },
    results: [
      { url: 'https://a.example/1', title: 'Tides', snippet: "about tides 'here'\nmore of it", date: '2026-03-02T10:00:00' },
      { url: 'https://a.example/2' },
    ],
  },
  tavily: {
    body: {
      query: 'tide tables',
      answer: null,
      images: [],
      results: [{ url: 'https://a.example/1', title: 'Tides', content: 'about tides', score: 0.81, raw_content: null }],
      response_time: 1.1,
    },
    results: [{ url: 'https://a.example/1', title: 'Tides', snippet: 'about tides', score: 0.81 }],
  },
  exa: {
    body: {
      requestId: 'r',
      results: [
        {
          id: 'i',
          url: 'https://a.example/1',
          title: 'Tides',
          publishedDate: '2026-03-02T00:00:00.000Z',
          author: null,
          score: 0.4,
          text: 'All.',
        },
      ],
      costDollars: { total: 0.005 },
    },
    results: [{ url: 'https://a.example/1', title: 'Tides', pageText: 'All.', date: '2026-03-02T00:00:00.000Z', score: 0.4 }],
  },
  serper: {
    body: {
      searchParameters: { q: 'tide tables' },
      organic: [{ title: 'Tides', link: 'https://a.example/1', snippet: 'about tides', date: 'Mar 2, 2026', position: 1 }],
      credits: 1,
    },
    results: [{ url: 'https://a.example/1', title: 'Tides', snippet: 'about tides', date: 'Mar 2, 2026' }],
  },
};

for (const id of searchProviderIds) {
  test(`${id}: results are read as its documentation shows them`, async (context) => {
    const { ask } = await answering(context, 200, JSON.stringify(answers[id].body));
    assert.deepEqual(await ask(id), answers[id].results);
  });

  test(`${id}: a body that is not an answer makes the service unavailable, and every value of a result is checked`, async (context) => {
    for (const body of ['<html>', '[]', '"x"', 'null', '{"error":"x"}']) {
      const { ask } = await answering(context, 200, body);
      await assert.rejects(ask(id), { name: 'SearchError', problem: 'unavailable' }, body);
    }
    const odd = [null, 1, 'x', [], {}, { url: 5, link: {} }, { url: '', link: '' }];
    assert.deepEqual(searchProviders[id].readResults({ type: 'search', web: { results: odd }, results: odd, organic: odd }), []);
  });
}

test('each service receives its own form of request, with its key if it has one', async (context) => {
  const { ask, requests } = await answering(context, 200, '{}');
  for (const id of searchProviderIds) await ask(id).catch(() => {});
  const [searxng, brave, tavily, exa, serper] = requests;
  const parameters = (url = ''): Record<string, string> => Object.fromEntries(new URLSearchParams(url.split('?')[1]));
  assert.match(searxng?.url ?? '', /^\/search\?/);
  assert.deepEqual(parameters(searxng?.url), { q: 'tide tables (site:a.example OR site:b.example) -site:c.example', format: 'json' });
  assert.match(brave?.url ?? '', /^\/res\/v1\/web\/search\?/);
  assert.equal(brave?.headers['x-subscription-token'], 'key-1234');
  assert.equal(parameters(brave?.url)['country'], 'FR');
  assert.equal(brave?.headers['x-loc-city'], 'Lyon');
  assert.equal(brave?.headers['x-loc-timezone'], 'Europe/Paris');
  assert.equal(brave?.headers['x-loc-state-name'], undefined, 'not ASCII');
  assert.equal(tavily?.headers.authorization, 'Bearer key-1234');
  assert.deepEqual(JSON.parse(tavily?.body ?? ''), {
    query: 'tide tables',
    search_depth: 'basic',
    max_results: 5,
    include_domains: ['a.example', 'b.example'],
    exclude_domains: ['c.example'],
    topic: 'general',
    country: 'france',
  });
  assert.equal(exa?.headers['x-api-key'], 'key-1234');
  assert.deepEqual(JSON.parse(exa?.body ?? ''), {
    query: 'tide tables',
    type: 'auto',
    numResults: 5,
    contents: { text: { maxCharacters: 3000 } },
    includeDomains: ['a.example', 'b.example'],
    excludeDomains: ['c.example'],
    userLocation: 'FR',
  });
  assert.equal(serper?.headers['x-api-key'], 'key-1234');
  assert.deepEqual(JSON.parse(serper?.body ?? ''), {
    q: 'tide tables (site:a.example OR site:b.example) -site:c.example',
    num: 5,
    gl: 'fr',
    location: 'Lyon, Rhône, France',
  });
});

test('a long query and many domains stay within the limits of a service', () => {
  const hosts = Array.from({ length: 200 }, (_, index) => `host-${index}.example`);
  const long = { ...query, text: 'word '.repeat(200), allowedHosts: hosts, blockedHosts: hosts, resultsMax: 500 };
  const { path } = searchProviders.brave.buildRequest(long, 'k');
  const parameters = new URLSearchParams(path.split('?')[1]);
  assert.ok((parameters.get('q') ?? '').length <= 400);
  assert.equal(parameters.get('count'), '20');
  assert.equal(searchProviders.tavily.buildRequest(long, 'k').body?.['max_results'], 20);
});

test('bad keys, used up quotas and refusals are separate problems, and no message contains the key', async (context) => {
  const cases: readonly (readonly [SearchProviderId, number, JsonValue, string])[] = [
    ['searxng', 403, 'Forbidden', 'refused'],
    ['searxng', 429, 'Too Many Requests', 'quota'],
    ['searxng', 500, '', 'unavailable'],
    ['brave', 422, { type: 'ErrorResponse', error: { code: 'SUBSCRIPTION_TOKEN_INVALID', status: 422 } }, 'credentials'],
    ['brave', 429, { type: 'ErrorResponse', error: { code: 'RATE_LIMITED' } }, 'quota'],
    ['brave', 422, { type: 'ErrorResponse', error: { code: 'VALIDATION' } }, 'refused'],
    ['tavily', 401, { detail: { error: 'Unauthorized: missing or invalid API key key-1234.' } }, 'credentials'],
    ['tavily', 432, { detail: { error: 'plan limit' } }, 'quota'],
    ['tavily', 433, { detail: { error: 'limit' } }, 'quota'],
    ['exa', 401, { error: 'Invalid API key', tag: 'INVALID_API_KEY' }, 'credentials'],
    ['exa', 402, { error: 'no credits', tag: 'NO_MORE_CREDITS' }, 'quota'],
    ['exa', 503, {}, 'unavailable'],
    ['serper', 403, { message: 'Unauthorized.', statusCode: 403 }, 'credentials'],
    ['serper', 400, { message: 'Not enough credits', statusCode: 400 }, 'quota'],
    // The operator chose the service, but not the target of its redirects.
    ['serper', 302, '', 'unavailable'],
  ];
  for (const [id, status, body, problem] of cases) {
    const { ask, requests } = await answering(context, status, JSON.stringify(body));
    await assert.rejects(
      ask(id),
      (error: SearchError) => error.problem === problem && !error.message.includes('key-1234'),
      `${id} ${status}`,
    );
    assert.equal(requests.length, 1);
  }
});

test('a timeout and a refused connection end with an error that names the cause', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const configured = { provider: searchProviders.searxng, baseUrl, apiKey: undefined, timeoutMs: 100 };
  await assert.rejects(askProvider(configured, query, signal), { problem: 'timed-out' });
  const leave = AbortSignal.timeout(50);
  await assert.rejects(askProvider({ ...configured, timeoutMs: 60_000 }, query, leave), { name: 'TimeoutError' });
  server.closeAllConnections();
  server.close();
  await assert.rejects(askProvider({ ...configured, timeoutMs: 60_000 }, query, signal), { problem: 'unavailable' });
});
