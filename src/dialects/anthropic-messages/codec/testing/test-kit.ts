import assert from 'node:assert/strict';

import Anthropic from '@anthropic-ai/sdk';

import type { TraitDifferences } from '../../../../inference/testing/fake-traits.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../../chat-codec.ts';
import {
  createFakeRequest,
  createFakeTranslation,
  decodeFrames,
  encodeEvents,
  listNotes,
  readFrames,
  type NotedRequest,
} from '../../../testing/fake-translation.ts';
import { validateRequest } from '../../validate-request.ts';
import { codec } from '../codec.ts';

/** The usual model has a budget, supports everything, and continues assistant turns. */
const translation = createFakeTranslation({
  fieldNames: codec.fieldNames,
  upstreamModel: 'claude-upstream',
  traits: { outputTokensMax: 64_000, reasoning: 'budget' },
  proofOrigin: 'anthropic',
  idSeparator: '_',
  writing: { createdAtMs: 0, inputTokensEstimate: 77 },
});

export const { createFit, createReading } = translation;

/** The differences of a model with efforts, fixed sampling and no prefill. */
export const effortTraits: TraitDifferences = {
  reasoning: 'effort',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  fixedSampling: true,
  prefill: false,
};

export const headers = { 'anthropic-version': '2023-06-01' };

/** Encodes a request and checks the body against this dialect's own schema. */
export function encode(members: Partial<InferenceRequest>, differences: TraitDifferences = {}): NotedRequest {
  const fit = createFit(differences);
  const encoded = codec.encodeRequest(createFakeRequest(members), fit);
  validateRequest({ operation: 'generate', body: encoded.body, headers }, 'compatible');
  assert.ok(!JSON.stringify(encoded.body).includes(':null'), 'nothing is filled up with null');
  return { ...encoded, notes: listNotes(fit) };
}

export function decode(body: JsonObject): InferenceRequest {
  const complete = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...body };
  validateRequest({ operation: 'generate', body: complete, headers }, 'compatible');
  return codec.decodeRequest({ operation: 'generate', body: complete, headers });
}

/** A writing for a client that requested thoughts, unless it sent another request. */
export const createWriting = (request: JsonObject = { thinking: { type: 'enabled', budget_tokens: 1024 } }): ReplyWriting =>
  translation.createWriting(request);

/** Decodes a stream that arrives in chunks of this size. */
export const decodeStream = (body: Buffer | string, chunkBytes?: number): readonly InferenceEvent[] =>
  decodeFrames(codec.createEventDecoder(createReading(), 'sse'), readFrames(body, 'sse', chunkBytes));

export function encodeStream(events: readonly InferenceEvent[], writing: ReplyWriting = createWriting()): string {
  const encoder = codec.createEventEncoder(writing, 'sse');
  const text = encodeEvents(encoder, events);
  assert.equal(encoder.position().framesSent, text.split('\n\n').length - 1);
  return text;
}

/** The events of a stream, from its data members. */
export function dataOf(stream: string): readonly JsonObject[] {
  return [...stream.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1] ?? '') as JsonObject);
}

/** Reads a stream with the vendor's SDK. */
export async function readWithSdk(stream: string): Promise<JsonObject> {
  const client = new Anthropic({
    apiKey: 'k',
    maxRetries: 0,
    fetch: async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const message = await client.messages
    .stream({ model: 'asked', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] })
    .finalMessage();
  return JSON.parse(JSON.stringify(message)) as JsonObject;
}
