import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { ChatDialect } from '../../../src/dialects/chat-dialect.ts';
import type { DialectId } from '../../../src/dialects/dialect-id.ts';
import { chatDialects } from '../../../src/dialects/registry.ts';
import { applyJsonEdits } from '../../../src/platform/json/json-edits.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/platform/json/json-value.ts';
import { toSchemaNode } from '../../../src/platform/schema/schema-node.ts';
import type { VendorId } from '../../../src/upstreams/upstream-vendor.ts';
import { upstreamVendors } from '../../../src/upstreams/registry.ts';
import { contexts } from './contexts.ts';
import { judge, type FieldCase, type Outcome, type Route } from './judge.ts';
import { silentFields } from './silent-fields.ts';
import { walkSchema, writePath } from './walk-schema.ts';

/** Models of each dialect: one that only answers, and one that thinks. */
const models: Readonly<Record<DialectId, readonly (readonly [vendor: VendorId, model: string])[]>> = {
  'anthropic-messages': [['anthropic', 'claude-sonnet-4-5']],
  'openai-responses': [
    ['openai', 'gpt-4.1'],
    ['openai', 'gpt-5.4'],
  ],
  'openai-chat': [
    ['openai-compatible', 'llama'],
    ['xai', 'grok-4.3'],
  ],
  'gemini-generate-content': [
    ['gemini', 'gemini-2.5-flash-lite'],
    ['gemini', 'gemini-3.5-flash'],
  ],
};

/** Fields that a note names differently: the sources of a text are named with the text. */
const aliases: Readonly<Record<string, string>> = { 'messages[].annotations': 'messages[].content' };

/** Fields that the contract spells differently from the vendor: they are sent in the vendor's spelling. */
const spelledAnew = new Set(['tools[].domains']);

const dialects = Object.values(chatDialects);

const routesBetween = (client: ChatDialect, upstream: ChatDialect): readonly Route[] =>
  models[upstream.id].map(([vendor, upstreamModel]) => ({
    client,
    upstream,
    upstreamModel,
    traits: upstreamVendors[vendor].traitsOf(upstreamModel),
  }));

type NamedCase = FieldCase & { readonly value: JsonValue | undefined };

const step = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  Array.isArray(value) ? (value[0] as JsonValue | undefined) : isJsonObject(value) ? value[name] : undefined;

/** Every field that the dialect's request schema names, in a valid request of the dialect. */
function listCases(dialect: ChatDialect): readonly NamedCase[] {
  const { given, complete } = contexts[dialect.id];
  return walkSchema(toSchemaNode(dialect.requestSchema('generate', 'compatible')), given).map((probe) => {
    assert.ok(isJsonObject(probe.with) && isJsonObject(probe.without));
    const { path, with: said, without, ...rest } = probe;
    return { ...rest, path: writePath(path), with: complete(said), without: complete(without), value: path.reduce(step, said) };
  });
}

function mayBeSilent({ path, value }: NamedCase, client: DialectId, to: DialectId): boolean {
  const isSame = (other: JsonValue): boolean => JSON.stringify(other) === JSON.stringify(value);
  return silentFields[client].some(
    (field) => field.path === path && (field.values?.some(isSame) ?? true) && (field.to?.includes(to) ?? true),
  );
}

/** One value of a switch is the default. */
const isSwitch = ({ value }: NamedCase): boolean => typeof value === 'boolean';

/** The losses on a route, one line each, and the number of each outcome. */
function walkRoute(route: Route, cases: readonly NamedCase[]): { readonly lost: readonly string[]; readonly counts: Map<Outcome, number> } {
  const counts = new Map<Outcome, number>();
  const lost: { readonly one: NamedCase; readonly line: string }[] = [];
  const reported = new Set<string>();
  for (const one of cases) {
    const { outcome, why = '' } = judge(route, one, aliases);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    if (outcome !== 'lost') reported.add(one.path);
    else if (!mayBeSilent(one, route.client.id, route.upstream.id)) {
      lost.push({ one, line: `${one.path} = ${JSON.stringify(one.value)} to ${route.upstreamModel}: ${why}` });
    }
  }
  return { lost: lost.filter(({ one }) => !(isSwitch(one) && reported.has(one.path))).map(({ line }) => line), counts };
}

