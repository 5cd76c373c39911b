import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import fc from 'fast-check';

import type { ChatDialect } from '../../src/dialects/chat-dialect.ts';
import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { chatDialects } from '../../src/dialects/registry.ts';
import { addressMembers } from '../../src/dialects/request-survey.ts';
import { openFixtures } from '../../src/dialects/testing/fixture-suite.ts';
import type { WireRequest } from '../../src/dialects/wire-request.ts';
import { refusePrivateAddresses } from '../../src/gateway/attempts/exchange/private-addresses.ts';
import { fileDialects } from '../../src/gateway/endpoints/chat/place-file.ts';
import { GatewayError } from '../../src/inference/gateway-error.ts';
import { indexJson } from '../../src/platform/json/index-json.ts';
import { attachIndex } from '../../src/platform/json/indexed-object.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/platform/json/json-value.ts';
import { toSchemaNode } from '../../src/platform/schema/schema-node.ts';
import { contexts } from '../translation/every-field/contexts.ts';
import { walkSchema } from '../translation/every-field/walk-schema.ts';

/**
 * A request that passes through is checked and read on the index of its bytes. It must not be parsed for that, and
 * every answer must be that of the parsed request.
 */
const dialects = Object.values(chatDialects);

const headers = { 'anthropic-version': '2023-06-01' };
const fit = { requestedModel: 'm', upstreamModel: 'other', acceptsStreamOptions: true };
const usualHeaders = (id: DialectId): Pick<WireRequest, 'operation' | 'headers' | 'pathModel'> => ({
  operation: 'generate',
  headers,
  ...(id === 'gemini-generate-content' && { pathModel: 'm' }),
});

/** The same body with an index. */
function indexed(body: JsonObject, bytes: Buffer): JsonObject {
  const copy = { ...body };
  attachIndex(copy, indexJson(bytes));
  return copy;
}

/** The same body, of which nobody may read a list: only the conversation and the tools are lists. */
function unreadable(body: JsonObject, bytes: Buffer): JsonObject {
  const copy = { ...body };
  for (const name of Object.keys(body)) {
    if (!Array.isArray(body[name])) continue;
    Object.defineProperty(copy, name, {
      enumerable: true,
      get: () => assert.fail(`${name} was parsed`),
    });
  }
  attachIndex(copy, indexJson(bytes));
  return copy;
}

type Outcome = { readonly value: unknown } | { readonly error: string };

function outcomeOf(run: () => unknown): Outcome {
  try {
    return { value: run() };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { error: JSON.stringify([error.code, error.message, error.param]) };
  }
}

/** Bodies with every field of the interface, as its fixtures and its schema have them. */
function listBodies(dialect: ChatDialect): readonly JsonObject[] {
  const fixtures = openFixtures(fileURLToPath(new URL(`../../src/dialects/${dialect.id}/fixtures`, import.meta.url)));
  const { given, complete } = contexts[dialect.id];
  const probes = walkSchema(toSchemaNode(dialect.requestSchema('generate', 'compatible')), given).flatMap((probe) => [
    probe.with,
    probe.without,
  ]);
  return [
    ...fixtures.casesOf('.request.json').map((name) => fixtures.readJson(`${name}.request.json`)),
    ...probes.filter(isJsonObject).map(complete),
  ];
}

const isValid = (dialect: ChatDialect, body: JsonObject): boolean =>
  'value' in outcomeOf(() => dialect.validateRequest({ ...usualHeaders(dialect.id), body }, 'compatible'));

/** Odd values that the tests put in place of others. */
const oddValues: readonly JsonValue[] = [
  null,
  '',
  ' http://127.0.0.1/x',
  'file:///etc/passwd',
  'gw1.abc',
  'Z3cxLg==',
  'srvtoolu_gw1_a',
  'rs_gw1',
  'ws_gw1',
  'a\u0000b\\"\n',
  '😀'.repeat(40),
  0,
  -1,
  1.5,
  true,
  [],
  {},
  { url: 'http://localhost/' },
  { id: 'x' },
  [{ type: 'file', file_id: 'file-1' }],
  'compaction_trigger',
  'item_reference',
  'web_search_preview',
];
const oddNames = [
  ...addressMembers,
  'file_id',
  'audio',
  'container',
  'signature',
  'id',
  'type',
  'content',
  'domains',
  'vendor_search',
  'max_tokens',
];

