import { createDocumentReader } from '../../src/gateway/endpoints/chat/translate/read-documents.ts';
import { createSchemaChecker } from '../../src/gateway/endpoints/chat/schema-check/schema-checker.ts';
import { GatewayError } from '../../src/inference/gateway-error.ts';
import { JobError } from '../../src/platform/isolation/isolated-job.ts';
import { createMediaMeter } from '../../src/platform/media/media-meter.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { seededRandom } from '../../src/platform/seeded-random.ts';
import { threadMs } from '../../src/platform/thread-ms.ts';
import { createExtractionPool } from '../../src/tools/extraction-pool.ts';
import { createExtractor } from '../../src/tools/file-search/extraction/create-extractor.ts';
import { mutate } from './mutate.ts';
import { mutateJson } from './mutate-json.ts';
import type { Outcome, Parser } from './parser.ts';
import { openSimulatedReaders } from './simulated-readers.ts';
import { makeSeedFiles, type SeedKind } from './seed-files.ts';

/** The results of one parser. */
export type FuzzReport = {
  readonly parser: string;
  readonly cases: number;
  readonly seconds: number;
  /** Files that were parsed, refused, or stopped by a limit. */
  readonly read: number;
  readonly refused: number;
  readonly ended: number;
  /** The longest block of the event loop of this process, which includes the work of other programs of the machine. */
  readonly longestLagMs: number;
  /** The most processor time of this thread between two turns of its event loop. */
  readonly busiestMs: number;
  readonly longestCaseMs: number;
};

/** Concurrent cases of different tenants. */
const atOnce = 4;
const caseMsMax = 60_000;
const beatMs = 10;
/** The job of a schema stops itself before its pool ends the thread, which would lose the compiled schemas. */
const schemaMsMin = 2000;

/**
 * Every parser of untrusted bytes that runs in threads, as the gateway uses it, and those of the simulator, which
 * imitates vendors in the same process.
 * @param limitMs of a case
 */
export function openParsers(limitMs: number): { readonly parsers: Readonly<Record<string, Parser>>; readonly close: () => Promise<void> } {
  const meter = createMediaMeter({ soundMsMax: limitMs, picturesMsMax: limitMs });
  const extractor = createExtractor({ quickMs: limitMs, timeoutMs: limitMs, memoryMegabytes: 256 });
  const pages = createExtractionPool({ threadsMax: 2, pageTimeoutMs: limitMs });
  const documents = createDocumentReader({ timeoutMs: limitMs });
  const schemas = createSchemaChecker({ timeoutMs: Math.max(limitMs, schemaMsMin) });
  const fileOf = (bytes: Buffer) => ({ bytes: bytes.length, readAt: async (start: number, end: number) => bytes.subarray(start, end) });
  const sound = (seeds: SeedKind, format: 'flac' | 'mp3' | 'other' = 'other'): Parser => ({
    seeds,
    parse: (bytes, tenant, signal) => settle(meter.measureSound(fileOf(bytes), format, { tenant, signal })),
  });
  const file = (seeds: SeedKind): Parser => ({
    seeds,
    parse: async (bytes, tenant, signal) => {
      const request = {
        filename: `file.${seeds}`,
        charactersMax: 1_000_000,
        chunking: { isAuto: true, tokensMax: 800, overlapTokens: 400 },
      };
      const result = await extractor.extract({ ...request, tenant, read: async () => new Uint8Array(bytes) }, signal);
      if ('chunks' in result) return 'read';
      return /took (?:longer|more)/.test(result.error.message) ? 'ended' : 'refused';
    },
  });
  const page = (seeds: SeedKind, mediaType: 'html' | 'pdf'): Parser => ({
    seeds,
    parse: (bytes, tenant, signal) => settle(pages.extract({ bytes, mediaType, charset: undefined }, { tenant, signal })),
  });
  return {
    parsers: {
      'document-docx': { seeds: 'docx', parse: async (bytes, tenant) => await readDocument(documents, bytes, tenant) },
      schema: {
        seeds: 'schema',
        mutate: mutateJson,
        parse: async (bytes, tenant, signal) => await checkSchema(schemas, bytes, { tenant, signal }),
      },
      ...openSimulatedReaders(limitMs),
      'sound-flac': sound('flac', 'flac'),
      'sound-mp3': sound('mp3', 'mp3'),
      'sound-wav': sound('wav'),
      'sound-ogg': sound('ogg'),
      'sound-webm': sound('webm'),
      'sound-mp4': sound('mp4'),
      video: { seeds: 'video', parse: (bytes, tenant, signal) => settle(meter.measurePictures(fileOf(bytes), { tenant, signal })) },
      'file-pdf': file('pdf'),
      'file-docx': file('docx'),
      'file-html': file('html'),
      'page-html': page('html', 'html'),
      'page-pdf': page('pdf', 'pdf'),
    },
    close: async () => {
      await Promise.all([meter.close(), extractor.close(), pages.close(), documents.close(), schemas.close()]);
    },
  };
}

