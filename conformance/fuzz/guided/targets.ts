import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { chatDialects } from '../../../src/dialects/registry.ts';
import type { ChatDialect } from '../../../src/dialects/chat-dialect.ts';
import { run as checkSchema } from '../../../src/gateway/endpoints/chat/schema-check/check-schema-job.ts';
import { GatewayError } from '../../../src/inference/gateway-error.ts';
import { createFakeTraits } from '../../../src/inference/testing/fake-traits.ts';
import { createTranslationNotes } from '../../../src/inference/translation-notes.ts';
import { createEventStreamReader } from '../../../src/platform/event-stream/event-stream-reader.ts';
import { encodeEventFrame } from '../../../src/platform/event-stream/encode-event-frame.ts';
import { DamagedFrameError } from '../../../src/platform/frames.ts';
import { isJsonObject } from '../../../src/platform/json/json-value.ts';
import { parseJson } from '../../../src/platform/json/parse-json.ts';
import { JsonProblemError, scanJson } from '../../../src/platform/json/scan-json.ts';
import { compareScanners } from '../../../src/platform/json/scanner/testing/compare-scanners.ts';
import { run as measureMedia } from '../../../src/platform/media/measure-media-job.ts';
import { createJsonArrayFrameReader } from '../../../src/platform/sse/json-array-frame-reader.ts';
import { run as readPage } from '../../../src/tools/extract-page-job.ts';
import { run as readFile } from '../../../src/tools/file-search/extraction/extraction-job.ts';
import { translationCases } from '../../translation/cases/cases.ts';
import { translationClients } from '../../translation/clients/clients.ts';
import { Inexpressible } from '../../translation/conversation.ts';
import { translateBody } from '../../translation/translate-body.ts';
import { makeSeedFiles, type SeedKind } from '../seed-files.ts';

/** `isRefused`: whether an error is the parser's own refusal of what it was given. Any other error is a finding. */
export type GuidedTarget = {
  readonly seeds: () => Promise<readonly Buffer[]>;
  readonly run: (bytes: Buffer) => unknown;
  readonly isRefused: (error: unknown) => boolean;
  /** Runs on the event loop of a gateway, which it may not block. The others run in threads that are ended. */
  readonly isOnLoop: boolean;
};

const dialects = Object.values(chatDialects);
const frameBytesMax = 1_000_000;
const never = (): boolean => false;

/** Recorded requests, replies and streams of a dialect. */
function fixturesOf({ id }: ChatDialect, ending: string): readonly Buffer[] {
  const folder = join(import.meta.dirname, '../../../src/dialects', id, 'fixtures');
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(folder, name)));
}

/** The requests of the translation cases, as a client of the dialect writes them. */
function casesOf({ id }: ChatDialect): readonly Buffer[] {
  const writer = translationClients.find(({ dialect }) => dialect === id);
  return translationCases.flatMap(({ conversation, isStreamed = false }) => {
    try {
      return [Buffer.from(JSON.stringify(writer?.write(conversation, 'model', isStreamed).body ?? {}))];
    } catch (error) {
      // Some dialects cannot say everything.
      if (error instanceof Inexpressible) return [];
      throw error;
    }
  });
}

const newIds = (): ((prefix: string) => string) => {
  let last = 0;
  return (prefix) => `${prefix}_${++last}`;
};
const notesOf = (dialect: ChatDialect) => createTranslationNotes(dialect.codec.fieldNames, false);

/** A client's body: scanned, validated, read, and written for each other dialect. */
function requestTarget(client: ChatDialect): GuidedTarget {
  const run = (bytes: Buffer): void => {
    scanJson(bytes);
    const body = parseJson(bytes);
    if (!isJsonObject(body)) return;
    const request = { operation: 'generate', body, headers: { 'anthropic-version': '2023-06-01' }, pathModel: 'model' } as const;
    client.surveyRequest(body);
    client.validateRequest(request, 'compatible');
    client.readFacts(request);
    client.readFeatures(request);
    const neutral = client.codec.decodeRequest(request);
    for (const upstream of dialects)
      upstream.codec.encodeRequest(neutral, {
        upstreamModel: 'model',
        traits: createFakeTraits(),
        proofOrigin: 'vendor',
        notes: notesOf(client),
      });
  };
  const isRefused = (error: unknown): boolean => error instanceof GatewayError || error instanceof JsonProblemError;
  return { seeds: async () => [...fixturesOf(client, '.request.json'), ...casesOf(client)], run, isRefused, isOnLoop: true };
}

/** An upstream's stream, translated for a client of another dialect in pieces of any size. */
function streamTarget(upstream: ChatDialect): GuidedTarget {
  const clients = dialects.filter((dialect) => dialect !== upstream);
  const run = (bytes: Buffer): void => {
    const client = clients[bytes.length % clients.length] ?? upstream;
    const translator = translateBody(client, upstream, 'sse');
    const step = 1 + ((bytes[0] ?? 0) % 97) * 16;
    for (let at = 0; at < bytes.length; at += step) translator.push(Buffer.from(bytes.subarray(at, at + step)));
    translator.end();
  };
  return { seeds: async () => fixturesOf(upstream, '.stream.sse'), run, isRefused: never, isOnLoop: true };
}

