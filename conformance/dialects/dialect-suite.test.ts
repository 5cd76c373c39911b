import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import type { ChatDialect, StreamReport } from '../../src/dialects/chat-dialect.ts';
import type { WireRequest } from '../../src/dialects/wire-request.ts';
import { chatDialects } from '../../src/dialects/registry.ts';
import { type ErrorCode, errorCodes, GatewayError } from '../../src/inference/gateway-error.ts';
import type { Frame, FrameReader, StreamFraming } from '../../src/platform/frames.ts';
import { applyJsonEdits } from '../../src/platform/json/json-edits.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { createJsonArrayFrameReader } from '../../src/platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../src/platform/sse/sse-frame-reader.ts';

/**
 * Requirements of every dialect, checked with its own fixtures. A dialect of the registry is in this suite; a skip has
 * a reason. Fixtures of a case: `<case>.request.json`, `.reply.json`, `.stream.sse` or `.stream.json` (array framing),
 * `.expected.json`.
 */
const frameBytesMax = 4_000_000;

function createReader(framing: StreamFraming): FrameReader {
  return framing === 'sse' ? createSseFrameReader({ frameBytesMax }) : createJsonArrayFrameReader({ frameBytesMax });
}

type StreamFixture = {
  readonly name: string;
  readonly framing: StreamFraming;
  readonly body: Buffer;
  readonly request: JsonObject;
  readonly expected: JsonObject;
};

function readStreams(folder: string): readonly StreamFixture[] {
  const json = (name: string): JsonObject => JSON.parse(readFileSync(join(folder, name), 'utf8')) as JsonObject;
  return readdirSync(folder)
    .filter((file) => /\.stream\.(?:sse|json)$/.test(file))
    .map((file) => {
      const name = file.replace(/\.stream\.(?:sse|json)$/, '');
      const framing = file.endsWith('.sse') ? 'sse' : 'json-array';
      return {
        name,
        framing,
        body: readFileSync(join(folder, file)),
        request: json(`${name}.request.json`),
        expected: json(`${name}.expected.json`),
      };
    });
}

function framesOf(fixture: StreamFixture, chunkBytes: number): { readonly frames: readonly Frame[]; readonly rest: Buffer } {
  const reader = createReader(fixture.framing);
  const frames: Frame[] = [];
  for (let at = 0; at < fixture.body.length; at += chunkBytes)
    frames.push(...reader.push(Buffer.from(fixture.body.subarray(at, at + chunkBytes))));
  return { frames, rest: reader.rest() };
}

function read(
  dialect: ChatDialect,
  fixture: StreamFixture,
  frames: readonly Frame[],
): { readonly report: StreamReport; readonly bytes: Buffer } {
  const tap = dialect.createStreamTap({ framing: fixture.framing, request: fixture.request });
  const bytes: Buffer[] = [];
  for (const frame of frames) {
    const verdict = tap.read(frame);
    if (verdict !== 'hide') bytes.push(verdict === 'forward' ? frame.bytes : verdict.bytes);
    assert.equal(tap.state(), tap.report().state);
  }
  return { report: tap.report(), bytes: Buffer.concat(bytes) };
}

const codes = Object.keys(errorCodes) as ErrorCode[];

