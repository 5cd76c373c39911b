import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { createFakeTraits } from '../../inference/testing/fake-traits.ts';
import { foldEvents } from '../../inference/fold-events.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../inference/inference-event.ts';
import type { InferenceReply, ReplyPart } from '../../inference/inference-reply.ts';
import type { InferenceRequest, Part, Tool, Turn } from '../../inference/inference-request.ts';
import { replayReply } from '../../inference/replay-reply.ts';
import { createTranslationNotes, type FieldNames } from '../../inference/translation-notes.ts';
import type { Usage } from '../../inference/usage.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { createJsonArrayFrameReader } from '../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import type { ChatDialect } from '../chat-dialect.ts';
import type { WireRequest } from '../wire-request.ts';
import type { ReplyReading, ReplyWriting } from '../chat-codec.ts';
import { arbitraryOddRequest, arbitraryReply, arbitraryRequest } from './codec-arbitraries.ts';

/**
 * A model that supports everything, so that every loss is a loss of the dialect. Not every dialect can forbid thinking
 * if it sends an effort.
 */
const ableTraits = createFakeTraits({ outputTokensMax: 64_000, alwaysReasons: true, chat: { outputLimitField: 'max_completion_tokens' } });

/** Neutral fields under their own names, so that notes show which were lost. */
const ownNames: FieldNames = {
  instructions: 'instructions',
  tools: 'tools',
  toolChoice: 'toolChoice',
  parallelToolCalls: 'parallelToolCalls',
  outputTokensMax: 'outputTokensMax',
  stopSequences: 'stopSequences',
  outputFormat: 'outputFormat',
  temperature: 'temperature',
  topP: 'topP',
  topK: 'topK',
  seed: 'seed',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
  reasoning: 'reasoning',
  endUser: 'endUser',
  serviceTier: 'serviceTier',
  verbosity: 'verbosity',
  turns: 'turns',
};

export type CodecSuite = {
  readonly dialect: ChatDialect;
  /** Throws if the vendor would refuse the body. */
  readonly acceptBody?: (request: WireRequest) => void;
  /** Throws if a whole reply differs from the vendor's description. */
  readonly acceptReply?: (reply: JsonObject) => void;
  /** Members that the dialect cannot express and leaves out without a note, because they mean nothing to its vendor. */
  readonly silentlyLost?: readonly (keyof InferenceRequest)[];
};

const headers = { 'anthropic-version': '2023-06-01' };

type Encoded = { readonly request: WireRequest; readonly lost: ReadonlySet<string> };

function encode({ codec, id }: ChatDialect, neutral: InferenceRequest): Encoded {
  const notes = createTranslationNotes(ownNames, false);
  const { body } = codec.encodeRequest(neutral, { upstreamModel: 'model', traits: ableTraits, proofOrigin: 'vendor', notes });
  const inPath = id === 'gemini-generate-content' ? { pathModel: 'model', ...(neutral.stream ? { pathFraming: 'sse' as const } : {}) } : {};
  return { request: { operation: 'generate', body, headers, ...inPath }, lost: new Set(notes.list().map(({ field }) => field)) };
}

const errorMark = 'Error: ';

/** Describes a part independently of dialects, so that parts can be compared. Calls are known by their number. */
function describePart(part: Part, numberOf: (id: string) => number): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'tool-call':
      return `call ${numberOf(part.id)} ${part.name} ${JSON.stringify(JSON.parse(part.arguments))}`;
    case 'tool-result': {
      const text = part.content.map((piece) => (piece.kind === 'text' ? piece.text : JSON.stringify(piece.source))).join('\n');
      // Dialects that cannot mark errors say so in the text.
      const marked = part.isError && !text.startsWith(errorMark) ? errorMark + text : text;
      return `result ${numberOf(part.callId)} ${marked}`;
    }
    case 'media':
      return JSON.stringify(part.source);
    case 'refusal':
    case 'reasoning':
    case 'server-tool':
    case 'vendor':
      return JSON.stringify(part);
  }
}

/**
 * Describes a conversation by the content of its turns. Consecutive texts are one, because some dialects have one text
 * for all.
 */
