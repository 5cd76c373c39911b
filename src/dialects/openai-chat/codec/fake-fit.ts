import { createEventFolder } from '../../../inference/fold-events.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import type { InferenceRequest } from '../../../inference/inference-request.ts';
import type { ChatTraits, ModelTraits } from '../../../inference/model-traits.ts';
import { createTranslationNotes } from '../../../inference/translation-notes.ts';
import type { Frame } from '../../../platform/frames.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';
import type { EncodedRequest, ReplyReading, ReplyWriting, RequestFit } from '../../chat-codec.ts';
import { encodeRequest } from './encode-request.ts';
import { createEventDecoder } from './event-decoder.ts';
import { fieldNames } from './field-names.ts';

/** Whose the upstream of these tests is. */
export const origin = 'local';

const usualChat: ChatTraits = {
  outputLimitField: 'max_tokens',
  systemRole: 'system',
  streamOptions: true,
  parallelToolCallsField: true,
  forcedToolChoice: true,
  reasoningField: 'reasoning_effort',
  acceptsTopK: false,
};

const usual: ModelTraits = {
  reasoning: 'effort',
  alwaysReasons: false,
  fixedSampling: false,
  structuredOutput: true,
  jsonSchemaTools: true,
  fetchesUrls: true,
  imagesInToolResults: false,
  prefill: false,
  webSearch: true,
  codeExecution: false,
  mixesTools: true,
  requiresProofs: false,
  chat: usualChat,
};

type Differences = Partial<Omit<ModelTraits, 'chat'>> & { readonly chat?: Partial<ChatTraits>; readonly strict?: boolean };

/** A server that takes the usual, but for the differences. */
export function fitOf({ chat, strict = false, ...traits }: Differences = {}): RequestFit {
  return {
    upstreamModel: 'm-1',
    traits: { ...usual, ...traits, chat: { ...usualChat, ...chat } },
    proofOrigin: origin,
    notes: createTranslationNotes(fieldNames, strict),
  };
}

/** A request that says nothing but what is given. */
export function requestOf(members: Partial<InferenceRequest> = {}): InferenceRequest {
  const turns = [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }] as const;
  return { model: 'asked', stream: false, instructions: [], turns, tools: [], sampling: {}, vendorFields: [], ...members };
}

/** The body that a request becomes, and the notes as `kind field`. */
export function encoded(
  members: Partial<InferenceRequest>,
  differences: Differences = {},
): EncodedRequest & { readonly messages: readonly JsonObject[]; readonly noted: readonly string[] } {
  const fit = fitOf(differences);
  const result = encodeRequest(requestOf(members), fit);
  const noted = fit.notes.list().map(({ kind, field }) => `${kind} ${field}`);
  return { ...result, messages: result.body.messages as readonly JsonObject[], noted };
}

/** Reading with ids that count up. */
export function readingOf(): ReplyReading {
  let made = 0;
  return { proofOrigin: origin, newId: (prefix) => `${prefix}_new${++made}`, notes: createTranslationNotes(fieldNames, false) };
}

/** Writing for a client that sent these members. */
export function writingFor(request: JsonObject = {}): ReplyWriting {
  return {
    requestId: 'req_1',
    requestedModel: 'asked',
    request,
    createdAtMs: 1_790_000_000_500,
    inputTokensEstimate: 3,
    newId: (prefix) => `${prefix}_new`,
    notes: createTranslationNotes(fieldNames, false),
  };
}

export const frameOf = (data: string, event?: string): Frame => ({ bytes: Buffer.from(data), event, data });

/** What a stream of these chunks, with `[DONE]` behind them, says. */
export function eventsOf(chunks: readonly unknown[]): readonly InferenceEvent[] {
  const decoder = createEventDecoder(readingOf());
  const frames = [...chunks.map((chunk) => frameOf(JSON.stringify(chunk))), frameOf('[DONE]')];
  return [...frames.flatMap((frame) => decoder.read(frame)), ...decoder.end()];
}

/** The frames of a body that comes in chunks of so many bytes. */
export function framesOf(body: Buffer, chunkBytes = body.length): readonly Frame[] {
  const reader = createSseFrameReader({ frameBytesMax: 1_000_000 });
  const frames: Frame[] = [];
  for (let at = 0; at < body.length; at += chunkBytes) frames.push(...reader.push(Buffer.from(body.subarray(at, at + chunkBytes))));
  return frames;
}

/** The reply that events add up to. Asserts nothing: see check-grammar. */
export function fold(events: readonly InferenceEvent[]): InferenceReply {
  const folder = createEventFolder();
  for (const event of events) folder.push(event);
  return folder.reply();
}
