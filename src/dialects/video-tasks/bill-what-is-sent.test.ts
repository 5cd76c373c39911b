import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { VideoForm } from '../../inference/video.ts';
import { seededRandom } from '../../platform/seeded-random.ts';
import { JsonProblemError, scanJson } from '../../platform/json/scan-json.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { fieldOf } from './field-names.ts';
import { writeHostileRequest } from './testing/fuzz-requests.ts';
import { canonicalOf, parseAs, type ParsedValue, type ParserVariant, parserVariants } from './testing/parser-variants.ts';
import { readVideoRequest } from './read-video-request.ts';
import type { VideoProtocolId, VideoSubmission } from './video-protocol.ts';
import { videoProtocols } from './video-protocols.ts';

/** Requests of a normal run; `npm run test:faults -- --long` tests a million. */
const requests = Number(process.env['WEIR_FUZZED_REQUESTS'] ?? 10_000);

type Wanted = { readonly ms: number; readonly lines: number; readonly images: number };

const membersOf = (value: ParsedValue | undefined): ReadonlyMap<string, ParsedValue> =>
  value instanceof Map ? (value as ReadonlyMap<string, ParsedValue>) : new Map<string, ParsedValue>();

/** Seconds with all their digits as milliseconds, rounded up: 15.0000000000000001 gives more than 15. */
function exactMilliseconds(text: string): number {
  const [, sign, whole = '0', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const shift = Number(exponent) - fraction.length + 3;
  if (sign === '-' || shift > 50) return Number.POSITIVE_INFINITY;
  const digits = BigInt(whole + fraction);
  const divisor = 10n ** BigInt(Math.max(0, -shift));
  return Number((digits * 10n ** BigInt(Math.max(0, shift)) + divisor - 1n) / divisor);
}

function millisecondsOf(value: ParsedValue | undefined, otherwise: number): number {
  if (value === undefined || value === null) return otherwise;
  if (typeof value === 'object' && 'exact' in value) return exactMilliseconds(value.exact);
  return typeof value === 'number' || typeof value === 'string' ? Number(value) * 1000 : Number.POSITIVE_INFINITY;
}

const linesOf = (value: ParsedValue | undefined, otherwise: number): number =>
  typeof value === 'string' ? Number.parseInt(value, 10) : otherwise;

const countOf = (...values: readonly (ParsedValue | undefined)[]): number =>
  values.reduce<number>((sum, value) => sum + (value === undefined || value === null ? 0 : Array.isArray(value) ? value.length : 1), 0);

/** The values that a server of each interface would read from a body and bill. */
function readAsServer(protocol: VideoProtocolId, { path, body }: VideoSubmission, variant: ParserVariant): Wanted {
  const top = membersOf(parseAs(variant, body.toString()));
  const get = (key: string, from = top): ParsedValue | undefined => from.get(variant.fold(key));
  assert.equal(get('model'), 'upstream-model');
  assert.equal(get('prompt'), 'p');
  if (protocol === 'xai-videos') {
    if (path === '/videos/edits') return { ms: 8700, lines: 720, images: 0 };
    return {
      ms: millisecondsOf(get('duration'), 8000),
      lines: linesOf(get('resolution'), 720),
      images: countOf(get('image'), get('reference_images')),
    };
  }
  if (protocol === 'openai-videos') {
    const size = get('size');
    const [width = 0, height = 0] = (typeof size === 'string' ? size : '').split('x').map(Number);
    return { ms: millisecondsOf(get('seconds'), 4000), lines: Math.min(width, height), images: countOf(get('input_reference')) };
  }
  const metadata = membersOf(get('metadata'));
  const video = get('video', metadata);
  if (video !== undefined && video !== null) return { ms: 8700, lines: 720, images: 0 };
  // Some servers merge the metadata over the request.
  const ms = Math.max(...[top, metadata].flatMap((from) => ['duration', 'seconds'].map((key) => millisecondsOf(get(key, from), 0))));
  return { ms, lines: linesOf(get('resolution', metadata), 480), images: countOf(get('image'), get('images'), get('reference_images')) };
}

/**
 * Metadata as a lossless parser reads it, without the members that the request itself decides, at the upstream's place
 * for it.
 */
function freeMembers(value: ParsedValue | undefined): ReadonlyMap<string, string> {
  const free = [...membersOf(value)].filter(([key]) => [undefined, 'metadata', 'callback_url'].includes(fieldOf(key)));
  return new Map(free.map(([key, member]) => [key, canonicalOf(member)]));
}

const lossless: ParserVariant = { name: 'lossless', wins: 'last', numbers: 'exact', fold: (key) => key };

function checkMetadata(protocol: VideoProtocolId, request: string, submission: VideoSubmission): void {
  const top = membersOf(parseAs(lossless, submission.body.toString()));
  const arrived = freeMembers(protocol === 'video-generations' ? top.get('metadata') : top);
  for (const [key, value] of freeMembers(membersOf(parseAs(lossless, request)).get('metadata'))) {
    if (submission.ignored.includes(`metadata.${key}`)) continue;
    assert.equal(arrived.get(key), value, key);
  }
}

const isRefusal = (error: unknown): boolean =>
  (error instanceof GatewayError && error.code !== 'internal_error') || error instanceof JsonProblemError;

const forms: readonly VideoForm[] = ['video-generations', 'openai-videos', 'xai-videos'];
const protocols: readonly VideoProtocolId[] = ['xai-videos', 'openai-videos', 'video-generations'];

/** Submits one hostile request. Returns true if it reached an upstream. */
function tryRequest(seed: number): boolean {
  const random = seededRandom(seed);
  const form = forms[Math.floor(random() * 3)] ?? 'video-generations';
  const protocol = protocols[Math.floor(random() * 3)] ?? 'xai-videos';
  const text = writeHostileRequest(random);
  const bytes = Buffer.from(text);
  try {
    scanJson(bytes);
    const { request } = readVideoRequest({ form, bytes, body: parseJsonObject(bytes) ?? {} }, 'compatible');
    const submission = videoProtocols[protocol].encodeSubmission(request, 'upstream-model');
    scanJson(submission.body);
    const { usage, parameters } = submission.billing;
    const billed = `${usage.outputVideoMs} ms, ${parameters.resolution}, ${usage.inputImages}`;
    for (const variant of parserVariants) {
      const reading = readAsServer(protocol, submission, variant);
      const isCovered =
        reading.ms <= (usage.outputVideoMs ?? 0) &&
        reading.lines <= Number.parseInt(parameters.resolution ?? '0', 10) &&
        reading.images <= (usage.inputImages ?? 0);
      if (!isCovered)
        assert.fail(`${variant.name} sees ${JSON.stringify(reading)}, billed ${billed}: ${text} became ${submission.body.toString()}`);
    }
    checkMetadata(protocol, text, submission);
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

test('no parser of an upstream reads a higher cost than is billed, and metadata arrives with all its digits (M14)', (context) => {
  let sent = 0;
  // Most requests are refused, and their stacks are not used.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  context.after(() => (Error.stackTraceLimit = stackTraceLimit));
  fc.assert(
    fc.property(fc.noBias(fc.integer({ min: 0, max: 0xffff_ffff })), (seed) => {
      if (tryRequest(seed)) sent++;
    }),
    { numRuns: requests },
  );
  // If all requests were refused, the test would show nothing.
  context.diagnostic(`${requests} requests, ${sent} of them sent, 0 billed too low`);
  assert.ok(sent > requests / 5, `${sent} of ${requests} requests got as far as an upstream`);
});