/** Changes one place of a value: replaces, removes, renames or adds a member. */
function change(value: JsonValue, draw: (below: number) => number): JsonValue {
  if (Array.isArray(value) && value.length > 0 && draw(4) > 0) {
    const at = draw(value.length);
    return value.map((item: JsonValue, index) => (index === at ? change(item, draw) : item));
  }
  if (isJsonObject(value) && draw(8) > 0) {
    const names = Object.keys(value);
    const name = names[draw(names.length)];
    const kind = draw(6);
    if (name === undefined || kind === 0)
      return { ...value, [oddNames[draw(oddNames.length)] ?? '']: oddValues[draw(oddValues.length)] ?? null };
    const { [name]: member, ...rest } = value;
    if (kind === 1) return rest;
    if (kind === 2) return { ...rest, [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]: member };
    return { ...value, [name]: change(member ?? null, draw) };
  }
  return oddValues[draw(oddValues.length)] ?? null;
}

/** Sometimes with escapes in keys and texts. */
function write(body: JsonObject, escapes: boolean): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(escapes ? text.replaceAll(/(?<=["a-z])e(?=[a-z"])/g, String.raw`\u0065`) : text);
}

for (const dialect of dialects) {
  const common = usualHeaders(dialect.id);
  const bodies = listBodies(dialect);
  const valid = bodies.filter((body) => isValid(dialect, body));

  describe(dialect.id, () => {
    test('valid requests are checked and read without being parsed', () => {
      assert.ok(valid.length > 20, String(valid.length));
      const parsed = valid.flatMap((body) => {
        const bytes = write(body, false);
        const request = { ...common, body: unreadable(body, bytes) };
        try {
          dialect.validateRequest(request, 'compatible');
          dialect.readFacts(request);
          const survey = dialect.surveyRequest(request.body);
          if (survey?.mayHave('own-spelling') === false) dialect.editRequest(request, bytes, fit);
          return [];
        } catch (error) {
          return error instanceof assert.AssertionError ? [`${error.message}: ${JSON.stringify(body).slice(0, 300)}`] : [];
        }
      });
      // Spellings that clients rarely use are checked on the parsed request.
      assert.ok(parsed.length <= valid.length / 50, parsed.join('\n'));
    });

    test('an indexed request has the same refusal, facts and edits as the parsed one', () => {
      fc.assert(
        fc.property(fc.nat(), fc.boolean(), fc.infiniteStream(fc.nat()), (which, escapes, draws) => {
          const draw = (below: number): number => (below === 0 ? 0 : (draws.next().value as number) % below);
          const chosen = bodies[which % bodies.length] ?? {};
          const changed = draw(4) === 0 ? chosen : change(chosen, draw);
          if (!isJsonObject(changed)) return;
          const bytes = write(changed, escapes);
          const body = JSON.parse(bytes.toString()) as JsonObject;
          compare(dialect, body, bytes);
        }),
        { numRuns: 4000 },
      );
    });
  });
}

/** Compares everything that is read of a request with and without an index. */
function compare(dialect: ChatDialect, body: JsonObject, bytes: Buffer): void {
  const common = usualHeaders(dialect.id);
  const plain = { ...common, body };
  const request = { ...common, body: indexed(body, bytes) };
  for (const mode of ['compatible', 'documented'] as const) {
    const expected = outcomeOf(() => dialect.validateRequest(plain, mode));
    assert.deepEqual(
      outcomeOf(() => dialect.validateRequest(request, mode)),
      expected,
      mode,
    );
    if (mode === 'compatible' && 'error' in expected) return;
  }
  assert.deepEqual(dialect.readFacts(request), dialect.readFacts(plain));
  assert.deepEqual(dialect.editRequest(request, bytes, fit), dialect.editRequest(plain, bytes, fit));
  const survey = dialect.surveyRequest(request.body);
  assert.ok(survey !== undefined);
  if (!survey.mayHave('private-address')) refusePrivateAddresses(dialect.id, body);
  if (!survey.mayHave('stored-id')) assert.deepEqual([...dialect.findStoredIds(body)], []);
  if (!survey.mayHave('foreign-proof')) assert.equal(dialect.codec.removeForeignProofs(body), body);
  if (!survey.mayHave('file')) assert.deepEqual(listFiles(dialect.id, body), []);
}

/** The ids of files that a body names. */
function listFiles(dialect: DialectId, body: JsonObject): readonly string[] {
  const places = fileDialects[dialect];
  const look = (value: JsonValue | undefined, key: string): readonly string[] => {
    if (Array.isArray(value)) return value.flatMap((item: JsonValue) => look(item, key));
    if (!isJsonObject(value)) return [];
    const own = places?.readPlaces(value, key).map(({ fileId }) => fileId) ?? [];
    return [...own, ...Object.keys(value).flatMap((name) => look(value[name], name))];
  };
  return places?.roots.flatMap((root) => look(body[root], root)) ?? [];
}

test('every member with an address of media is watched', () => {
  const members = dialects.flatMap(({ mediaMembers }) => mediaMembers.addresses);
  assert.deepEqual(
    members.filter((name) => !addressMembers.some((watched) => watched === name)),
    [],
  );
});
