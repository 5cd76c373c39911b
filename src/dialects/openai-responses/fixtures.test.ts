import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import type { ReplyReport, StreamReport } from '../chat-dialect.ts';
import { openaiResponses } from './openai-responses.ts';

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

function feed(body: Buffer, chunkBytes: number): { report: StreamReport; forwarded: Buffer } {
  const reader = createSseFrameReader({ frameBytesMax: 1_000_000 });
  const tap = openaiResponses.createStreamTap({ framing: 'sse', request: {} });
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
  test(`stream ${name}: the same report for every chunk size, and every byte forwarded`, () => {
    const body = readFileSync(join(folder, `${name}.stream.sse`));
    const expected = readJson(`${name}.expected.json`);
    for (const chunkBytes of [...Array.from({ length: 16 }, (_, index) => index + 1), 61, 127, 512, 1000, body.length]) {
      const { report, forwarded } = feed(body, chunkBytes);
      assert.deepEqual(summarize(report, expected), expected, `chunks of ${chunkBytes} bytes`);
      assert.ok(forwarded.equals(body), `chunks of ${chunkBytes} bytes`);
    }
  });

  test(`stream ${name}: cut anywhere it is never complete before its own end`, () => {
    const body = readFileSync(join(folder, `${name}.stream.sse`));
    const whole = feed(body, body.length).report.state;
    const terminal = body.lastIndexOf('event: response.');
    for (let end = 0; end < body.length; end += 97) {
      const { state } = feed(body.subarray(0, end), body.length).report;
      if (whole !== 'failed' && end <= terminal) assert.equal(state, 'open', `cut at ${end}`);
    }
  });
}

for (const name of casesOf('.reply.json')) {
  test(`reply ${name}`, () => {
    const expected = readJson(`${name}.expected.json`);
    assert.deepEqual(summarize(openaiResponses.readReply(readJson(`${name}.reply.json`)), expected), expected);
  });

  test(`reply ${name} passes unchanged`, () => {
    const bytes = readFileSync(join(folder, `${name}.reply.json`));
    assert.equal(openaiResponses.editReply(bytes), bytes);
  });
}

for (const name of casesOf('.request.json')) {
  test(`request ${name} is accepted`, () => {
    openaiResponses.validateRequest({ operation: 'generate', body: readJson(`${name}.request.json`), headers: {} }, 'compatible');
  });
}

test('a reply may be replayed as input, item by item', () => {
  for (const name of casesOf('.reply.json')) {
    const { output } = readJson(`${name}.reply.json`);
    if (!Array.isArray(output) || output.length === 0) continue;
    const body = { model: 'm', input: [...(output as JsonObject[]), { role: 'user', content: 'Go on.' }] };
    openaiResponses.validateRequest({ operation: 'generate', body, headers: {} }, 'compatible');
  }
});

test('every fixture is part of a case', () => {
  const cases = casesOf('.expected.json');
  for (const file of files) {
    assert.ok(cases.includes(file.split('.')[0] ?? ''), file);
    assert.match(file, /\.(?:stream\.sse|reply\.json|request\.json|expected\.json)$/);
  }
});
