import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { chatDialects } from '../../../dialects/registry.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { WireRequest } from '../../../dialects/wire-request.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { compileHeaderList } from '../../../platform/http/header-list.ts';
import { commonRequestHeaders } from '../../../upstreams/header-lists.ts';
import type { VendorId } from '../../../upstreams/upstream-vendor.ts';
import { upstreamVendors } from '../../../upstreams/registry.ts';
import { createFakeUpstream } from './testing/fake-exchange.ts';
import { createUpstreamHeaders, prepareRequest } from './prepare-request.ts';

const client = { send: () => {}, close: () => Promise.resolve() };

type Options = {
  readonly vendor?: VendorId;
  readonly dialect?: DialectId;
  readonly text?: string;
  readonly headers?: WireRequest['headers'];
  readonly apiKey?: string;
  readonly forwardHeaders?: readonly string[];
  readonly upstreamModel?: string;
  readonly basePath?: string;
  readonly framing?: StreamFraming;
  readonly operation?: WireRequest['operation'];
  readonly acceptsStreamOptions?: boolean;
};

function prepare(options: Options = {}) {
  const made = createFakeUpstream(
    { vendor: options.vendor ?? 'openai', ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }) },
    client,
  );
  const upstream = {
    ...made,
    basePath: options.basePath ?? '/v1',
    acceptsStreamOptions: options.acceptsStreamOptions ?? true,
    passesRequestHeader: compileHeaderList([...made.vendor.requestHeaders, ...(options.forwardHeaders ?? [])]),
  };
  const text = options.text ?? '{"model":"m","messages":[]}';
  const request: WireRequest = {
    operation: options.operation ?? 'generate',
    body: JSON.parse(text) as WireRequest['body'],
    headers: options.headers ?? {},
  };
  const prepared = prepareRequest({
    dialect: chatDialects[options.dialect ?? 'openai-chat'],
    request,
    bytes: Buffer.from(text),
    facts: { requestedModel: 'm', stream: options.framing !== undefined, inputCharacters: 0, needs: [] },
    target: { upstream, upstreamModel: options.upstreamModel ?? 'm' },
    framing: options.framing,
  });
  return prepared?.upstreamRequest;
}

const headersOf = (options: Options): Readonly<Record<string, string>> => prepare(options)?.headers ?? {};

/** Credentials and tags of the gateway's callers, and headers of one connection or one encoding. */
const ownHeaders = {
  authorization: 'Bearer sk-caller',
  'x-api-key': 'sk-caller',
  'x-goog-api-key': 'sk-caller',
  'proxy-authorization': 'Basic sk-caller',
  cookie: 'session=sk-caller',
  host: 'weir.example',
  connection: 'keep-alive',
  'keep-alive': 'timeout=5',
  'content-length': '27',
  'content-encoding': 'gzip',
  'transfer-encoding': 'chunked',
  te: 'trailers',
  expect: '100-continue',
  upgrade: 'h2c',
  'x-weir-tags': 'team=secret',
};