for (const dialect of Object.values(chatDialects)) {
  const folder = join(import.meta.dirname, '../../src/dialects', dialect.id, 'fixtures');
  const streams = readStreams(folder);

  describe(dialect.id, () => {
    test('has fixtures of streams and of whole replies', () => {
      assert.ok(streams.length >= 5);
      assert.ok(readdirSync(folder).filter((file) => file.endsWith('.reply.json')).length >= 3);
    });

    for (const fixture of streams) {
      const whole = framesOf(fixture, fixture.body.length);
      const expected = read(dialect, fixture, whole.frames);

      test(`${fixture.name}: has a file of expectations`, () => {
        const { report } = expected;
        if (fixture.expected['usage'] !== undefined) assert.deepEqual(report.usageReport?.usage, fixture.expected['usage']);
        if (fixture.expected['state'] !== undefined) assert.equal(report.state, fixture.expected['state']);
        if (fixture.expected['stopReason'] !== undefined) assert.equal(report.stopReason, fixture.expected['stopReason']);
        if (fixture.expected['servedModel'] !== undefined) assert.equal(report.servedModel, fixture.expected['servedModel']);
      });

      test(`${fixture.name}: every chunk size gives the same report and the same bytes`, () => {
        for (let chunkBytes = 1; chunkBytes < Math.min(fixture.body.length, 200); chunkBytes += chunkBytes < 24 ? 1 : 13) {
          const { frames, rest } = framesOf(fixture, chunkBytes);
          const actual = read(dialect, fixture, frames);
          assert.deepEqual(actual.report, expected.report, `chunks of ${chunkBytes}`);
          assert.ok(actual.bytes.equals(expected.bytes), `chunks of ${chunkBytes}`);
          assert.ok(rest.equals(whole.rest));
        }
      });

      test(`${fixture.name}: nothing that counts follows the frame that completes it`, () => {
        if (expected.report.state !== 'complete') return;
        const tap = dialect.createStreamTap({ framing: fixture.framing, request: fixture.request });
        const completeAt = whole.frames.findIndex((frame) => {
          tap.read(frame);
          return tap.state() === 'complete';
        });
        const atCompletion = read(dialect, fixture, whole.frames.slice(0, completeAt + 1)).report;
        assert.deepEqual(atCompletion.usageReport, expected.report.usageReport);
        assert.equal(atCompletion.outputCharacters, expected.report.outputCharacters);
      });

      test(`${fixture.name}: heartbeats in any position change nothing`, () => {
        const beat = dialect.voice.heartbeat(fixture.framing);
        const noise = fixture.framing === 'sse' ? createReader('sse').push(Buffer.from(beat)) : [];
        const actual = read(
          dialect,
          fixture,
          whole.frames.flatMap((frame) => [...noise, frame]),
        );
        assert.deepEqual(actual.report.usageReport?.usage, expected.report.usageReport?.usage);
        assert.equal(actual.report.state, expected.report.state);
        assert.equal(actual.report.outputCharacters, expected.report.outputCharacters);
      });

      test(`${fixture.name}: a broken stream ends with an error event that readers recognise`, () => {
        const half = whole.frames.slice(0, Math.max(1, Math.floor(whole.frames.length / 2)));
        const partial = read(dialect, fixture, half);
        if (partial.report.state !== 'open') return;
        const error = new GatewayError('upstream_connection_error', 'Upstream connection error: the stream was terminated early.');
        const tail = dialect.voice.encodeStreamError(error, {
          ...partial.report,
          framing: fixture.framing,
          requestId: 'req_0123456789abcdef',
          framesSent: half.length,
        });
        const reader = createReader(fixture.framing);
        const frames = reader.push(Buffer.concat([partial.bytes, tail]));
        assert.equal(reader.rest().toString().trim(), '');
        const seen = read(dialect, { ...fixture, request: { ...fixture.request, stream_options: { include_usage: true } } }, frames);
        assert.equal(seen.report.state, 'failed');
        assert.match(seen.report.error?.message ?? '', /terminated early/);
      });
    }

    test('every whole reply reads as expected, and its bytes stay the same or gain only documented spellings', () => {
      for (const file of readdirSync(folder).filter((name) => name.endsWith('.reply.json'))) {
        const body = readFileSync(join(folder, file));
        const expected = JSON.parse(readFileSync(join(folder, file.replace('.reply.', '.expected.')), 'utf8')) as JsonObject;
        const report = dialect.readReply(JSON.parse(body.toString()));
        if (expected['usage'] !== undefined) assert.deepEqual(report.usageReport?.usage, expected['usage'], file);
        const edited = dialect.editReply(body);
        if (edited !== body) assert.match(edited.toString(), /vendor/, file);
      }
    });

    test('invalid replies are read without an exception', () => {
      for (const reply of [
        null,
        1,
        'text',
        [],
        {},
        { usage: null },
        { usage: 'many' },
        { choices: [null] },
        { content: 7 },
        { candidates: {} },
        { output: [[]] },
      ]) {
        const report = dialect.readReply(reply);
        assert.ok(report.outputCharacters >= 0);
      }
    });

    test('every error code has a body in this dialect, with its status and message', () => {
      for (const code of codes) {
        const error = new GatewayError(code, `an error of code ${code}`, { param: 'model', retryAfterSeconds: 2 });
        const reply = dialect.voice.encodeError(error, 'req_0123456789abcdef');
        assert.ok(reply.status >= 400 && reply.status < 600);
        assert.match(reply.headers['content-type'] ?? '', /^application\/json/);
        const body = JSON.parse(reply.body.toString()) as { error?: { message?: string } };
        // Programs shorten their conversation when they recognise their own vendor's message.
        const expected = code === 'context_length_exceeded' ? /an error of code|token|context/ : /an error of code/;
        assert.match(body.error?.message ?? '', expected);
        assert.equal(reply.headers['retry-after'], '2');
      }
    });

    test('fixture requests are valid, and an edit changes only the model and the requested fields', () => {
      for (const file of readdirSync(folder).filter((name) => name.endsWith('.request.json'))) {
        const bytes = readFileSync(join(folder, file));
        const body = JSON.parse(bytes.toString()) as JsonObject;
        const model = typeof body['model'] === 'string' ? body['model'] : 'gemini-2.5-flash';
        const request: WireRequest = {
          operation: 'generate',
          body,
          headers: { 'anthropic-version': '2023-06-01' },
          ...(dialect.id === 'gemini-generate-content' ? { pathModel: model } : {}),
        };
        dialect.validateRequest(request, 'compatible');
        assert.equal(dialect.readFacts(request).requestedModel, model);
        const fit = { requestedModel: model, upstreamModel: 'another "model"', acceptsStreamOptions: false };
        const edited = JSON.parse(applyJsonEdits(bytes, dialect.editRequest(request, bytes, fit)).toString()) as JsonObject;
        if (body['model'] !== undefined) assert.equal(edited['model'], 'another "model"');
        const unchanged = applyJsonEdits(bytes, dialect.editRequest(request, bytes, { ...fit, upstreamModel: model }));
        if (!/vendor_?search/i.test(bytes.toString())) assert.ok(unchanged === bytes, file);
      }
    });
  });
}
