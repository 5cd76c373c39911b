import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Config } from './config-schema.ts';
import { findSearchProvider } from './find-search-provider.ts';
import { readConfig } from './read-config.ts';

const none = (): undefined => undefined;
const simulated = 'http://127.0.0.1:1/searxng';

function find(config: Config, variables: Readonly<Record<string, string>> = {}, simulation?: string) {
  const found = findSearchProvider(config, (name) => variables[name], simulation);
  return found === undefined ? undefined : { id: found.provider.id, baseUrl: found.baseUrl, apiKey: found.apiKey };
}

test('the file comes before the environment, and that before the simulated service', () => {
  const config: Config = { tools: { webSearch: { provider: 'exa', apiKey: 'of-the-file' } } };
  assert.deepEqual(find(config, { BRAVE_API_KEY: 'k' }, simulated), { id: 'exa', baseUrl: 'https://api.exa.ai', apiKey: 'of-the-file' });
  assert.equal(find({ tools: {} }, { BRAVE_API_KEY: 'k' }, simulated)?.id, 'brave');
  assert.deepEqual(find({}, {}, simulated), { id: 'searxng', baseUrl: simulated, apiKey: undefined });
  assert.equal(find({}, {}), undefined);
});

test('each variable switches its service on', () => {
  const variables = {
    BRAVE_API_KEY: 'brave',
    BRAVE_SEARCH_API_KEY: 'brave',
    TAVILY_API_KEY: 'tavily',
    EXA_API_KEY: 'exa',
    SERPER_API_KEY: 'serper',
  };
  for (const [name, id] of Object.entries(variables)) {
    assert.equal(find({}, { [name]: 'k' })?.id, id);
    assert.equal(find({}, { [name]: 'k' })?.apiKey, 'k');
  }
  assert.deepEqual(find({}, { SEARXNG_URL: 'http://10.0.0.5:8888' }), {
    id: 'searxng',
    baseUrl: 'http://10.0.0.5:8888',
    apiKey: undefined,
  });
});

test('what a service needs is asked for where the file leaves it out, with the place', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['provider: brave', /weir\.yaml:2:14 tools\.webSearch: apiKey is required for brave/],
    ['provider: searxng', /tools\.webSearch: baseUrl is required for searxng/],
    ['provider: searxng, baseUrl: nowhere', /tools\.webSearch\.baseUrl: must be a URL with http or https, but got "nowhere"/],
    ['provider: searxng, baseUrl: "ftp://a"', /must be a URL with http or https, but got "ftp:\/\/a"/],
    ['provider: bing', /provider/],
  ];
  for (const [webSearch, message] of cases)
    assert.throws(
      () => readConfig({ text: `tools:\n  webSearch: { ${webSearch} }\n`, file: 'weir.yaml', variable: none }),
      message,
      webSearch,
    );
  const origins = 'tools: { pages: { trustedOrigins: ["http://wiki.example:8080/path"] } }';
  assert.throws(() => readConfig({ text: origins, file: 'weir.yaml', variable: none }), /trustedOrigins/);
});
