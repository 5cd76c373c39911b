import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Operation, UpstreamDialectId } from '../dialects/dialect-id.ts';
import { upstreamDialects } from '../dialects/registry.ts';
import type { StreamFraming } from '../platform/frames.ts';
import { compileHeaderList } from '../platform/http/header-list.ts';
import { upstreamVendors } from './registry.ts';
import type { VendorId } from './upstream-vendor.ts';

const dialectIds = Object.keys(upstreamDialects) as UpstreamDialectId[];
const framings: readonly (StreamFraming | undefined)[] = [undefined, 'sse', 'json-array'];

type Row = readonly [vendor: VendorId, dialect: UpstreamDialectId, operation: Operation, path: string | undefined];

/** The routes of each vendor. A vendor does not have routes that are absent here. */
const rows: readonly Row[] = [
  ['anthropic', 'anthropic-messages', 'generate', '/v1/messages'],
  ['anthropic', 'anthropic-messages', 'count-tokens', '/v1/messages/count_tokens'],
  ['openai', 'openai-responses', 'generate', '/responses'],
  ['openai', 'openai-chat', 'generate', '/chat/completions'],
  ['openai', 'openai-responses', 'count-tokens', '/responses/input_tokens'],
  ['xai', 'openai-responses', 'generate', '/responses'],
  ['azure', 'openai-responses', 'generate', '/responses'],
  ['azure', 'openai-responses', 'count-tokens', '/responses/input_tokens'],
  ['azure', 'openai-chat', 'generate', '/chat/completions'],
  ['foundry', 'anthropic-messages', 'generate', '/v1/messages'],
  ['foundry', 'anthropic-messages', 'count-tokens', '/v1/messages/count_tokens'],
  ['claude-aws', 'anthropic-messages', 'generate', '/v1/messages'],
  ['claude-aws', 'anthropic-messages', 'count-tokens', '/v1/messages/count_tokens'],
  ['claude-google', 'anthropic-messages', 'generate', '/v1/messages'],
  ['claude-google', 'anthropic-messages', 'count-tokens', '/v1/messages/count_tokens'],
  ['xai', 'openai-chat', 'generate', '/chat/completions'],
  ['bedrock', 'openai-responses', 'generate', '/openai/v1/responses'],
  ['bedrock', 'openai-chat', 'generate', '/openai/v1/chat/completions'],
  ['openai-compatible', 'openai-responses', 'generate', '/responses'],
  ['openai-compatible', 'openai-chat', 'generate', '/chat/completions'],
  ['openai-compatible', 'anthropic-messages', 'generate', '/messages'],
  ['openai-compatible', 'anthropic-messages', 'count-tokens', '/messages/count_tokens'],
  ['gemini', 'gemini-generate-content', 'count-tokens', '/v1beta/models/m:countTokens'],
  ['vertex', 'gemini-generate-content', 'count-tokens', '/v1beta1/projects/p/locations/l/publishers/google/models/m:countTokens'],
  ['vertex', 'anthropic-messages', 'count-tokens', '/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict'],
  ['vertex', 'openai-chat', 'generate', '/v1beta1/projects/p/locations/l/endpoints/openapi/chat/completions'],
];

/** Facts about an account, for vendors that have them in their paths. */
const facts = { project: 'p', location: 'l' };

/** Routes whose paths depend on the model or the framing, which have tests of their own. */
const dependentRoutes = [
  ['gemini', 'gemini-generate-content', 'generate'],
  ['bedrock', 'anthropic-messages', 'generate'],
  ['bedrock', 'bedrock-converse', 'generate'],
  ['bedrock', 'anthropic-messages', 'count-tokens'],
  ['vertex', 'gemini-generate-content', 'generate'],
  ['vertex', 'anthropic-messages', 'generate'],
];

