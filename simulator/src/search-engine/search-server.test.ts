import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, test } from 'node:test';
import { startSimulator, type RunningSimulator } from '../start-simulator.ts';
import { aimArguments } from '../aim-arguments.ts';
import { allDocuments } from './all-documents.ts';
import { createRanker } from './rank-documents.ts';

let simulator: RunningSimulator;
before(async () => {
  simulator = await startSimulator({ apiKeys: ['known'] });
});
after(() => simulator.close());

const rank = createRanker(allDocuments);
const best = (text: string, includeHosts: readonly string[] = []): string => {
  const [first] = rank({ text, includeHosts, excludeHosts: [] });
  return first === undefined ? '' : `${first.document.site}${first.document.path}`;
};

/** Fetches a page by its host and path. */
async function fetchPage(site: string, path: string): Promise<{ readonly status: number; readonly body: string }> {
  const { port } = new URL(simulator.search.origin);
  return await new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, headers: { host: `${site}.localhost:${port}` } };
    get(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    }).on('error', reject);
  });
}

test('documents: every address is unique, and every document has a date and content', () => {
  assert.ok(allDocuments.length >= 50);
  assert.equal(new Set(allDocuments.map(({ site, path }) => site + path)).size, allDocuments.length);
  for (const { date, text, path } of allDocuments) {
    assert.match(date, /^\d{4}-\d{2}-\d{2}$/, path);
    assert.ok(text.length > 30, path);
  }
});

test('ranking: the page about a question comes first, in scripts of every kind', () => {
  const questions: Record<string, string> = {
    'Who won the Lantern Prize 2026?': 'press/lantern-prize',
    'how long is the swing bridge': 'press/eastquay-bridge',
    'when do sourdough starters double': 'kitchen/sourdough',
    'why is 0.1 + 0.2 not 0.3 floating point': 'code/floating-point',
    'Quitten lagern': 'kueche/quitten',
    'crème brûlée sans chalumeau': 'cuisine/creme-brulee',
    龙井茶怎么冲泡: 'cha/longjing',
    桜はいつ開花しますか: 'sakura/forecast',
    'Как топить баню': 'dacha/bania',
  };
  for (const [question, page] of Object.entries(questions)) assert.equal(best(question), page, question);
  assert.equal(best('zzzz'), '');
  assert.deepEqual(
    rank({ text: 'bridge -site:press.localhost', includeHosts: [], excludeHosts: [] }).filter(({ document }) => document.site === 'press'),
    [],
  );
  assert.match(best('bridge (site:tides.localhost OR site:kitchen.localhost) water'), /^(?:tides|kitchen)/);
});

test('pages: they are served at their hosts, and say that they are simulated', async () => {
  const { status, body } = await fetchPage('press', '/eastquay-bridge');
  assert.equal(status, 200);
  assert.match(body, /<title>Eastquay opens its new swing bridge \(simulated page\)<\/title>/);
  assert.match(body, /This is a simulated page/);
  assert.equal((await fetchPage('press', '/nothing')).status, 404);
  assert.doesNotMatch((await fetchPage('trap', '/injection')).body, /<source/);
});

test('keys and parameters are validated as each service does', async () => {
  const at = (path: string): string => simulator.search.origin + path;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(at(path), { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }))
      .status;
  assert.equal((await fetch(at('/searxng/search?q=tides'))).status, 403);
  assert.equal((await fetch(at('/searxng/search?q=tides&format=json'))).status, 200);
  assert.equal((await fetch(at('/brave/res/v1/web/search?q=tides'))).status, 422);
  assert.equal(
    (await fetch(at('/brave/res/v1/web/search?q=tides&count=21'), { headers: { 'x-subscription-token': 'known' } })).status,
    422,
  );
  assert.equal(await post('/tavily/search', { query: 'tides' }, { authorization: 'Bearer unknown' }), 401);
  assert.equal(await post('/tavily/search', { query: 'tides', max_results: 99 }, { authorization: 'Bearer known' }), 400);
  assert.equal(await post('/exa/search', { query: 'tides' }), 401);
  assert.equal(await post('/serper/search', { q: 'tides' }, { 'x-api-key': 'unknown' }), 403);
  assert.equal(await post('/serper/search', {}, { 'x-api-key': 'known' }), 400);
});

test('queued faults apply to searches and not to the vendors', async () => {
  const settings = { faults: [{ fault: 'status;status=503', vendor: 'search' }] };
  await fetch(`${simulator.controlUrl}/settings`, { method: 'POST', body: JSON.stringify(settings) });
  const search = async (): Promise<number> => (await fetch(`${simulator.search.url}/search?q=tides&format=json`)).status;
  assert.equal(await search(), 503);
  assert.equal(await search(), 200);
});

test("the simulated model searches for the user's words, and reads the pages that the user names", () => {
  const said = '[[simulator stop=tool-use]] What is at https://a.example/x?b=1 and (http://b.example/)?';
  assert.deepEqual(aimArguments('web_search', { query: 'amber', queries: ['birch'] }, said), {
    query: 'What is at https://a.example/x?b=1 and (http://b.example/)?',
  });
  assert.deepEqual(aimArguments('fetch_url', { urls: ['amber'] }, said), { urls: ['https://a.example/x?b=1', 'http://b.example/'] });
  assert.deepEqual(aimArguments('other', { query: 'amber' }, said), { query: 'amber' });
  assert.deepEqual(aimArguments('web_search', { query: 'amber' }, ' '), { query: 'amber' });
});
