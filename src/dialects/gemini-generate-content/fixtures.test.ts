import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import { createJsonArrayFrameReader } from '../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import type { ReplyReport, StreamReport } from '../chat-dialect.ts';
import { geminiGenerateContent } from './gemini-generate-content.ts';

const folder = join(import.meta.dirname, 'fixtures');
const files = readdirSync(folder);
const readJson = (file: string): JsonObject => JSON.parse(readFileSync(join(folder, file), 'utf8')) as JsonObject;
const casesOf = (ending: string): string[] => files.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length));

const alwaysCompared = ['usage', 'stopReason', 'servedModel', 'error'];

/** The report in the words of `expected.json`: what always counts, and whatever else the file speaks of. */
function summarize(report: ReplyReport | StreamReport, expected: JsonObject): JsonObject {
  const isStream = 'state' in report;
  const all: Record<string, unknown> = {
    ...report,
    usage: report.usageReport?.usage,
    trustworthy: report.usageReport?.trustworthy,
    serviceTier: report.usageReport?.serviceTier,
    ...(!isStream && { state: expected.state }),
  };
  const names = new Set([...alwaysCompared, ...(isStream ? ['state'] : []), ...Object.keys(expected)]);
  return Object.fromEntries([...names].map((name) => [name, all[name]]).filter(([, value]) => value !== undefined)) as JsonObject;
}

type Fed = { readonly report: StreamReport; readonly forwarded: Buffer; readonly edited: number };

function feed(body: Buffer, chunkBytes: number, framing: StreamFraming): Fed {
  const reader = (framing === 'sse' ? createSseFrameReader : createJsonArrayFrameReader)({ frameBytesMax: 1_000_000 });
  const tap = geminiGenerateContent.createStreamTap({ framing, request: {} });
  const forwarded: Buffer[] = [];
  let edited = 0;
  for (let at = 0; at < body.length; at += chunkBytes) {
    for (const frame of reader.push(body.subarray(at, at + chunkBytes))) {
      const verdict = tap.read(frame);
      assert.notEqual(verdict, 'hide');
      forwarded.push(Buffer.from(typeof verdict === 'object' ? verdict.bytes : frame.bytes));
      edited += typeof verdict === 'object' ? 1 : 0;
    }
  }
  assert.equal(tap.report().state, tap.state());
  return { report: tap.report(), forwarded: Buffer.concat([...forwarded, reader.rest()]), edited };
}

const score = '"vendorSearchDynamicRetrievalScore":0.8125,';

const framings: readonly [ending: string, framing: StreamFraming][] = [
  ['.stream.sse', 'sse'],
  ['.stream.json', 'json-array'],
];

for (const [ending, framing] of framings) {
  for (const name of casesOf(ending)) {
    test(`stream ${name}: the same report for every chunk size, and every byte forwarded but for the score's second name`, () => {
      const body = readFileSync(join(folder, `${name}${ending}`));
      const expected = readJson(`${name}.expected.json`);
      for (const chunkBytes of [...Array.from({ length: 16 }, (_, index) => index + 1), 61, 127, 512, 1000, body.length]) {
        const { report, forwarded, edited } = feed(body, chunkBytes, framing);
        assert.deepEqual(summarize(report, expected), expected, `chunks of ${chunkBytes} bytes`);
        assert.equal(edited, name.startsWith('grounding') ? 1 : 0);
        assert.equal(forwarded.toString().replace(score, ''), body.toString(), `chunks of ${chunkBytes} bytes`);
      }
    });

    test(`stream ${name}: cut anywhere it is never complete before its own end`, () => {
      const body = readFileSync(join(folder, `${name}${ending}`));
      const lastEnd = framing === 'sse' ? body.lastIndexOf('finishReason') : body.lastIndexOf(']');
      if (lastEnd === -1) return;
      for (let end = 0; end < body.length; end += 41) {
        const { state } = feed(body.subarray(0, end), body.length, framing).report;
        if (end <= lastEnd) assert.notEqual(state, 'complete', `cut at ${end}`);
      }
    });
  }
}

for (const name of casesOf('.reply.json')) {
  test(`reply ${name}`, () => {
    const expected = readJson(`${name}.expected.json`);
    assert.deepEqual(summarize(geminiGenerateContent.readReply(readJson(`${name}.reply.json`)), expected), expected);
  });
}

for (const name of casesOf('.request.json')) {
  test(`request ${name} is accepted`, () => {
    geminiGenerateContent.validateRequest({ operation: 'generate', body: readJson(`${name}.request.json`), headers: {} }, 'compatible');
  });
}

test('the content of a reply may be replayed as a turn', () => {
  for (const name of casesOf('.reply.json')) {
    const { candidates } = readJson(`${name}.reply.json`);
    const content = Array.isArray(candidates) ? (candidates[0] as { content?: JsonObject }).content : undefined;
    if (content?.parts === undefined) continue;
    const body = { contents: [{ role: 'user', parts: [{ text: 'x' }] }, content] };
    geminiGenerateContent.validateRequest({ operation: 'generate', body, headers: {} }, 'compatible');
  }
});

test('every fixture is part of a case', () => {
  const cases = casesOf('.expected.json');
  for (const file of files) {
    assert.ok(cases.includes(file.split('.')[0] ?? ''), file);
    assert.match(file, /\.(?:stream\.sse|stream\.json|reply\.json|request\.json|expected\.json)$/);
  }
});