describe('routes of vendors', () => {
  for (const vendor of Object.values(upstreamVendors)) {
    test(`${vendor.id} has the dialects and operations of the table, and no others`, () => {
      for (const dialect of dialectIds) {
        for (const operation of ['generate', 'count-tokens'] as const) {
          if (dependentRoutes.some((route) => route.join() === [vendor.id, dialect, operation].join())) continue;
          const row = rows.find(
            ([id, rowDialect, rowOperation]) => id === vendor.id && rowDialect === dialect && rowOperation === operation,
          );
          for (const framing of framings) {
            const route = { dialect, operation, upstreamModel: 'm', ...(framing === undefined ? {} : { framing }) };
            assert.equal(vendor.locate(route, facts), row?.[3], `${dialect} ${operation} ${framing ?? 'whole'}`);
          }
        }
      }
    });

    test(`${vendor.id} has a route for every dialect that it can be configured to speak, and for no other`, () => {
      for (const dialect of dialectIds) {
        const located = vendor.locate({ dialect, operation: 'generate', upstreamModel: 'm' }, facts);
        const speaks = [...vendor.dialects, ...vendor.optionalDialects].includes(dialect);
        assert.equal(located !== undefined, speaks, dialect);
      }
      assert.deepEqual(
        vendor.dialects.filter((dialect) => vendor.optionalDialects.includes(dialect)),
        [],
      );
    });
  }

  const locate = (upstreamModel: string, framing?: StreamFraming): string | undefined =>
    upstreamVendors.gemini.locate(
      {
        dialect: 'gemini-generate-content',
        operation: 'generate',
        upstreamModel,
        ...(framing === undefined ? {} : { framing }),
      },
      {},
    );

  test('gemini: the address contains model, method and framing', () => {
    assert.equal(locate('gemini-x'), '/v1beta/models/gemini-x:generateContent');
    assert.equal(locate('gemini-x', 'sse'), '/v1beta/models/gemini-x:streamGenerateContent?alt=sse');
    assert.equal(locate('gemini-x', 'json-array'), '/v1beta/models/gemini-x:streamGenerateContent');
    assert.equal(locate('models/gemini-x'), '/v1beta/models/gemini-x:generateContent');
    assert.equal(locate('tunedModels/mine'), '/v1beta/tunedModels/mine:generateContent');
  });

  test('vertex: the address contains place, publisher, model, method and framing', () => {
    const { locate: locateAt } = upstreamVendors.vertex;
    const generate = { operation: 'generate', framing: 'sse' } as const;
    assert.equal(
      locateAt({ ...generate, dialect: 'anthropic-messages', upstreamModel: 'claude-x@1' }, facts),
      '/v1/projects/p/locations/l/publishers/anthropic/models/claude-x@1:streamRawPredict',
    );
    assert.equal(
      locateAt({ ...generate, dialect: 'gemini-generate-content', upstreamModel: 'gemini-x' }, facts),
      '/v1beta1/projects/p/locations/l/publishers/google/models/gemini-x:streamGenerateContent?alt=sse',
    );
    assert.equal(
      locateAt({ dialect: 'gemini-generate-content', operation: 'generate', upstreamModel: 'x/../y?z' }, {}),
      '/v1beta1/publishers/google/models/x%2F..%2Fy%3Fz:generateContent',
    );
    assert.equal(locateAt({ ...generate, dialect: 'anthropic-messages', upstreamModel: 'claude-x' }, {}), undefined);
  });

  test('gemini: a model name cannot change the rest of the address', () => {
    assert.equal(locate('a?alt=json&key=x#y'), '/v1beta/models/a%3Falt%3Djson%26key%3Dx%23y:generateContent');
    assert.equal(locate('a b\r\nhost: evil'), '/v1beta/models/a%20b%0D%0Ahost%3A%20evil:generateContent');
    assert.equal(locate('x:deleteAll'), '/v1beta/models/x%3AdeleteAll:generateContent');
  });
});

