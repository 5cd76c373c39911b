import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { findConverseProblem } from '../../simulator/src/clouds/aws/converse/check-converse.ts';
import { findConverseModel } from '../../simulator/src/clouds/aws/converse/converse-models.ts';
import { chatDialects, upstreamDialects } from '../../src/dialects/registry.ts';
import { arbitraryOddRequest, arbitraryRequest } from '../../src/dialects/testing/codec-arbitraries.ts';
import { testCodec } from '../../src/dialects/testing/codec-suite.ts';
import { GatewayError } from '../../src/inference/gateway-error.ts';
import type { InferenceRequest } from '../../src/inference/inference-request.ts';
import { createTranslationNotes } from '../../src/inference/translation-notes.ts';
import { traitsOfBedrock } from '../../src/upstreams/bedrock/model-traits.ts';
import { acceptBody, assertDescribed } from './accept-body.ts';

for (const dialect of Object.values(chatDialects)) {
  // Generate-content has no name for the end user.
  const silentlyLost = dialect.id === 'gemini-generate-content' ? (['endUser'] as const) : [];
  testCodec({
    dialect,
    acceptBody: acceptBody(dialect.id),
    acceptReply: (reply) => assertDescribed(dialect.id, 'reply', reply),
    silentlyLost,
  });
}

/** Models of Bedrock that differ in what they take, by their ids. */
const converseModels = [
  'us.amazon.nova-pro-v1:0',
  'us.amazon.nova-micro-v1:0',
  'global.amazon.nova-2-lite-v1:0',
  'us.meta.llama3-3-70b-instruct-v1:0',
  'us.meta.llama4-scout-17b-instruct-v1:0',
  'meta.llama3-8b-instruct-v1:0',
  'mistral.mistral-large-2407-v1:0',
  'mistral.mistral-7b-instruct-v0:2',
  'us.deepseek.r1-v1:0',
  'deepseek.v3.2',
  'qwen.qwen3-32b-v1:0',
];

/** The refusal of a request, by the simulated Bedrock or by the codec, which then names the field. */
function findRefusal(id: string, request: InferenceRequest): string | undefined {
  const found = findConverseModel(id);
  assert.ok(found);
  const notes = createTranslationNotes(upstreamDialects['bedrock-converse'].codec.fieldNames, false);
  const fit = { upstreamModel: id, traits: traitsOfBedrock(id), proofOrigin: 'vendor', notes };
  try {
    const { body, streams } = upstreamDialects['bedrock-converse'].codec.encodeRequest(request, fit);
    return findConverseProblem(JSON.parse(JSON.stringify(body)), found.model, request.stream && streams !== false);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'untranslatable_field' && error.param !== undefined) return undefined;
    throw error;
  }
}

for (const id of converseModels)
  test(`bedrock-converse: ${id} takes every request that is written for it`, () => {
    // The simulated service did not sign the reasoning of arbitrary requests.
    const unsigned = (request: InferenceRequest): InferenceRequest => ({
      ...request,
      turns: request.turns.map((turn) => ({ ...turn, parts: turn.parts.filter(({ kind }) => kind !== 'reasoning') })),
    });
    const check = (request: InferenceRequest): void => assert.equal(findRefusal(id, unsigned(request)), undefined);
    fc.assert(fc.property(arbitraryRequest, check), { numRuns: 60 });
    fc.assert(fc.property(arbitraryOddRequest, check), { numRuns: 60 });
  });
