import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { anyUnit } from '../../platform/testing/any-unit.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { encodeAudioError } from './audio-errors.ts';
import { transcriptionModelOf } from './audio-models.ts';
import { transcriptFormats } from './audio-formats.ts';
import { billedAudioMs, readAudioUsage } from './audio-usage.ts';
import { planTranscript } from './plan-transcript.ts';
import { readAudioStreamEvent } from './read-stream-event.ts';
import { checkUploadedAudio, sniffAudio } from './sniff-audio.ts';
import { countCodePoints, readSpeechRequest } from './speech-request.ts';
import { type FormField, readTranscriptionForm } from './transcription-form.ts';

const fields = (form: Readonly<Record<string, string>>): readonly FormField[] =>
  Object.entries(form).map(([name, value]) => ({ name, value }));
const whisper = { model: 'whisper-1' };

function refusalOf(act: () => unknown): GatewayError {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
  return assert.fail('the request was accepted');
}

describe('the documented mode', () => {
  const usual = { model: 'tts-1', input: 'x', voice: 'alloy' };

  for (const [name, body, param] of [
    ['a newer voice', { ...usual, voice: 'coral' }, 'voice'],
    ['the id of a voice', { ...usual, voice: { id: 'voice_1' } }, 'voice'],
    ['a newer field', { ...usual, instructions: 'slowly' }, 'instructions'],
  ] as const) {
    test(`${name} is refused in documented mode only`, () => {
      assert.equal(refusalOf(() => readSpeechRequest(body, 'documented')).param, param);
      assert.equal(readSpeechRequest(body, 'compatible').inputCharacters, 1);
    });
  }

  test('newer form fields are refused in documented mode only', () => {
    for (const form of [
      { ...whisper, stream: 'true' },
      { ...whisper, language: 'german' },
      { ...whisper, response_format: 'diarized_json' },
    ]) {
      refusalOf(() => readTranscriptionForm(fields(form), 'transcribe', 'documented'));
      assert.equal(readTranscriptionForm(fields(form), 'transcribe', 'compatible').requestedModel, 'whisper-1');
    }
    refusalOf(() => readTranscriptionForm(fields({ ...whisper, language: 'en' }), 'translate', 'documented'));
  });
});

test('characters are counted in code points', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyUnit }), fc.string({ unit: 'grapheme' }), (first, second) => {
      assert.equal(countCodePoints(first + second), Array.from(first + second).length);
    }),
  );
});

describe('form fields', () => {
  for (const [value, isRight] of [
    ['0.2', true],
    ['0', true],
    ['1', true],
    [' 1e-1 ', true],
    ['.5', true],
    ['', true],
    ['-0.1', false],
    ['1.01', false],
    ['NaN', false],
    ['0x1', false],
    ['Infinity', false],
    ['0,2', false],
  ] as const)
    test(`temperature "${value}" is ${isRight ? 'accepted' : 'refused'}`, () => {
      const act = () => readTranscriptionForm(fields({ ...whisper, temperature: value }), 'transcribe', 'compatible');
      if (isRight) assert.equal(act().format, 'json');
      else assert.equal(refusalOf(act).param, 'temperature');
    });

  for (const [name, written] of [
    [
      'brackets',
      [
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[]', 'segment'],
      ],
    ],
    [
      'places',
      [
        ['timestamp_granularities[0]', 'word'],
        ['timestamp_granularities[1]', 'segment'],
      ],
    ],
    [
      'none',
      [
        ['timestamp_granularities', 'word'],
        ['timestamp_granularities', 'segment'],
      ],
    ],
    ['a list in JSON', [['timestamp_granularities', ' ["word", "segment"]']]],
    ['commas', [['timestamp_granularities', 'word,segment']]],
    [
      'a value twice',
      [
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[]', 'word'],
        ['timestamp_granularities[]', 'segment'],
      ],
    ],
  ] as const)
    test(`granularities are read from ${name}`, () => {
      const form = [...fields(whisper), ...written.map(([field, value]) => ({ name: field, value }))];
      assert.deepEqual(readTranscriptionForm(form, 'transcribe', 'compatible').granularities, ['word', 'segment']);
    });

  test('a single granularity is read, an empty one is none, and a malformed list is refused', () => {
    const read = (value: string) =>
      readTranscriptionForm(fields({ ...whisper, 'timestamp_granularities[]': value }), 'transcribe', 'compatible').granularities;
    assert.deepEqual(read('word'), ['word']);
    assert.equal(read(''), undefined);
    assert.equal(refusalOf(() => read('["word"')).param, 'timestamp_granularities');
  });
});