describe('credentials', () => {
  for (const [vendor, dialect, expected] of [
    ['anthropic', 'anthropic-messages', { 'x-api-key': 'k' }],
    ['openai', 'openai-chat', { authorization: 'Bearer k' }],
    ['openai', 'openai-responses', { authorization: 'Bearer k' }],
    ['xai', 'openai-chat', { authorization: 'Bearer k' }],
    ['azure', 'openai-chat', { 'api-key': 'k' }],
    ['azure', 'openai-responses', { 'api-key': 'k' }],
    ['foundry', 'anthropic-messages', { 'x-api-key': 'k' }],
    ['claude-aws', 'anthropic-messages', { authorization: 'Bearer k' }],
    ['gemini', 'gemini-generate-content', { 'x-goog-api-key': 'k' }],
    ['bedrock', 'anthropic-messages', { authorization: 'Bearer k' }],
    ['openai-compatible', 'openai-chat', { authorization: 'Bearer k' }],
    ['openai-compatible', 'openai-responses', { authorization: 'Bearer k' }],
    ['openai-compatible', 'anthropic-messages', { 'x-api-key': 'k' }],
  ] as const) {
    test(`${vendor} receives its key as it documents, on ${dialect}`, () =>
      assert.deepEqual(upstreamVendors[vendor].credentialHeaders('k', dialect), expected));
  }

  for (const vendor of Object.values(upstreamVendors)) {
    test(`${vendor.id} forwards no credential, cookie or framing header`, () => {
      const secrets = ['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key', 'x-goog-api-key', 'api-key', 'token'];
      const framing = ['host', 'connection', 'content-length', 'content-encoding', 'transfer-encoding', 'te', 'upgrade', 'expect'];
      const accounts = ['openai-organization', 'openai-project', 'x-goog-user-project', 'x-forwarded-for', 'forwarded'];
      const passesRequest = compileHeaderList(vendor.requestHeaders);
      const passesReply = compileHeaderList(vendor.replyHeaders);
      for (const name of [...secrets, ...framing, ...accounts]) assert.equal(passesRequest(name), false, name);
      const standing = ['anthropic-organization-id', 'x-ratelimit-remaining-requests', 'anthropic-ratelimit-requests-remaining'];
      const replies = [...secrets, ...framing, ...accounts, ...standing, 'anthropic-priority-input-tokens-remaining'];
      for (const name of replies) assert.equal(passesReply(name), false, name);
    });

    test(`${vendor.id} has header lists whose entries can match`, () => {
      const aliases = Object.entries(vendor.headerAliases ?? {}).flat();
      for (const entry of [...vendor.requestHeaders, ...vendor.replyHeaders, ...aliases]) assert.match(entry, /^[a-z0-9_-]+\*?$/);
      const passes = compileHeaderList(vendor.requestHeaders);
      for (const [alias, name] of Object.entries(vendor.headerAliases ?? {})) {
        assert.equal(passes(name), true, `${name} passes under its own name too`);
        assert.equal(passes(alias), false, `${alias} passes only as ${name}`);
      }
      for (const name of ['user-agent', 'x-stainless-retry-count']) assert.equal(passes(name), true, name);
      for (const name of ['content-type', 'retry-after', 'x-request-id'])
        assert.equal(compileHeaderList(vendor.replyHeaders)(name), true, name);
    });

    test(`${vendor.id} has a valid address and a variable for its key, or the operator configures both`, () => {
      assert.equal(vendor.defaultBaseUrl === undefined, vendor.keyVariables.length === 0);
      if (vendor.defaultBaseUrl === undefined) return;
      const url = new URL(vendor.defaultBaseUrl);
      assert.equal(url.protocol, 'https:');
      assert.ok(!vendor.defaultBaseUrl.endsWith('/'));
    });
  }

  test('the registry names each vendor by its own id, and vendors share no variable', () => {
    for (const [id, vendor] of Object.entries(upstreamVendors)) assert.equal(vendor.id, id);
    const variables = Object.values(upstreamVendors).flatMap(({ keyVariables }) => keyVariables);
    assert.equal(new Set(variables).size, variables.length);
  });
});
