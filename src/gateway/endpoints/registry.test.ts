import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatDialects } from '../../dialects/registry.ts';
import { endpoints, findRoute, routes, wordingOfPath } from './registry.ts';

test('every route of the table is found, with and without a slash at its end', () => {
  for (const route of routes) {
    const { method, path } = route;
    const concrete = path.replace('*', 'some-model');
    for (const spelling of path === '/' ? ['/'] : [concrete, `${concrete}/`]) {
      const match = findRoute(method, spelling);
      assert.ok(match.found, `${method} ${spelling}`);
      assert.equal(match.route, route, spelling);
    }
  }
});

test('every dialect can be called', () => {
  const chats = endpoints.filter(({ name }) => name === 'chat' || name === 'generate-content').flatMap((endpoint) => endpoint.routes);
  const reached = new Set(chats.map(({ path }) => wordingOfPath(path.replace('*', 'x:generateContent'), {}).label));
  assert.deepEqual([...reached].toSorted(), Object.keys(chatDialects).toSorted());
});

test('no endpoint uses the name, the path or the schemas of another', () => {
  const names = [
    ...endpoints.map(({ name }) => name),
    ...routes.map(({ method, path }) => `${method} ${path}`),
    ...endpoints.flatMap(({ schemas = {} }) => Object.keys(schemas)),
  ];
  assert.equal(new Set(names).size, names.length);
});

test('errors on the routes of an endpoint have its wording, whichever endpoint owns the paths above', () => {
  for (const { name, voice, routes: own } of endpoints) {
    if (voice === undefined) continue;
    for (const { method, path } of own) {
      const concrete = path
        .replace('*', method === 'POST' ? 'some-model:generateContent' : 'some-model')
        .replaceAll(/:[a-zA-Z]*[iI]d\b/g, 'some-id');
      assert.equal(wordingOfPath(concrete, {}).label, voice.wording(concrete, {}).label, `${name}: ${method} ${path}`);
    }
  }
});

test('a path without a route below an interface is answered and counted as that interface', () => {
  assert.equal(wordingOfPath('/v1/audio/nothing', {}).label, 'openai-audio');
  assert.equal(wordingOfPath('/v1/videos/v_1/nothing', { 'anthropic-version': '2023-06-01' }).label, 'video-tasks');
  assert.equal(wordingOfPath('/v1/vector_stores/nothing', { 'anthropic-version': '2023-06-01' }).label, 'openai-responses');
});

test('only a stream that was requested as an array words its errors as an array', () => {
  const framing = (path: string, query: string) => wordingOfPath(path, {}).framing?.(new URLSearchParams(query));
  assert.equal(framing('/v1beta/models/x:streamGenerateContent', ''), 'json-array');
  assert.equal(framing('/v1/models/x%3AstreamGenerateContent', 'alt=sse'), 'sse');
  assert.equal(framing('/v1beta/models/x:generateContent', ''), undefined);
});

test('all POST routes run once for each key, except quotes and videos', () => {
  const unkeyed = routes.filter(({ method, identifiedBy }) => method === 'POST' && identifiedBy === undefined);
  const owners = endpoints.filter((endpoint) => endpoint.routes.some((route) => unkeyed.includes(route)));
  assert.deepEqual(
    owners.map(({ name }) => name),
    ['quotes', 'videos'],
  );
});

test('HEAD is answered on every GET route, and on no other', () => {
  assert.equal(findRoute('HEAD', '/health').found, true);
  assert.equal(findRoute('HEAD', '/v1/models/x').found, true);
  assert.equal(findRoute('HEAD', '/v1/messages').found, false);
});

