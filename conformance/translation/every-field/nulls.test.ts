import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { ChatDialect } from '../../../src/dialects/chat-dialect.ts';
import type { DialectId, ValidationMode } from '../../../src/dialects/dialect-id.ts';
import { chatDialects } from '../../../src/dialects/registry.ts';
import { GatewayError } from '../../../src/inference/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../../src/platform/json/json-value.ts';
import { toSchemaNode } from '../../../src/platform/schema/schema-node.ts';
import { upstreamVendors } from '../../../src/upstreams/registry.ts';
import { post } from '../../support/http.ts';
import { modelName, startTranslationBench, type TranslationBench } from '../bench.ts';
import { translationClients } from '../clients/clients.ts';
import { judge, type Route } from './judge.ts';

/** C26: null counts as absent, or is refused by the gateway itself with a message that names the field. */
const dialects: readonly ChatDialect[] = Object.values(chatDialects);
const modes: readonly ValidationMode[] = ['compatible', 'documented'];

/** The minimal request of each dialect. */
const least: Readonly<Record<DialectId, JsonObject>> = {
  'anthropic-messages': { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  'openai-responses': { model: 'm', input: 'Hi' },
  'openai-chat': { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  'gemini-generate-content': { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
};

const targets = {
  'anthropic-messages': ['anthropic', 'claude-sonnet-4-5'],
  'openai-responses': ['openai', 'gpt-4.1'],
  'openai-chat': ['openai-compatible', 'llama'],
  'gemini-generate-content': ['gemini', 'gemini-2.5-flash-lite'],
} as const;

const fieldsOf = (dialect: ChatDialect): readonly string[] =>
  Object.keys(toSchemaNode(dialect.requestSchema('generate', 'compatible')).properties ?? {});

function routeOf(client: ChatDialect, upstream: ChatDialect): Route {
  const [vendor, upstreamModel] = targets[upstream.id];
  return { client, upstream, upstreamModel, traits: upstreamVendors[vendor].traitsOf(upstreamModel) };
}

/** The refusal of a body by validation, or undefined. @throws other errors */
function refusalOf(dialect: ChatDialect, body: JsonObject, mode: ValidationMode): GatewayError | undefined {
  try {
    dialect.validateRequest({ operation: 'generate', body, headers: { 'anthropic-version': '2023-06-01' }, pathModel: 'm' }, mode);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

for (const client of dialects) {
  test(`null in any field of ${client.title} counts as absent, or is refused by its name`, () => {
    const base = least[client.id];
    const fields = fieldsOf(client);
    assert.ok(fields.length >= 10, fields.join());
    for (const mode of modes) {
      for (const field of fields) {
        const body = { ...base, [field]: null };
        const refusal = refusalOf(client, body, mode);
        const what = `${field} in ${mode} mode`;
        if (refusal !== undefined) {
          assert.equal(refusal.param, field, `${what}: ${refusal.message}`);
          assert.ok(refusal.message.includes(field), `${what}: ${refusal.message}`);
          continue;
        }
        const { [field]: _absent, ...without } = body;
        for (const upstream of dialects.filter(({ id }) => id !== client.id)) {
          const judged = judge(routeOf(client, upstream), { path: field, with: body, without }, {});
          // The outcome of null must be "lost": the request, its notes and its refusals are the same without it.
          assert.deepEqual([judged.outcome, judged.why], ['lost', 'the result is the same without it'], `${what} to ${upstream.title}`);
        }
      }
    }
  });

  test(`no optional field of ${client.title} is refused if the vendor accepts null`, () => {
    const required = new Set(Object.keys(least[client.id]));
    const refused = fieldsOf(client).filter(
      (field) => !required.has(field) && refusalOf(client, { ...least[client.id], [field]: null }, 'compatible') !== undefined,
    );
    assert.deepEqual(refused, []);
  });
}

describe('null fields at a running gateway', () => {
  let bench: TranslationBench;
  before(async () => {
    bench = await startTranslationBench();
  });
  after(() => bench[Symbol.asyncDispose]());

  for (const client of translationClients) {
    for (const upstream of dialects.filter(({ id }) => id !== client.dialect)) {
      test(`null in any field of ${client.title} is answered from ${upstream.title}, or refused by its name`, async () => {
        const { gatewayUrl, apiKey } = bench.weir;
        const written = client.write({ turns: [{ role: 'user', parts: ['Hello'] }] }, modelName('plain', upstream.id), false);
        assert.ok(isJsonObject(written.body));
        for (const field of fieldsOf(chatDialects[client.dialect])) {
          const body = { ...written.body, [field]: null };
          const answer = await post(gatewayUrl + written.path, body, { authorization: `Bearer ${apiKey}`, ...written.headers });
          if (answer.status === 200) continue;
          assert.equal(answer.status, 400, `${field}: ${answer.text}`);
          assert.ok(answer.json.error.message.includes(field), `${field}: ${answer.text}`);
          assert.ok(Object.hasOwn(least[client.dialect], field), `${field}: ${answer.text}`);
        }
      });
    }
  }

  test('null in optional fields of a request for embeddings does not reach the upstream', async () => {
    const { gatewayUrl, apiKey } = bench.weir;
    const headers = { authorization: `Bearer ${apiKey}` };
    const base = { model: 'text-embedding-3-small', input: 'Hello' };
    for (const field of ['encoding_format', 'dimensions', 'user']) {
      const answer = await post(`${gatewayUrl}/v1/embeddings`, { ...base, [field]: null }, headers);
      assert.equal(answer.status, 200, `${field}: ${answer.text}`);
      assert.deepEqual(bench.simulator.records().at(-1)?.requestBody, base);
    }
    for (const field of ['model', 'input']) {
      const answer = await post(`${gatewayUrl}/v1/embeddings`, { ...base, [field]: null }, headers);
      assert.equal(answer.status, 400, answer.text);
      assert.deepEqual([answer.json.error.param, String(answer.json.error.message).includes(field)], [field, true]);
    }
  });
});
