import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { StreamFraming } from '../../platform/frames.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { createJsonArrayFrameReader } from '../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import type { ChatDialect, ReplyReport, StreamReport } from '../chat-dialect.ts';
import type { ValidationMode } from '../dialect-id.ts';
import type { WireRequest } from '../wire-request.ts';

/**
 * A folder of fixtures: `<case>.request.json`, `.reply.json`, `.stream.sse` or `.stream.json` (array framing),
 * `.expected.json`.
 */
export type Fixtures = {
  readonly files: readonly string[];
  readonly readBytes: (file: string) => Buffer;
  readonly readJson: (file: string) => JsonObject;
  /** The names of the cases that have a file with this ending. */
  readonly casesOf: (ending: string) => readonly string[];
};

/** The result of a stream that passed a tap. */
type Fed = {
  readonly report: StreamReport;
  readonly forwarded: Buffer;
  /** The data of the frames that the tap hid. */
  readonly hidden: readonly string[];
  /** How many frames the tap rewrote. */
  readonly edited: number;
};

export type FixtureSuite = {
  readonly dialect: ChatDialect;
  readonly fixtures: Fixtures;
  /** The modes in which the requests are valid. */
  readonly modes?: readonly ValidationMode[];
  readonly headers?: WireRequest['headers'];
  /** Compares the forwarded bytes with the body. Absent: every byte must be forwarded unchanged. */
  readonly checkBytes?: (fed: Fed, body: Buffer, name: string) => void;
  /** Finds the start of the end mark in a body. Undefined if a body may end without one. */
  readonly findEnd: (body: Buffer, framing: StreamFraming) => number | undefined;
};

const framings: readonly [ending: string, framing: StreamFraming][] = [
  ['.stream.sse', 'sse'],
  ['.stream.json', 'json-array'],
];

const alwaysCompared = ['usage', 'stopReason', 'servedModel', 'error'];

// Odd sizes at the end, so that chunks and lines split in many ways.
const chunkSizes = [...Array.from({ length: 24 }, (_, index) => index + 1), 61, 127, 512, 1000];

const cutStepBytes = 41;

export function openFixtures(folder: string): Fixtures {
  const files = readdirSync(folder);
  const readBytes = (file: string): Buffer => readFileSync(join(folder, file));
  return {
    files,
    readBytes,
    readJson: (file) => JSON.parse(readBytes(file).toString()) as JsonObject,
    casesOf: (ending) => files.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length)),
  };
}

/**
 * Summarises the report in the form of `expected.json`: the members that always count, and all others that the file
 * contains.
 */
function summarize(report: ReplyReport | StreamReport, expected: JsonObject): JsonObject {
  const isStream = 'state' in report;
  const all: Record<string, unknown> = {
    ...report,
    usage: report.usageReport?.usage,
    trustworthy: report.usageReport?.trustworthy,
    serviceTier: report.usageReport?.serviceTier,
    // The suite itself counts them.
    hiddenFrames: expected.hiddenFrames,
    ...(!isStream && { state: expected.state }),
  };
  const names = new Set([...alwaysCompared, ...(isStream ? ['state'] : []), ...Object.keys(expected)]);
  return Object.fromEntries([...names].map((name) => [name, all[name]]).filter(([, value]) => value !== undefined)) as JsonObject;
}

type Feeding = { readonly framing: StreamFraming; readonly request: JsonObject; readonly chunkBytes: number };

function feed(dialect: ChatDialect, body: Buffer, { framing, request, chunkBytes }: Feeding): Fed {
  const reader = (framing === 'sse' ? createSseFrameReader : createJsonArrayFrameReader)({ frameBytesMax: 1_000_000 });
  const tap = dialect.createStreamTap({ framing, request });
  const forwarded: Buffer[] = [];
  const hidden: string[] = [];
  let edited = 0;
  for (let at = 0; at < body.length; at += chunkBytes) {
    for (const frame of reader.push(body.subarray(at, at + chunkBytes))) {
      const verdict = tap.read(frame);
      if (verdict === 'hide') hidden.push(frame.data);
      else forwarded.push(Buffer.from(verdict === 'forward' ? frame.bytes : verdict.bytes));
      edited += typeof verdict === 'object' ? 1 : 0;
    }
  }
  assert.equal(tap.report().state, tap.state());
  return { report: tap.report(), forwarded: Buffer.concat([...forwarded, reader.rest()]), hidden, edited };
}

function checkUnchanged({ forwarded, edited }: Fed, body: Buffer): void {
  assert.ok(forwarded.equals(body));
  assert.equal(edited, 0);
}

function testStream(suite: FixtureSuite, name: string, [ending, framing]: readonly [string, StreamFraming]): void {
  const { dialect, fixtures, findEnd, checkBytes = checkUnchanged } = suite;
  const request = fixtures.readJson(`${name}.request.json`);
  const body = fixtures.readBytes(`${name}${ending}`);

  void test(`stream ${name}${ending} has the same report and the right bytes for any chunk size`, () => {
    const expected = fixtures.readJson(`${name}.expected.json`);
    for (const chunkBytes of [...chunkSizes, body.length]) {
      const fed = feed(dialect, body, { framing, request, chunkBytes });
      assert.deepEqual(summarize(fed.report, expected), expected, `chunks of ${chunkBytes} bytes`);
      assert.equal(fed.hidden.length, expected.hiddenFrames ?? 0, `chunks of ${chunkBytes} bytes`);
      checkBytes(fed, body, name);
    }
  });

  void test(`stream ${name}${ending} is never complete if it is cut before its own end`, () => {
    const ownEnd = findEnd(body, framing);
    if (ownEnd === undefined) return;
    const whole = feed(dialect, body, { framing, request, chunkBytes: body.length }).report.state;
    for (let end = 0; end < body.length && end <= ownEnd; end += cutStepBytes) {
      const { state } = feed(dialect, body.subarray(0, end), { framing, request, chunkBytes: body.length }).report;
      if (whole === 'failed') assert.notEqual(state, 'complete', `cut at ${end}`);
      else assert.equal(state, 'open', `cut at ${end}`);
    }
  });
}

/** Tests a dialect with its own fixtures. */
export function testFixtures(suite: FixtureSuite): void {
  const { dialect, fixtures, modes = ['compatible'], headers = {} } = suite;
  const { files, readJson, casesOf } = fixtures;
  for (const framing of framings) for (const name of casesOf(framing[0])) testStream(suite, name, framing);

  for (const name of casesOf('.reply.json')) {
    void test(`reply ${name} has the expected report`, () => {
      const expected = readJson(`${name}.expected.json`);
      assert.deepEqual(summarize(dialect.readReply(readJson(`${name}.reply.json`)), expected), expected);
    });
  }

  for (const name of casesOf('.request.json')) {
    void test(`request ${name} is accepted`, () => {
      const body = readJson(`${name}.request.json`);
      for (const mode of modes) dialect.validateRequest({ operation: 'generate', body, headers }, mode);
    });
  }

  void test('every fixture belongs to a case', () => {
    const cases = casesOf('.expected.json');
    for (const file of files) {
      assert.ok(cases.includes(file.split('.')[0] ?? ''), file);
      assert.match(file, /\.(?:stream\.sse|stream\.json|reply\.json|request\.json|expected\.json)$/);
    }
  });
}