function describeTurns(turns: readonly Turn[]): readonly string[] {
  const ids: string[] = [];
  const numberOf = (id: string): number => (ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1);
  const merged: { readonly role: string; readonly isText: boolean; text: string }[] = [];
  for (const { role, parts } of turns) {
    for (const part of parts) {
      const text = describePart(part, numberOf);
      const last = merged.at(-1);
      const isText = part.kind === 'text';
      if (last !== undefined && isText && last.isText && last.role === role) last.text += text;
      else merged.push({ role, isText, text });
    }
  }
  return merged.map(({ role, text }) => `${role}: ${text.replaceAll('\n\n', '')}`);
}

/** Describes a tool without its path and its wire form. `strict: false` equals an absent `strict`. */
function describeTool(tool: Tool): object {
  const members = Object.entries(tool).filter(
    ([member, value]) => member !== 'path' && member !== 'wire' && (member !== 'strict' || value === true),
  );
  return Object.fromEntries(members);
}

/**
 * Describes the settings of a request by name, including sampling, without those that a translation noted as changed.
 */
function describeSettings(request: InferenceRequest, lost: ReadonlySet<string>, silent: readonly string[]): Record<string, unknown> {
  const {
    sampling,
    turns: _turns,
    vendorFields: _fields,
    instructions,
    tools,
    model: _model,
    reasoning,
    outputFormat,
    dialect: _dialect,
    ...settings
  } = request;
  const all: Record<string, unknown> = {
    ...settings,
    ...sampling,
    instructions: instructions.map(({ text }) => text.replaceAll('\n\n', '')).join(''),
    tools: tools.map(describeTool),
    reasoning: reasoning?.effort ?? (reasoning?.mode === 'off' ? 'none' : undefined),
    outputFormat: outputFormat?.kind === 'json-schema' ? outputFormat.schema : outputFormat,
    // `auto` equals an absent choice.
    toolChoice: request.toolChoice?.kind === 'auto' ? undefined : request.toolChoice,
    // If no call is allowed, the number of parallel calls does not matter.
    parallelToolCalls: request.toolChoice?.kind === 'none' ? undefined : request.parallelToolCalls,
    serviceTier: request.serviceTier === 'default' ? undefined : request.serviceTier,
  };
  return Object.fromEntries(
    Object.entries(all).filter(([member, value]) => value !== undefined && !lost.has(member) && !silent.includes(member)),
  );
}

function withoutPaths(request: InferenceRequest): InferenceRequest {
  return { ...request, instructions: request.instructions.map(({ text }) => ({ kind: 'text', text: text.replaceAll('\n\n', '') })) };
}

function testRequests({ dialect, acceptBody, silentlyLost = [] }: CodecSuite): void {
  void test(`${dialect.id}: an encoded request is decoded as the same request, except for the noted losses`, () => {
    fc.assert(
      fc.property(arbitraryRequest, (neutral) => {
        const { request, lost } = encode(dialect, neutral);
        const read = withoutPaths(dialect.codec.decodeRequest(request));
        if (!lost.has('turns')) assert.deepEqual(describeTurns(read.turns), describeTurns(neutral.turns));
        assert.deepEqual(describeSettings(read, lost, silentlyLost), describeSettings(neutral, lost, silentlyLost));
      }),
    );
  });

  void test(`${dialect.id}: a decoded request is encoded the same, however often`, () => {
    fc.assert(
      fc.property(arbitraryRequest, (neutral) => {
        // Decoding may make a default explicit; explicit values stay as they are.
        const { request } = encode(dialect, dialect.codec.decodeRequest(encode(dialect, neutral).request));
        assert.deepEqual(encode(dialect, dialect.codec.decodeRequest(request)).request.body, request.body);
      }),
    );
  });

  void test(`${dialect.id}: an encoded request is valid by the rules of the dialect and of its vendor`, () => {
    fc.assert(
      fc.property(arbitraryRequest, (neutral) => {
        const { request } = encode(dialect, neutral);
        dialect.validateRequest(request, 'compatible');
        acceptBody?.(request);
      }),
    );
  });
}

/**
 * Whether a request was refused by the name of its field, which is as good as encoding it. Every other error is a
 * failure.
 */
function isRefused(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'untranslatable_field' && error.param !== undefined;
}

function testOddRequests({ dialect, acceptBody }: CodecSuite): void {
  void test(`${dialect.id}: a conversation out of order is put in order, or refused by the name of its problem`, () => {
    fc.assert(
      fc.property(arbitraryOddRequest, (neutral) => {
        let request: WireRequest;
        try {
          ({ request } = encode(dialect, neutral));
        } catch (error) {
          if (isRefused(error)) return;
          throw error;
        }
        dialect.validateRequest(request, 'compatible');
        acceptBody?.(request);
      }),
      { numRuns: 400 },
    );
  });
}