describe('the format that a request to a model has', () => {
  const plan = (model: string, format: string, server = transcriptFormats) =>
    planTranscript(
      readTranscriptionForm(fields({ model, response_format: format }), 'transcribe', 'compatible'),
      transcriptionModelOf(model, server),
    ).askedFormat;

  test("a request to a model has the client's format, or for one that can be converted to it", () => {
    for (const format of ['json', 'text', 'srt', 'verbose_json', 'vtt']) assert.equal(plan('whisper-1', format), format);
    assert.equal(plan('gpt-4o-transcribe', 'text'), 'json');
    assert.equal(plan('gpt-4o-transcribe-diarize', 'diarized_json'), 'diarized_json');
    const vllm = ['json', 'text', 'verbose_json'] as unknown as typeof transcriptFormats;
    assert.deepEqual(
      [plan('own', 'srt', vllm), plan('own', 'vtt', vllm), plan('own', 'text', vllm)],
      ['verbose_json', 'verbose_json', 'text'],
    );
  });

  for (const [model, format] of [
    ['gpt-4o-transcribe', 'srt'],
    ['gpt-4o-mini-transcribe', 'verbose_json'],
    ['gpt-4o-transcribe-diarize', 'vtt'],
    ['whisper-1', 'diarized_json'],
  ] as const)
    test(`${format} from ${model} is refused before anything is spent`, () => {
      assert.equal(refusalOf(() => plan(model, format)).param, 'response_format');
    });

  test('the model that distinguishes speakers does not accept a prompt or granularities', () => {
    for (const [name, value] of [
      ['prompt', 'x'],
      ['timestamp_granularities[]', 'word'],
      ['include[]', 'logprobs'],
    ] as const) {
      const form = fields({ model: 'gpt-4o-transcribe-diarize', [name]: value });
      const facts = readTranscriptionForm(form, 'transcribe', 'compatible');
      refusalOf(() => planTranscript(facts, transcriptionModelOf('gpt-4o-transcribe-diarize', transcriptFormats)));
    }
  });
});

describe('the format of a file', () => {
  const bytes = (...values: (number | string)[]): Buffer =>
    Buffer.concat(values.map((value) => (typeof value === 'number' ? Buffer.from([value]) : Buffer.from(value, 'latin1'))));

  for (const [name, head, container] of [
    ['FLAC', bytes('fLaC', 0), 'flac'],
    ['Ogg', bytes('OggS', 0), 'ogg'],
    ['WAVE', bytes('RIFF\0\0\0\0WAVE'), 'wav'],
    ['WAVE over 4 GB', bytes('RF64\xff\xff\xff\xffWAVE'), 'wav'],
    ['MP4', bytes('\0\0\0\x20ftypM4A '), 'mp4'],
    ['WebM', bytes(0x1a, 0x45, 0xdf, 0xa3), 'webm'],
    ['MP3 behind a tag', bytes('ID3\x04\0\0\0\0\0\x0a'), 'mp3'],
    ['FLAC behind a tag', bytes('ID3\x04\0\0\0\0\0\x02', 0, 0, 'fLaC'), 'flac'],
    ['MP3', bytes(0xff, 0xfb, 0x90, 0), 'mp3'],
    ['MP3 behind zeros', bytes(0, 0, 0, 0, 0, 0xff, 0xfb, 0x90, 0), 'mp3'],
    ['AAC in ADTS', bytes(0xff, 0xf1, 0x50, 0x80), undefined],
    ['AVI', bytes('RIFF\0\0\0\0AVI '), undefined],
    ['text', bytes('hello, world'), undefined],
    ['nothing', Buffer.alloc(0), undefined],
  ] as const)
    test(`${name} is recognised as ${container ?? 'none of the formats'}`, () => assert.equal(sniffAudio(head), container));

  const wav = bytes('RIFF\0\0\0\0WAVE');
  for (const [filename, declaredType, isRight] of [
    ['a.wav', 'audio/wav', true],
    ['a.WAV', 'application/octet-stream', true],
    ['a.wav', '', true],
    ['a.wav', 'text/plain', false],
    ['a.wav', 'text/plain; charset=utf-8', false],
    ['a.wav', 'audio/x-wav; rate=16000', true],
    ['blob', 'audio/wav', true],
    ['a.wav', 'audio/unheard-of', true],
    ['a.mp3', 'audio/wav', false],
    ['a.wav', 'audio/mpeg', false],
    ['a.wav', 'image/png', false],
    ['a.constructor', 'audio/wav', false],
    ['a.txt', 'audio/wav', false],
  ] as const)
    test(`a wav that is named ${filename} and declared ${declaredType} is ${isRight ? 'accepted' : 'refused'}`, () => {
      const act = () => checkUploadedAudio({ filename, declaredType, head: wav, bytes: 100 });
      if (isRight) assert.equal(act(), 'wav');
      else assert.deepEqual([refusalOf(act).code, refusalOf(act).param], ['invalid_media', 'file']);
    });

  test('any bytes under any name are recognised or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.string(), fc.string(), (head, filename, declaredType) => {
        try {
          checkUploadedAudio({ filename, declaredType, head: Buffer.from(head), bytes: head.length });
        } catch (error) {
          assert.ok(error instanceof GatewayError);
        }
      }),
    );
  });
});

