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
 * A model that can do everything, so that whatever is lost is lost by the dialect. Not every dialect can forbid thinking where it is told
 * an effort.
 */
const ableTraits = createFakeTraits({ outputTokensMax: 64_000, alwaysReasons: true, chat: { outputLimitField: 'max_completion_tokens' } });

/** Neutral fields under their own names, so that notes tell which were lost. */
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
  /** Throws when the vendor would refuse the body. */
  readonly acceptBody?: (request: WireRequest) => void;
  /** Throws when a whole reply is not as the vendor describes its replies. */
  readonly acceptReply?: (reply: JsonObject) => void;
  /** Members that the dialect has no place for and leaves out without a word, because they mean nothing to its vendor. */
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

/** A part in words by which it is told from others, whatever a dialect calls it. Calls are known by their number. */
function describePart(part: Part, numberOf: (id: string) => number): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'tool-call':
      return `call ${numberOf(part.id)} ${part.name} ${JSON.stringify(JSON.parse(part.arguments))}`;
    case 'tool-result': {
      const text = part.content.map((piece) => (piece.kind === 'text' ? piece.text : JSON.stringify(piece.source))).join('\n');
      // Dialects without a mark for errors say so in the text.
      const said = part.isError && !text.startsWith(errorMark) ? errorMark + text : text;
      return `result ${numberOf(part.callId)} ${said}`;
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

/** A conversation as what each says in turn; texts that follow each other are one, because some dialects have one text for all. */
function describeTurns(turns: readonly Turn[]): readonly string[] {
  const ids: string[] = [];
  const numberOf = (id: string): number => (ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1);
  const said: { readonly role: string; readonly isText: boolean; text: string }[] = [];
  for (const { role, parts } of turns) {
    for (const part of parts) {
      const text = describePart(part, numberOf);
      const last = said.at(-1);
      const isText = part.kind === 'text';
      if (last !== undefined && isText && last.isText && last.role === role) last.text += text;
      else said.push({ role, isText, text });
    }
  }
  return said.map(({ role, text }) => `${role}: ${text.replaceAll('\n\n', '')}`);
}

/** A tool without where it stood and how its dialect spells it. Not to be strict is the same as to say nothing. */
function describeTool(tool: Tool): object {
  const said = Object.entries(tool).filter(
    ([member, value]) => member !== 'path' && member !== 'wire' && (member !== 'strict' || value === true),
  );
  return Object.fromEntries(said);
}

/** The settings of a request by name, those of sampling among them, without what a translation says that it changed. */
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
    // To let the model decide is the same as to say nothing.
    toolChoice: request.toolChoice?.kind === 'auto' ? undefined : request.toolChoice,
    // Where nothing may be called, it does not matter how many at once.
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
  void test(`${dialect.id}: what is written can be read, and says the same but for the losses that were noted`, () => {
    fc.assert(
      fc.property(arbitraryRequest, (neutral) => {
        const { request, lost } = encode(dialect, neutral);
        const read = withoutPaths(dialect.codec.decodeRequest(request));
        if (!lost.has('turns')) assert.deepEqual(describeTurns(read.turns), describeTurns(neutral.turns));
        assert.deepEqual(describeSettings(read, lost, silentlyLost), describeSettings(neutral, lost, silentlyLost));
      }),
    );
  });

  void test(`${dialect.id}: what was read is written the same, however often`, () => {
    fc.assert(
      fc.property(arbitraryRequest, (neutral) => {
        // Reading may put a default into words; what is in words stays as it is.
        const { request } = encode(dialect, dialect.codec.decodeRequest(encode(dialect, neutral).request));
        assert.deepEqual(encode(dialect, dialect.codec.decodeRequest(request)).request.body, request.body);
      }),
    );
  });

  void test(`${dialect.id}: what is written is valid by the dialect's own rules and its vendor's`, () => {
    fc.assert(
      fc.property(arbitraryRequest, (neutral) => {
        const { request } = encode(dialect, neutral);
        dialect.validateRequest(request, 'compatible');
        acceptBody?.(request);
      }),
    );
  });
}

/** Whether a request was refused by name, which is as good as writing it well. Everything else that is thrown is a fault. */
function isRefused(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'untranslatable_field' && error.param !== undefined;
}

function testOddRequests({ dialect, acceptBody }: CodecSuite): void {
  void test(`${dialect.id}: a conversation out of order is put in order, or refused by the name of what is wrong`, () => {
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

/** A reply in words: texts and thoughts that follow each other are one. Where thoughts stand among the words, not every dialect can say. */
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

/** A stream of the dialect, read back and added up. */
function readStream({ codec }: ChatDialect, text: string, framing: StreamFraming): InferenceReply {
  const options = { frameBytesMax: 1_000_000 };
  const reader = framing === 'sse' ? createSseFrameReader(options) : createJsonArrayFrameReader(options);
  const decoder = codec.createEventDecoder(reading, framing);
  const events = [...reader.push(Buffer.from(text)).flatMap((frame) => decoder.read(frame)), ...decoder.end()];
  return foldEvents(events);
}

/** Deltas as a model makes them: a few characters each. */
function cutDeltas(events: readonly InferenceEvent[]): readonly InferenceEvent[] {
  return events.flatMap((event) => {
    if (event.type !== 'delta') return [event];
    return (event.text.match(/.{1,3}/gsu) ?? []).map((text): InferenceEvent => ({ ...event, text }));
  });
}

function testReplies({ dialect, acceptReply }: CodecSuite): void {
  const { codec } = dialect;
  // What clients ask for to see everything.
  const asked: JsonObject = {
    stream: true,
    stream_options: { include_usage: true },
    thinking: { type: 'adaptive' },
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  };
  const framings: readonly StreamFraming[] = dialect.id === 'gemini-generate-content' ? ['sse', 'json-array'] : ['sse'];

  void test(`${dialect.id}: a whole reply that was written can be read, and says the same`, () => {
    fc.assert(
      fc.property(arbitraryReply, (reply) => {
        const written = codec.encodeReply(reply, writing(asked));
        acceptReply?.(written);
        assert.deepEqual(describeReply(codec.decodeReply(written, reading)), describeReply(reply));
      }),
    );
  });

  for (const framing of framings) {
    void test(`${dialect.id}: a stream that was written as ${framing} adds up to the whole reply`, () => {
      fc.assert(
        fc.property(arbitraryReply, (reply) => {
          const encoder = codec.createEventEncoder(writing(asked), framing);
          const text = cutDeltas(replayReply(reply))
            .map((event) => encoder.write(event))
            .join('');
          assert.deepEqual(describeReply(readStream(dialect, text, framing)), describeReply(reply));
        }),
      );
    });
  }
}

/** What every codec must do: its two directions undo each other, and its streams and whole replies speak with one voice. */
export function testCodec(suite: CodecSuite): void {
  testRequests(suite);
  testOddRequests(suite);
  testReplies(suite);
}
