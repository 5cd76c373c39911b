import assert from 'node:assert/strict';

import Anthropic from '@anthropic-ai/sdk';

import { createEventFolder } from '../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import type { InferenceRequest } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { createTranslationNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';
import type { EncodedRequest, ReplyReading, ReplyWriting, RequestFit } from '../../chat-codec.ts';
import { validateRequest } from '../validate-request.ts';
import { anthropicMessagesCodec as codec } from './codec.ts';

/** A model that is steered by a budget, takes everything, and continues assistant turns. */
export const budgetTraits: ModelTraits = {
  outputTokensMax: 64_000,
  reasoning: 'budget',
  alwaysReasons: false,
  fixedSampling: false,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: true,
  prefill: true,
  webSearch: true,
  codeExecution: true,
  mixesTools: true,
  requiresProofs: false,
  chat: {
    outputLimitField: 'max_tokens',
    systemRole: 'system',
    streamOptions: true,
    parallelToolCallsField: true,
    forcedToolChoice: true,
    reasoningField: 'reasoning_effort',
    acceptsTopK: true,
  },
};

/** A model that is steered by an effort, with fixed sampling and without prefill. */
export const effortTraits: ModelTraits = {
  ...budgetTraits,
  reasoning: 'effort',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  fixedSampling: true,
  prefill: false,
};

export const headers = { 'anthropic-version': '2023-06-01' };

export function createFit(traits: Partial<ModelTraits> = {}, strict = false): RequestFit {
  return {
    upstreamModel: 'claude-upstream',
    traits: { ...budgetTraits, ...traits },
    proofOrigin: 'anthropic',
    notes: createTranslationNotes(codec.fieldNames, strict),
  };
}

export function createRequest(parts: Partial<InferenceRequest>): InferenceRequest {
  return {
    model: 'asked',
    stream: false,
    instructions: [],
    turns: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
    tools: [],
    sampling: {},
    vendorFields: [],
    ...parts,
  };
}

export type Encoded = EncodedRequest & { readonly notes: readonly string[] };

/** Encodes a request, checks the body against this dialect's own schema, and gives the notes as `kind field`. */
export function encode(parts: Partial<InferenceRequest>, traits: Partial<ModelTraits> = {}): Encoded {
  const fit = createFit(traits);
  const encoded = codec.encodeRequest(createRequest(parts), fit);
  validateRequest({ operation: 'generate', body: encoded.body, headers }, 'compatible');
  assert.ok(!JSON.stringify(encoded.body).includes(':null'), 'nothing is filled up with null');
  return { ...encoded, notes: fit.notes.list().map(({ kind, field }) => `${kind} ${field}`) };
}

export function decode(body: JsonObject): InferenceRequest {
  const complete = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...body };
  validateRequest({ operation: 'generate', body: complete, headers }, 'compatible');
  return codec.decodeRequest({ operation: 'generate', body: complete, headers });
}

function countIds(): (prefix: string) => string {
  let count = 0;
  return (prefix) => `${prefix}${(count += 1)}`;
}

export function createReading(): ReplyReading {
  return { proofOrigin: 'anthropic', newId: countIds(), notes: createTranslationNotes(codec.fieldNames, false) };
}

export function createWriting(request: JsonObject = { thinking: { type: 'enabled', budget_tokens: 1024 } }): ReplyWriting {
  return {
    requestId: 'req_1',
    requestedModel: 'asked',
    request,
    createdAtMs: 0,
    inputTokensEstimate: 77,
    newId: countIds(),
    notes: createTranslationNotes(codec.fieldNames, false),
  };
}

/** Decodes a stream that comes in chunks of so many bytes. */
export function decodeStream(body: Buffer | string, chunkBytes = Number.MAX_SAFE_INTEGER): readonly InferenceEvent[] {
  const bytes = Buffer.from(body);
  const reader = createSseFrameReader({ frameBytesMax: 1_000_000 });
  const decoder = codec.createEventDecoder(createReading(), 'sse');
  const events: InferenceEvent[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    for (const frame of reader.push(bytes.subarray(at, at + chunkBytes))) events.push(...decoder.read(frame));
  }
  return [...events, ...decoder.end()];
}

export function encodeStream(events: readonly InferenceEvent[], writing: ReplyWriting = createWriting()): string {
  const encoder = codec.createEventEncoder(writing, 'sse');
  const text = events.map((event) => encoder.write(event)).join('');
  assert.equal(encoder.position().framesSent, text.split('\n\n').length - 1);
  return text;
}

export function fold(events: readonly InferenceEvent[]): InferenceReply {
  const folder = createEventFolder();
  for (const event of events) folder.push(event);
  return folder.reply();
}

/** The events of a stream as its data members say them. */
export function dataOf(stream: string): readonly JsonObject[] {
  return [...stream.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1] ?? '') as JsonObject);
}

/** What the vendor's SDK makes of a stream. */
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

/** Checks the grammar of neutral events: one beginning, blocks that end, one end. */
export function assertGrammar(events: readonly InferenceEvent[], finishes = true): void {
  const open = new Set<number>();
  let next = 0;
  events.forEach((event, at) => {
    assert.equal(event.type === 'started', at === 0, `${event.type} at ${at}`);
    assert.equal(event.type === 'finished', finishes && at === events.length - 1, `${event.type} at ${at}`);
    if (event.type === 'block-started' || event.type === 'part') assert.equal(event.index, next++);
    if (event.type === 'block-started') open.add(event.index);
    else if ('index' in event && event.type !== 'part') assert.ok(open.has(event.index), `${event.type} of a block that is not open`);
    if (event.type === 'block-ended') open.delete(event.index);
    if (event.type === 'delta') assert.notEqual(event.text, '');
  });
  assert.equal(open.size, 0);
}