describe('usage', () => {
  for (const [seconds, ms] of [
    [8.47, 9000],
    [9, 9000],
    [9.000_000_000_000_002, 9000],
    [0.01, 1000],
    [0, 0],
  ] as const)
    test(`${seconds} s are billed as ${ms} ms`, () => assert.equal(billedAudioMs(seconds), ms));

  test('an impossible count is omitted and reported as untrustworthy', () => {
    assert.deepEqual(readAudioUsage({ type: 'duration', seconds: '8.2' }, 'text')?.usage, { inputAudioMs: 9000 });
    for (const seconds of [-1, 1e12, null, 'x']) {
      const report = readAudioUsage({ type: 'duration', seconds }, 'text');
      assert.deepEqual([report?.usage, report?.trustworthy], [{}, false]);
    }
    assert.equal(readAudioUsage({ input_tokens: 1.5, output_tokens: 2 }, 'text')?.trustworthy, false);
    assert.equal(readAudioUsage({}, 'text'), undefined);
    assert.equal(readAudioUsage(null, 'text'), undefined);
  });

  test('an event is read as the end, an error or an unknown event', () => {
    assert.deepEqual(readAudioStreamEvent('{"type":"transcript.text.delta","delta":"abc"}'), { kind: 'delta', textCharacters: 3 });
    assert.equal(readAudioStreamEvent('{"type":"speech.audio.done","usage":{"input_tokens":1,"output_tokens":2}}').kind, 'done');
    assert.deepEqual(readAudioStreamEvent('{"error":{"message":"no","code":503}}'), {
      kind: 'error',
      error: { message: 'no', status: 503 },
    });
    for (const data of ['', '[DONE]', 'x', '[]', '{"type":"new"}', '{"text":"a"}']) assert.equal(readAudioStreamEvent(data).kind, 'other');
  });
});

test('every error has four strings and a code that is not empty', () => {
  for (const error of [
    new GatewayError('internal_error', 'x'),
    new GatewayError('route_not_found', 'x'),
    new GatewayError('rate_limited', 'x', { retryAfterSeconds: 2 }),
    new GatewayError('invalid_api_key', 'x'),
  ]) {
    const body = JSON.parse(encodeAudioError(error, 'req_1').body.toString()) as { error: Record<string, unknown> };
    assert.deepEqual(Object.keys(body.error), ['message', 'type', 'param', 'code']);
    for (const value of Object.values(body.error)) assert.equal(typeof value, 'string');
    assert.notEqual(body.error['code'], '');
  }
});