for (const [method, path, allowedMethods] of [
  ['GET', '/v1/messages', ['POST']],
  ['OPTIONS', '/v1/chat/completions', ['POST']],
  ['HEAD', '/v1/responses', ['POST']],
  ['POST', '/v1/models', ['GET', 'HEAD']],
  ['DELETE', '/v1/models/x', ['GET', 'HEAD']],
  ['PUT', '/v1beta/models/x:generateContent', ['POST']],
  ['GET', '/v1beta/models/x:generateContent', ['POST']],
  ['HEAD', '/v1beta/models/x:generateContent/', ['POST']],
  ['GET', '/v1/models/models/x%3AstreamGenerateContent', ['POST']],
  ['GET', '/v1alpha/models/x:countTokens', ['POST']],
  ['POST', '/', ['GET', 'HEAD']],
  ['NONSENSE', '/health', ['GET', 'HEAD']],
  ['GET', '/nothing', []],
  ['POST', '/v1/Messages', []],
  ['POST', '/v1', []],
  ['POST', '//v1/messages', []],
  ['POST', '/v1/messages/extra', []],
  ['POST', '/v1/%zz', []],
] as const) {
  test(`${method} ${path} | 'nothing'}|is refused with the allowed methods: ${allowedMethods.join(', ') || 'none'}|| 'nothing'}`, () => {
    assert.deepEqual(findRoute(method, path), { found: false, allowedMethods });
  });
}

test('a GET on a route that accepts only POST is refused with its methods, whatever pattern matches its path', () => {
  const posted = routes.filter(
    ({ method, path }) => method === 'POST' && !routes.some((other) => other.method === 'GET' && other.path === path),
  );
  for (const { path } of posted) {
    const concrete = path.replace('*', 'some-model:generateContent').replaceAll(/:[a-zA-Z]*[iI]d\b/g, 'some-id');
    const match = findRoute('GET', concrete);
    assert.ok(!match.found, concrete);
    assert.ok(match.allowedMethods.includes('POST'), concrete);
  }
});

test('the name of a model may contain a colon', () => {
  assert.equal(findRoute('GET', '/v1/models/llama3:8b').found, true);
  assert.equal(findRoute('GET', '/v1/models/generateContent').found, true);
});

test('the rest of a model path is as the client sent it, undecoded', () => {
  for (const [path, rest] of [
    ['/v1beta/models/gemini-x:generateContent', 'gemini-x:generateContent'],
    ['/v1beta/models/gemini-x%3AgenerateContent', 'gemini-x%3AgenerateContent'],
    ['/v1alpha/models/models/gemini-x:countTokens', 'models/gemini-x:countTokens'],
    ['/v1/models/org%2Fmodel:generateContent', 'org%2Fmodel:generateContent'],
  ] as const) {
    const match = findRoute('POST', path);
    assert.ok(match.found, path);
    assert.equal(match.rest, rest);
  }
});

test('a broken percent-encoding in a model path breaks nothing', () => {
  assert.doesNotThrow(() => findRoute('POST', '/v1beta/models/%zz:generateContent'));
  assert.doesNotThrow(() => findRoute('GET', '/v1/models/%'));
});

for (const [path, headers, dialect] of [
  ['/v1/messages', {}, 'anthropic-messages'],
  ['/v1/messages/unknown', {}, 'anthropic-messages'],
  ['/v1/responses', {}, 'openai-responses'],
  ['/v1/responses/resp_1', {}, 'openai-responses'],
  ['/v1/chat/completions', {}, 'openai-chat'],
  ['/', {}, 'openai-chat'],
  ['/nothing', {}, 'openai-chat'],
  ['/v1/models', {}, 'openai-chat'],
  ['/v1/models', { 'anthropic-version': '2023-06-01' }, 'anthropic-messages'],
  ['/v1/models', { 'vendor-version': '2023-06-01' }, 'anthropic-messages'],
  ['/v1/models', { 'x-goog-api-key': 'k' }, 'gemini-generate-content'],
  ['/v1/chat/completions', { 'x-goog-api-key': 'k' }, 'openai-chat'],
  ['/v1/models/x:generateContent', {}, 'gemini-generate-content'],
  ['/v1/models/x%3AgenerateContent', {}, 'gemini-generate-content'],
  ['/v1beta/models', { 'anthropic-version': '2023-06-01' }, 'gemini-generate-content'],
  ['/v1alpha/nothing', {}, 'gemini-generate-content'],
  ['/upload/v1beta/files', {}, 'gemini-generate-content'],
  ['/upload/v1/files', {}, 'openai-chat'],
] as const) {
  test(`errors at ${path} ${JSON.stringify(headers)} are worded as ${dialect}`, () =>
    assert.equal(wordingOfPath(path, headers).label, dialect));
}
