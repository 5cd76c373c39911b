import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { TranscriptionFacts } from '../../../dialects/openai-audio/transcription-form.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { rewriteTranscript } from './rewrite-transcript.ts';
import { meterSpeech } from './speech-job.ts';

const usual: TranscriptionFacts = {
  task: 'transcribe',
  requestedModel: 'whisper-1',
  format: 'verbose_json',
  granularities: undefined,
  stream: false,
  hasPrompt: false,
  promptCharacters: 0,
  includesLogprobs: false,
};
const rewrite = (received: string, format: TranscriptionFacts['format'], askedFormat = format): string =>
  rewriteTranscript(Buffer.from(received), { ...usual, format }, { askedFormat, granularities: undefined }).body.toString();

describe('a transcript in the format of the client', () => {
  const segment =
    '{"id":0,"seek":0,"start":0.0,"end":3.319999933242798,"text":" Hi.","tokens":[50364],"temperature":0.0,"avg_logprob":-0.28,"compression_ratio":1.2,"no_speech_prob":0.01}';
  const verbose = `{ "task":"transcribe","language":"english","duration":8.470000267028809,"text":"Hi.","segments":[${segment}],"usage":{"type":"duration","seconds":9},"new":{"a":1.0}}`;

  test('a reply in the right format keeps its bytes, spaces and numbers', () => {
    assert.equal(rewrite(verbose, 'verbose_json'), verbose);
    assert.equal(rewrite('{ "text" : "a" , "new":1.0}', 'json'), '{ "text" : "a" , "new":1.0}');
    assert.equal(rewrite('1\n00:00:00,000 --> 00:00:01,000\na\n\n', 'srt'), '1\n00:00:00,000 --> 00:00:01,000\na\n\n');
  });

  for (const [name, received, format, expected] of [
    ['a text in quotes', '"a\\nb"', 'text', 'a\nb\n'],
    ['a text in JSON', '{"text":" a "}', 'text', 'a\n'],
    [
      'subtitles in a JSON string',
      '"WEBVTT\\n\\n00:00.000 --> 00:01.000\\na\\n\\n"',
      'vtt',
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na\n\n',
    ],
    ['segments if subtitles were requested', verbose, 'srt', '1\n00:00:00,000 --> 00:00:03,320\nHi.\n\n'],
    ['a text that begins like JSON', '"Yes," he said.', 'text', '"Yes," he said.\n'],
    ['a text in braces', '{braces}', 'text', '{braces}\n'],
    ['no speech', '', 'text', '\n'],
  ] as const)
    test(`${name}`, () => assert.equal(rewrite(received, format), expected));

  test('a reply that is not a transcript, or lacks times, is an error', () => {
    const code = (act: () => unknown): string | undefined => {
      try {
        act();
      } catch (error) {
        return error instanceof GatewayError ? error.code : 'other';
      }
      return undefined;
    };
    for (const received of ['<html>', '[]', '{}', '{"error":{}}', '"a"'])
      assert.equal(
        code(() => rewrite(received, 'json')),
        'upstream_invalid_reply',
        received,
      );
    assert.equal(
      code(() => rewrite('{"text":"a"}', 'srt', 'verbose_json')),
      'invalid_value',
    );
    assert.equal(
      code(() => rewrite('{"text":"a"}', 'verbose_json')),
      'invalid_value',
    );
  });
});

describe('what a speech used', () => {
  const facts = {
    requestedModel: 'm',
    inputCharacters: 150,
    instructionsCharacters: 0,
    format: 'mp3',
    streamsEvents: false,
    speed: 1,
  } as const;

  test('characters are counted, and unreported tokens are estimated higher for slower speech', () => {
    assert.deepEqual(meterSpeech(facts, 'characters', undefined), { usage: { inputCharacters: 150 }, estimated: false });
    const guessed = meterSpeech(facts, 'tokens', undefined);
    const slow = meterSpeech({ ...facts, speed: 0.5 }, 'tokens', undefined);
    assert.ok(guessed.estimated && (slow.usage.outputTokens ?? 0) > (guessed.usage.outputTokens ?? 0));
    for (const count of Object.values(guessed.usage)) assert.ok(Number.isSafeInteger(count));
    const report = { usage: { inputTokens: 3 }, raw: { output_tokens: 'x' }, trustworthy: false };
    const partly = meterSpeech(facts, 'tokens', report);
    assert.deepEqual([partly.usage.inputTokens, partly.estimated, partly.rawUsage], [3, true, report.raw]);
    assert.ok((partly.usage.outputTokens ?? 0) > 0);
  });
});