describe('headers pass by rules', () => {
  test('a plain client has few: identity encoding, JSON both ways', () => {
    const usual = { 'content-type': 'application/json', 'accept-encoding': 'identity' };
    assert.deepEqual(headersOf({ headers: { accept: '*/*', 'accept-encoding': 'gzip, br' } }), { ...usual, accept: 'application/json' });
    assert.equal(headersOf({ framing: 'sse' })['accept'], 'text/event-stream');
    assert.equal(headersOf({ framing: 'json-array', vendor: 'gemini', dialect: 'gemini-generate-content' })['accept'], 'application/json');
  });

  for (const vendor of ['anthropic', 'openai', 'gemini', 'xai', 'openai-compatible'] as const) {
    test(`callers' credentials never reach ${vendor}, and the operator's does`, () => {
      const dialect = vendor === 'anthropic' ? 'anthropic-messages' : vendor === 'gemini' ? 'gemini-generate-content' : 'openai-chat';
      const others = { 'x-forwarded-for': '10.0.0.1', 'openai-organization': 'org', 'openai-project': 'p', referer: 'x', origin: 'x' };
      const headers = { ...ownHeaders, ...others, 'user-agent': 'sdk/1', 'x-stainless-lang': 'js' };
      const without = headersOf({ vendor, dialect, headers });
      const expected = ['accept', 'accept-encoding', 'content-type', 'user-agent', 'x-stainless-lang'];
      const required = Object.keys(upstreamVendors[vendor].requiredHeaders ?? {});
      assert.deepEqual(Object.keys(without).toSorted(), [...expected, ...required].toSorted());
      const withKey = headersOf({ vendor, dialect, headers, apiKey: 'sk-operator' });
      assert.doesNotMatch(JSON.stringify(withKey), /sk-caller/);
      assert.match(JSON.stringify(withKey), /sk-operator/);
      assert.equal(Object.keys(withKey).length, Object.keys(without).length + 1);
    });
  }

  test('a configured list adds to the usual ones', () => {
    const headers = { 'x-tenant': 't', 'x-trace-id': '1', 'x-other': 'o', 'user-agent': 'sdk/1' };
    const passed = headersOf({ headers, forwardHeaders: ['x-tenant', 'x-trace-*'] });
    assert.equal(passed['x-tenant'], 't');
    assert.equal(passed['x-trace-id'], '1');
    assert.equal(passed['x-other'], undefined);
    assert.equal(passed['user-agent'], 'sdk/1');
  });

  test('a translated call passes on what every vendor may see and what the operator lists, and nothing of its own vendor', () => {
    const made = createFakeUpstream({ vendor: 'openai-compatible' }, client);
    const upstream = { ...made, passesForeignHeader: compileHeaderList([...commonRequestHeaders, 'x-tenant']) };
    const headers = {
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'a',
      'vendor-beta': 'b',
      originator: 'codex',
      'user-agent': 'sdk/1',
      'x-tenant': 't',
    };
    const written = (of: DialectId) =>
      createUpstreamHeaders(
        { operation: 'generate', body: {}, headers },
        { upstream, upstreamModel: 'm' },
        { client: of, upstream: 'openai-chat' },
        undefined,
      );
    const framing = ['accept', 'accept-encoding', 'content-type'];
    assert.deepEqual(Object.keys(written('anthropic-messages')).toSorted(), [...framing, 'user-agent', 'x-tenant'].toSorted());
    assert.equal(written('openai-chat')['originator'], 'codex');
  });

  test('a configured list that is too wide still passes no credential and no framing', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz'.split('').map((letter) => `${letter}*`);
    for (const forwardHeaders of [['x-*', 'content-*'], Object.keys(ownHeaders), letters]) {
      const passed = headersOf({ headers: { ...ownHeaders, 'x-tenant': 't' }, forwardHeaders: [...forwardHeaders, 'x-tenant'] });
      assert.deepEqual(Object.keys(passed).toSorted(), ['accept', 'accept-encoding', 'content-type', 'x-tenant']);
    }
  });

  test("neutral names become the vendor's, and values under both names are joined once", () => {
    const messages = { vendor: 'anthropic', dialect: 'anthropic-messages' } as const;
    assert.equal(headersOf({ ...messages, headers: { 'vendor-version': '2023-06-01' } })['anthropic-version'], '2023-06-01');
    const both = headersOf({
      ...messages,
      headers: {
        'anthropic-version': '2023-06-01',
        'vendor-version': '2023-06-01',
        'anthropic-beta': 'a, b,',
        'vendor-beta': 'b,c , a',
      },
    });
    assert.equal(both['anthropic-version'], '2023-06-01');
    assert.equal(both['anthropic-beta'], 'a,b,c');
    assert.equal(both['vendor-beta'], undefined);
    assert.equal(both['vendor-version'], undefined);
    const alone = headersOf({ ...messages, headers: { 'anthropic-beta': 'a, b' } });
    assert.equal(alone['anthropic-beta'], 'a, b', 'what needs no joining stays as it was sent');
  });

  test('neutral names are dropped if the vendor has no such header', () => {
    assert.doesNotMatch(JSON.stringify(headersOf({ headers: { 'vendor-version': 'v', 'vendor-beta': 'b' } })), /"v"|"b"/);
  });
});

describe('the address and the body fit the target', () => {
  test('the path follows the base address', () => {
    assert.equal(prepare()?.path, '/v1/chat/completions');
    assert.equal(prepare({ basePath: '' })?.path, '/chat/completions');
    assert.equal(prepare({ basePath: '/proxy/openai/v1' })?.path, '/proxy/openai/v1/chat/completions');
    assert.equal(prepare()?.method, 'POST');
  });

  test('the upstream’s name of the model is in the path where the dialect has it there', () => {
    const gemini = { vendor: 'gemini', dialect: 'gemini-generate-content', basePath: '', text: '{}' } as const;
    assert.equal(prepare({ ...gemini, upstreamModel: 'up', framing: 'sse' })?.path, '/v1beta/models/up:streamGenerateContent?alt=sse');
  });

  test('a route that the vendor does not have is undefined', () => {
    assert.equal(prepare({ operation: 'count-tokens' }), undefined);
    assert.equal(prepare({ dialect: 'anthropic-messages' }), undefined);
  });

  test('an untouched body is the same bytes', () => {
    const text = '{ "model" : "m",\n"messages":[ ], "n":1.0, "u":"\\u00e9" }';
    assert.equal(prepare({ text })?.body?.toString(), text);
  });

  test('another name of the model is spliced in, and no other byte changes', () => {
    const text = '{"messages":[{"role":"user","content":"model \\"m\\""}],"metadata":{"model":"m"}, "model" : "m" ,"n":1.0}';
    assert.equal(prepare({ text, upstreamModel: 'up"x' })?.body?.toString(), text.replace('"model" : "m" ', '"model" : "up\\"x" '));
  });

  test('usage is requested if the server accepts the option', () => {
    const text = '{"model":"m","messages":[],"stream":true}';
    assert.match(prepare({ text, framing: 'sse' })?.body?.toString() ?? '', /"stream_options":\{"include_usage":true\}/);
    assert.equal(prepare({ text, framing: 'sse', acceptsStreamOptions: false })?.body?.toString(), text);
  });
});