const reading: ReplyReading = { proofOrigin: 'vendor', newId: (prefix) => `${prefix}_new`, notes: createTranslationNotes(ownNames, false) };

function writing(request: JsonObject): ReplyWriting {
  let lastId = 0;
  return {
    requestId: 'req_1',
    requestedModel: 'model',
    request,
    createdAtMs: 1_785_963_542_000,
    nowMs: () => 1_785_963_542_000 + 2000,
    inputTokensEstimate: 1,
    newId: (prefix) => `${prefix}_${++lastId}`,
    notes: createTranslationNotes(ownNames, false),
  };
}

const total = ({ inputTokens = 0, cacheReadTokens = 0, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0 }: Usage): number =>
  inputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens;

function describeReplyPart(part: ReplyPart): string {
  if (part.kind === 'tool-call') return `call ${part.name} ${JSON.stringify(JSON.parse(part.arguments || '{}'))}`;
  if (part.kind === 'reasoning') return `thought ${part.text.join('')}`;
  return part.kind === 'text' ? `text ${part.text}` : JSON.stringify(part);
}

/**
 * Describes a reply. Consecutive texts and thoughts are one, and the position of thoughts is left out, because not
 * every dialect can express it.
 */
function describeReply({ parts, stopReason, usageReport }: InferenceReply): unknown {
  const inOrder = parts.map(describeReplyPart).filter((text) => !/^(?:text|thought) $/.test(text));
  const ofKind = (kind: string): readonly string[] =>
    inOrder.filter((text) => text.startsWith(`${kind} `)).map((text) => text.slice(kind.length + 1));
  const usage = usageReport?.usage ?? {};
  return {
    text: ofKind('text').join(''),
    thoughts: ofKind('thought').join('').replaceAll('\n\n', ''),
    calls: ofKind('call'),
    stopReason,
    usage: { input: total(usage), cached: usage.cacheReadTokens ?? 0, output: usage.outputTokens },
  };
}

/** Decodes a stream of the dialect and folds it. */
function readStream({ codec }: ChatDialect, text: string, framing: StreamFraming): InferenceReply {
  const options = { frameBytesMax: 1_000_000 };
  const reader = framing === 'sse' ? createSseFrameReader(options) : createJsonArrayFrameReader(options);
  const decoder = codec.createEventDecoder(reading, framing);
  const events = [...reader.push(Buffer.from(text)).flatMap((frame) => decoder.read(frame)), ...decoder.end()];
  return foldEvents(events);
}

/** Splits deltas into a few characters each, as models write them. */
function cutDeltas(events: readonly InferenceEvent[]): readonly InferenceEvent[] {
  return events.flatMap((event) => {
    if (event.type !== 'delta') return [event];
    return (event.text.match(/.{1,3}/gsu) ?? []).map((text): InferenceEvent => ({ ...event, text }));
  });
}

function testReplies({ dialect, acceptReply }: CodecSuite): void {
  const { codec } = dialect;
  // Settings with which clients request everything.
  const everything: JsonObject = {
    stream: true,
    stream_options: { include_usage: true },
    thinking: { type: 'adaptive' },
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  };
  const framings: readonly StreamFraming[] = dialect.id === 'gemini-generate-content' ? ['sse', 'json-array'] : ['sse'];

  void test(`${dialect.id}: an encoded whole reply is decoded as the same reply`, () => {
    fc.assert(
      fc.property(arbitraryReply, (reply) => {
        const written = codec.encodeReply(reply, writing(everything));
        acceptReply?.(written);
        assert.deepEqual(describeReply(codec.decodeReply(written, reading)), describeReply(reply));
      }),
    );
  });

  for (const framing of framings) {
    void test(`${dialect.id}: a stream that is encoded as ${framing} folds to the whole reply`, () => {
      fc.assert(
        fc.property(arbitraryReply, (reply) => {
          const encoder = codec.createEventEncoder(writing(everything), framing);
          const text = cutDeltas(replayReply(reply))
            .map((event) => encoder.write(event))
            .join('');
          assert.deepEqual(describeReply(readStream(dialect, text, framing)), describeReply(reply));
        }),
      );
    });
  }
}

/** Tests a codec: its two directions are inverse, and its streams and whole replies are equal. */
export function testCodec(suite: CodecSuite): void {
  testRequests(suite);
  testOddRequests(suite);
  testReplies(suite);
}