const casesOf: Readonly<Record<DialectId, readonly NamedCase[]>> = {
  'anthropic-messages': listCases(chatDialects['anthropic-messages']),
  'openai-responses': listCases(chatDialects['openai-responses']),
  'openai-chat': listCases(chatDialects['openai-chat']),
  'gemini-generate-content': listCases(chatDialects['gemini-generate-content']),
};

describe('every field of every request schema', () => {
  for (const client of dialects) {
    test(`is tested in a request that ${client.title} accepts`, () => {
      const cases = casesOf[client.id];
      assert.ok(cases.length > 100, `${cases.length} cases`);
      for (const one of cases) {
        const request = { operation: 'generate', body: one.with, headers: { 'anthropic-version': '2023-06-01' }, pathModel: 'm' } as const;
        assert.doesNotThrow(() => client.validateRequest(request, 'compatible'), `${one.path}: ${JSON.stringify(one.with)}`);
      }
    });

    for (const upstream of dialects) {
      const way = client === upstream ? 'decoded and encoded again' : `translated for ${upstream.title}`;
      test(`every field of ${client.title} is carried, adapted, named or refused ${way}`, () => {
        const walks = routesBetween(client, upstream).map((route) => walkRoute(route, casesOf[client.id]));
        assert.deepEqual(
          walks.flatMap(({ lost }) => lost),
          [],
        );
        for (const { counts } of walks) assert.ok((counts.get('carried') ?? 0) > 40, `carried: ${counts.get('carried')}`);
      });
    }

    test(`every field of ${client.title} passes through unchanged`, () => {
      for (const one of casesOf[client.id]) {
        const bytes = Buffer.from(JSON.stringify(one.with));
        const request = { operation: 'generate', body: one.with, headers: {}, pathModel: 'm' } as const;
        const fit = { requestedModel: 'm', upstreamModel: 'upstream-model', acceptsStreamOptions: true, takesOwnSpellings: true };
        const passed = JSON.parse(applyJsonEdits(bytes, client.editRequest(request, bytes, fit)).toString()) as JsonObject;
        if (!spelledAnew.has(one.path)) assert.deepEqual(withoutOwn(passed), withoutOwn(one.with), one.path);
        else assert.ok(JSON.stringify(passed).includes(one.marker ?? ''), one.path);
      }
    });
  }

  test('every entry of the table of silent fields has an effect', () => {
    for (const client of dialects) {
      for (const { path } of silentFields[client.id]) {
        assert.ok(
          casesOf[client.id].some((one) => one.path === path),
          `${client.id} has no field ${path}`,
        );
      }
    }
  });
});

/** Permitted changes of passthrough: the model's name, and the request for usage. */
function withoutOwn({ model: _model, stream_options: _options, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** A dialect that loses fields without a neutral name, like a codec with a gap. */
function forgetful(dialect: ChatDialect): ChatDialect {
  const { codec } = dialect;
  return { ...dialect, codec: { ...codec, decodeRequest: (request) => ({ ...codec.decodeRequest(request), vendorFields: [] }) } };
}

describe('a codec that loses a field without a note', () => {
  const messages: JsonObject = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
  const contents: JsonObject = { contents: [{ parts: [{ text: 'Hi' }] }] };
  const cases: readonly (readonly [client: DialectId, path: string, without: JsonObject, said: JsonObject])[] = [
    ['anthropic-messages', 'speed', messages, { speed: 'fast' }],
    ['anthropic-messages', 'context_management', messages, { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }],
    ['anthropic-messages', 'service_tier', messages, { service_tier: 'express' }],
    [
      'gemini-generate-content',
      'generationConfig.mediaResolution',
      contents,
      { generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' } },
    ],
  ];
  for (const [client, path, without, said] of cases) {
    test(`the loss is detected by ${path}, which has another name`, () => {
      for (const upstream of dialects.filter(({ id }) => id !== client)) {
        const one = { path, without, with: { ...without, ...said } };
        for (const route of routesBetween(chatDialects[client], upstream)) {
          assert.equal(judge({ ...route, client: forgetful(chatDialects[client]) }, one, {}).outcome, 'lost');
          assert.equal(judge(route, one, {}).outcome, 'named');
        }
      }
    });
  }
});
