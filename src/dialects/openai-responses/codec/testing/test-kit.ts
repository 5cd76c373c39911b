import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { TraitDifferences } from '../../../../inference/testing/fake-traits.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceRequest, Part } from '../../../../inference/inference-request.ts';
import type { FieldNames } from '../../../../inference/translation-notes.ts';
import { textOf } from '../../../../platform/json/json-readers.ts';
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

/** Field names of another dialect, so that tests see whose names the notes use. */
const clientNames: FieldNames = { ...codec.fieldNames, stopSequences: 'stop', topK: 'top_k', seed: 'seed', turns: 'messages' };

const translation = createFakeTranslation({
  fieldNames: clientNames,
  upstreamModel: 'upstream-model',
  traits: { prefill: false },
  proofOrigin: 'openai',
  idSeparator: '_',
  writing: { requestedModel: 'asked-model' },
});

export const { createFit, createReading } = translation;

export const createWriting = (request: JsonObject = {}): ReplyWriting =>
  translation.createWriting({ model: 'asked-model', input: 'Hi', ...request });

/** A request with only these members. */
export const createRequest = (members: Partial<InferenceRequest> = {}): InferenceRequest =>
  createFakeRequest({ model: 'asked-model', ...members });

/** Encodes a request and checks that the vendor would accept it. */
export function encode(members: Partial<InferenceRequest> = {}, differences: TraitDifferences = {}): NotedRequest {
  const fit = createFit(differences);
  const encoded = codec.encodeRequest(createRequest(members), fit);
  validateRequest({ operation: 'generate', body: encoded.body, headers: {} }, 'compatible');
  return { ...encoded, notes: listNotes(fit) };
}

/** Decodes a request after checking that the vendor would accept it. */
export function decode(fields: JsonObject): InferenceRequest {
  const request = { operation: 'generate' as const, body: { model: 'm', input: 'Hi', ...fields }, headers: {} };
  validateRequest(request, 'compatible');
  return codec.decodeRequest(request);
}

/** Decodes a stream in chunks of this size. */
export const decodeStream = (body: Buffer, chunkBytes?: number): readonly InferenceEvent[] =>
  decodeFrames(codec.createEventDecoder(createReading(), 'sse'), readFrames(body, 'sse', chunkBytes));

export const encodeStream = (events: readonly InferenceEvent[], writing: ReplyWriting): string =>
  encodeEvents(codec.createEventEncoder(writing, 'sse'), events);

/** Events of the vendor's stream as bytes. */
export const streamOf = (events: readonly JsonObject[]): Buffer =>
  Buffer.from(events.map((event) => `event: ${textOf(event.type) ?? ''}\ndata: ${JSON.stringify(event)}\n\n`).join(''));

const fixtures = join(import.meta.dirname, '../../fixtures');
export const readFixture = (name: string): Buffer => readFileSync(join(fixtures, name));
export const readJsonFixture = (name: string): JsonObject => JSON.parse(readFixture(name).toString()) as JsonObject;

/** The same without paths, which have tests of their own. */
export const withoutPaths = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, member: unknown) => (key === 'path' ? undefined : member)));

/** The refusal that an action throws. */
export function refusalOf(action: () => unknown): GatewayError {
  try {
    action();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'untranslatable_field') return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** Replies in wire form. */
export const responseOf = (output: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  model: 'm',
  status: 'completed',
  output,
  ...more,
});

export const messageItem = (...content: JsonObject[]): JsonObject => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content,
});
export const outputText = (text: string, annotations: readonly JsonObject[] = []): JsonObject => ({
  type: 'output_text',
  text,
  annotations,
});
export const callItem = (id: string, args: string): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: `call_${id}`,
  name: 'f',
  arguments: args,
});

/** Builders for parts of conversations, and for input items. */
export const call = (id: string, more: Partial<Extract<Part, { kind: 'tool-call' }>> = {}): Part => ({
  kind: 'tool-call',
  id,
  name: 'w',
  arguments: '{}',
  ...more,
});
export const media = (
  kind: 'image' | 'file' | 'audio' | 'video',
  source: Extract<Part, { kind: 'media' }>['source'],
  more: object = {},
): Part => ({ kind: 'media', media: kind, source, ...more });
export const says = (role: string, ...content: JsonObject[]): JsonObject => ({ type: 'message', role, content });
export const input = (value: string): JsonObject => ({ type: 'input_text', text: value });
export const png = { kind: 'inline', mediaType: 'image/png', data: 'iVBO' } as const;

/** The events of a written stream. */
export const readFrameEvents = (stream: string): readonly JsonObject[] =>
  readFrames(stream, 'sse').map(({ data }) => JSON.parse(data) as JsonObject);