async function readDocument(reader: ReturnType<typeof createDocumentReader>, bytes: Buffer, tenant: string): Promise<Outcome> {
  try {
    await reader.readText(new Uint8Array(bytes), { tenant, param: 'file' });
    return 'read';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return /takes too long|too large|too much/.test(error.message) ? 'ended' : 'refused';
  }
}

/** Replies that match and do not match the whole schemas, and one on which patterns backtrack. */
const replies = ['{"name":"a","node":{"next":{"next":null}},"tags":["a"]}', '[1,[2,[3]],{"x-a":true}]', '9', `"${'a'.repeat(60)}!"`];

async function checkSchema(
  checker: ReturnType<typeof createSchemaChecker>,
  bytes: Buffer,
  options: { readonly tenant: string; readonly signal: AbortSignal },
): Promise<Outcome> {
  const schema: unknown = JSON.parse(bytes.toString());
  if (typeof schema !== 'object' || schema === null) return 'refused';
  const verdict = await checker.check(replies[bytes.length % replies.length] ?? '', schema as JsonObject, options);
  if (verdict.kind !== 'unchecked') return 'read';
  return /takes too/.test(verdict.reason) ? 'ended' : 'refused';
}

async function settle(parsing: Promise<unknown>): Promise<Outcome> {
  try {
    return (await parsing) === undefined ? 'refused' : 'read';
  } catch (error) {
    if (!(error instanceof JobError)) throw error;
    return error.failure === 'threw' ? 'refused' : 'ended';
  }
}

/**
 * Gives a parser this many broken files. The process itself is the oracle: it must survive, its event loop must run,
 * and every case must end.
 */
export async function fuzzParser(
  name: string,
  { seeds, parse, mutate: spoil = mutate }: Parser,
  cases: number,
  seed: number,
): Promise<FuzzReport> {
  const files = (await makeSeedFiles())[seeds];
  const random = seededRandom(seed);
  const counts = { read: 0, refused: 0, ended: 0 };
  const startedMs = performance.now();
  let longestCaseMs = 0;
  let longestLagMs = 0;
  let busiestMs = 0;
  let lastBeatMs = startedMs;
  let lastWorkedMs = threadMs();
  const beating = setInterval(() => {
    const nowMs = performance.now();
    longestLagMs = Math.max(longestLagMs, nowMs - lastBeatMs - beatMs);
    lastBeatMs = nowMs;
    const workedMs = threadMs();
    busiestMs = Math.max(busiestMs, workedMs - lastWorkedMs);
    lastWorkedMs = workedMs;
  }, beatMs);
  let next = 0;
  const perFile = Math.ceil(cases / files.length);
  const work = async (tenant: string): Promise<void> => {
    for (let index = next++; index < cases; index = next++) {
      const file = files[Math.floor(index / perFile)] ?? Buffer.alloc(0);
      const beganMs = performance.now();
      counts[await parse(spoil(file, index % perFile, perFile, random), tenant, AbortSignal.timeout(caseMsMax))] += 1;
      longestCaseMs = Math.max(longestCaseMs, performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, index) => work(`tenant-${index}`)));
  clearInterval(beating);
  const seconds = (performance.now() - startedMs) / 1000;
  const round = (value: number): number => Math.round(value);
  return {
    parser: name,
    cases,
    seconds: round(seconds),
    ...counts,
    longestLagMs: round(longestLagMs),
    busiestMs: round(busiestMs),
    longestCaseMs: round(longestCaseMs),
  };
}
