import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import type { ReplyReport, StreamReport } from '../chat-dialect.ts';
import { createStreamTap } from './create-stream-tap.ts';
import { readReply } from './read-reply.ts';
import { validateRequest } from './validate-request.ts';

const folder = join(import.meta.dirname, 'fixtures');
const files = readdirSync(folder);
const readJson = (file: string): JsonObject => JSON.parse(readFileSync(join(folder, file), 'utf8')) as JsonObject;
const casesOf = (ending: string): string[] => files.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length));

/** The report in the words of `expected.json`, with only the members that the file speaks of. */
function summarize(report: ReplyReport | StreamReport, expected: JsonObject): JsonObject {
  const all: Record<string, unknown> = {
    usage: report.usageReport?.usage,
    trustworthy: report.usageReport?.trustworthy,
    serviceTier: report.usageReport?.serviceTier,
    stopReason: report.stopReason,
    servedModel: report.servedModel,
    outputCharacters: report.outputCharacters,
    error: report.error,
    ...('state' in report ? { state: report.state, malformedFrames: report.malformedFrames } : { state: expected.state }),
  };
  const always = ['usage', 'stopReason', 'servedModel', 'state', 'error'];
  const names = new Set([...always, ...Object.keys(expected)]);
  return Object.fromEntries(Object.entries(all).filter(([name, value]) => names.has(name) && value !== undefined)) as JsonObject;
}

function feed(body: Buffer, chunkBytes: number): { report: StreamReport; forwarded: Buffer } {
  const reader = createSseFrameReader({ frameBytesMax: 1_000_000 });
  const tap = createStreamTap();
  const forwarded: Buffer[] = [];
  for (let at = 0; at < body.length; at += chunkBytes) {
    for (const frame of reader.push(body.subarray(at, at + chunkBytes))) {
      assert.equal(tap.read(frame), 'forward');
      forwarded.push(Buffer.from(frame.bytes));
    }
  }
  assert.equal(tap.report().state, tap.state());
  return { report: tap.report(), forwarded: Buffer.concat([...forwarded, reader.rest()]) };
}

for (const name of casesOf('.stream.sse')) {
  test(`stream ${name}: the same report for any chunk size, and every byte forwarded`, () => {
    const body = readFileSync(join(folder, `${name}.stream.sse`));
    const expected = readJson(`${name}.expected.json`);
    for (const chunkBytes of [...Array.from({ length: 24 }, (_, index) => index + 1), 61, 127, 512, 1000, body.length]) {
      const { report, forwarded } = feed(body, chunkBytes);
      assert.deepEqual(summarize(report, expected), expected, `chunks of ${chunkBytes} bytes`);
      assert.ok(forwarded.equals(body), `chunks of ${chunkBytes} bytes`);
    }
  });
}

for (const name of casesOf('.reply.json')) {
  test(`reply ${name}`, () => {
    const expected = readJson(`${name}.expected.json`);
    assert.deepEqual(summarize(readReply(readJson(`${name}.reply.json`)), expected), expected);
  });
}

for (const name of casesOf('.request.json')) {
  test(`request ${name} is accepted`, () => {
    const body = readJson(`${name}.request.json`);
    validateRequest({ operation: 'generate', body, headers: { 'anthropic-version': '2023-06-01' } }, 'compatible');
  });
}

test('every fixture is part of a case', () => {
  const cases = casesOf('.expected.json');
  for (const file of files) {
    assert.ok(cases.includes(file.split('.')[0] ?? ''), file);
    assert.match(file, /\.(?:stream\.sse|reply\.json|request\.json|expected\.json)$/);
  }
});