/** An upstream's whole reply, or its error, for a client of each other dialect. */
function replyTarget(upstream: ChatDialect): GuidedTarget {
  const run = (bytes: Buffer): void => {
    const reply = parseJson(bytes);
    upstream.readReply(reply);
    upstream.codec.decodeError({ status: 400 + (bytes.length % 200), body: reply });
    const neutral = upstream.codec.decodeReply(reply, { proofOrigin: 'vendor', newId: newIds(), notes: notesOf(upstream) });
    for (const client of dialects)
      client.codec.encodeReply(neutral, {
        requestId: 'req_1',
        requestedModel: 'model',
        request: {},
        createdAtMs: 0,
        nowMs: () => 0,
        inputTokensEstimate: 1,
        newId: newIds(),
        notes: notesOf(client),
      });
  };
  const isRefused = (error: unknown): boolean => error instanceof SyntaxError || error instanceof GatewayError;
  return { seeds: async () => fixturesOf(upstream, '.reply.json'), run, isRefused, isOnLoop: true };
}

const seedsOf = (kind: SeedKind) => async (): Promise<readonly Buffer[]> => (await makeSeedFiles())[kind];
const nothing = async (): Promise<void> => {};

/** Jobs of threads report every problem of a file as an error or in their result, so that no error is a finding. */
function jobTarget(kind: SeedKind, run: (bytes: Buffer) => unknown): GuidedTarget {
  return { seeds: seedsOf(kind), run, isRefused: () => true, isOnLoop: false };
}

const mediaTarget = (kind: SeedKind, of: 'sound' | 'pictures', format: 'mp3' | 'flac' | 'other'): GuidedTarget =>
  jobTarget(kind, async (bytes) => {
    const asked = { bytes: bytes.length, of, format, pieceBytesMax: 1 << 24, readBytesMax: 1 << 26 };
    return await measureMedia(asked, { ask: async ({ start, end }) => new Uint8Array(bytes.subarray(start, end)) });
  });

const fileTarget = (kind: SeedKind): GuidedTarget =>
  jobTarget(kind, async (bytes) => {
    const chunking = { isAuto: true, tokensMax: 800, overlapTokens: 400 };
    return await readFile({ bytes: new Uint8Array(bytes), filename: `file.${kind}`, charactersMax: 1_000_000, chunking }, { ask: nothing });
  });

const schemaReplies = ['{"name":"a","node":{"next":{"next":null}},"tags":["a"]}', '[1,[2,[3]],{"x-a":true}]', `"${'a'.repeat(60)}!"`];

/** Every parser of bytes of clients, upstreams and the web, by name. */
export const guidedTargets: Readonly<Record<string, GuidedTarget>> = {
  ...Object.fromEntries(
    dialects.flatMap((dialect) => [
      [`request-${dialect.id}`, requestTarget(dialect)],
      [`stream-${dialect.id}`, streamTarget(dialect)],
      [`reply-${dialect.id}`, replyTarget(dialect)],
    ]),
  ),
  'json-scanner': {
    seeds: async () => dialects.flatMap((dialect) => fixturesOf(dialect, '.request.json')),
    run: (bytes) => compareScanners(bytes, {}, 64 + (bytes.length % 512)),
    isRefused: never,
    isOnLoop: true,
  },
  'json-array': {
    seeds: async () => dialects.flatMap((dialect) => fixturesOf(dialect, '.stream.json')),
    run: (bytes) => {
      const reader = createJsonArrayFrameReader({ frameBytesMax });
      for (let at = 0; at < bytes.length; at += 37) reader.push(Buffer.from(bytes.subarray(at, at + 37)));
    },
    isRefused: never,
    isOnLoop: true,
  },
  'event-stream': {
    seeds: async () => [
      Buffer.concat([1, 2, 3].map((number) => encodeEventFrame({ ':event-type': 'chunk' }, Buffer.from(`{"bytes":"${number}"}`)))),
    ],
    run: (bytes) => {
      const reader = createEventStreamReader({ frameBytesMax });
      for (let at = 0; at < bytes.length; at += 37) reader.push(Buffer.from(bytes.subarray(at, at + 37)));
    },
    isRefused: (error) => error instanceof DamagedFrameError,
    isOnLoop: true,
  },
  schema: jobTarget('schema', (bytes) =>
    checkSchema({ schema: bytes.toString(), text: schemaReplies[bytes.length % schemaReplies.length] ?? '' }),
  ),
  'sound-flac': mediaTarget('flac', 'sound', 'flac'),
  'sound-mp3': mediaTarget('mp3', 'sound', 'mp3'),
  'sound-ogg': mediaTarget('ogg', 'sound', 'other'),
  'sound-mp4': mediaTarget('mp4', 'sound', 'other'),
  video: mediaTarget('video', 'pictures', 'other'),
  'file-docx': fileTarget('docx'),
  'file-pdf': fileTarget('pdf'),
  'page-html': jobTarget('html', async (bytes) => await readPage({ bytes, mediaType: 'html', charset: undefined }, { ask: nothing })),
};
