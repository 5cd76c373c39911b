import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import type { JsonObject } from '../../platform/json/json-value.ts';
import { languageName } from './language-names.ts';
import { readTranscript } from './read-transcript.ts';
import type { Transcript, TranscriptSegment } from './transcript.ts';
import { completeVttTimes, writeSrt, writeVtt } from './write-subtitles.ts';
import { writeTranscript } from './write-transcript.ts';

const segment = (start: number, end: number, text: string): TranscriptSegment => ({ start, end, text, members: {} });
const beach = [segment(0, 3.319, ' The beach was a popular spot.'), segment(3.319, 8.47, ' People were swimming.')];

function read(body: JsonObject): Transcript {
  const transcript = readTranscript(body);
  assert.ok(transcript);
  return transcript;
}

function parse(written: ReturnType<typeof writeTranscript>) {
  assert.ok(typeof written === 'string');
  return JSON.parse(written);
}

describe('subtitles', () => {
  test('SRT has numbered cues, a comma before milliseconds, and a blank line after the last cue', () => {
    assert.equal(
      writeSrt(beach),
      '1\n00:00:00,000 --> 00:00:03,319\nThe beach was a popular spot.\n\n2\n00:00:03,319 --> 00:00:08,470\nPeople were swimming.\n\n',
    );
  });

  test('VTT always has hours and never cue numbers', () => {
    assert.equal(
      writeVtt(beach),
      'WEBVTT\n\n00:00:00.000 --> 00:00:03.319\nThe beach was a popular spot.\n\n00:00:03.319 --> 00:00:08.470\nPeople were swimming.\n\n',
    );
  });

  test('silence is an empty file of each kind', () => {
    assert.deepEqual([writeSrt([]), writeVtt([])], ['', 'WEBVTT\n\n']);
  });

  test('a text cannot end its cue or be read as times, and times beyond a hundred hours keep their digits', () => {
    assert.equal(writeSrt([segment(0.0005, 360_000.9999, ' a --> b\r\n\r\n2\nc ')]), '1\n00:00:00,001 --> 100:00:01,000\na -> b\n2\nc\n\n');
  });

  test('every cue of any text is one block of three parts, and its times are read back unchanged', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: 0, max: 90_000, noNaN: true }), fc.string({ unit: 'grapheme' })), { maxLength: 5 }),
        (cues) => {
          const srt = writeSrt(cues.map(([start, text]) => segment(start, start + 1, text)));
          const times = srt.match(/^\d{2,}:[0-5]\d:[0-5]\d,\d{3} --> \d{2,}:[0-5]\d:[0-5]\d,\d{3}$/gm) ?? [];
          assert.equal(times.length, cues.length);
        },
      ),
    );
  });

  test('times of open-source servers receive hours, and cue settings stay', () => {
    assert.equal(
      completeVttTimes('WEBVTT\n\n00:00.000 --> 00:03.319 align:start\nat 00:01.000 --> x\n\n01:00:00.000 --> 01:00:01.000\nb\n\n'),
      'WEBVTT\n\n00:00:00.000 --> 00:00:03.319 align:start\nat 00:01.000 --> x\n\n01:00:00.000 --> 01:00:01.000\nb\n\n',
    );
  });
});

describe('answers of other servers', () => {
  const whisperCpp = {
    task: 'transcribe',
    language: 'english',
    duration: 8.47,
    text: ' Hello there.\n',
    segments: [
      {
        id: 0,
        text: ' Hello there.',
        start: 0,
        end: 8.47,
        tokens: [1, 2],
        words: [{ word: ' Hello', start: 0, end: 1, t_dtw: -1, probability: 0.9 }],
        temperature: 0,
        avg_logprob: -0.1,
      },
    ],
  };
  const fasterWhisper = {
    task: 'transcribe',
    language: 'en',
    duration: '8.47',
    text: 'Hello there.',
    words: null,
    segments: [
      {
        id: 1,
        seek: 0,
        start: 0,
        end: 8.47,
        text: ' Hello there.',
        tokens: [],
        temperature: 0,
        avg_logprob: -0.1,
        compression_ratio: 1,
        no_speech_prob: 0,
      },
    ],
  };
  const verbose = { task: 'transcribe', format: 'verbose_json', granularities: undefined } as const;

  test('words inside the segments of whisper.cpp are read, and the reply has all members of the contract', () => {
    const written = writeTranscript(read(whisperCpp), { ...verbose, granularities: ['word', 'segment'] });
    assert.equal(typeof written, 'string');
    const body = parse(written);
    assert.deepEqual(body.words, [{ word: 'Hello', start: 0, end: 1 }]);
    assert.deepEqual(Object.keys(body.segments[0]).toSorted(), [
      'avg_logprob',
      'compression_ratio',
      'end',
      'id',
      'no_speech_prob',
      'seek',
      'start',
      'temperature',
      'text',
      'tokens',
    ]);
  });

  test('the language code of faster-whisper becomes a name, and null words are none', () => {
    const body = parse(writeTranscript(read(fasterWhisper), verbose));
    assert.deepEqual([body.language, body.duration, 'words' in body], ['english', 8.47, false]);
    assert.equal(writeTranscript(read(fasterWhisper), { ...verbose, format: 'srt' }), '1\n00:00:00,000 --> 00:00:08,470\nHello there.\n\n');
  });

  test('a request for words has no segments, and a request for both has both', () => {
    const words = parse(writeTranscript(read(whisperCpp), { ...verbose, granularities: ['word'] }));
    assert.deepEqual(['words' in words, 'segments' in words], [true, false]);
  });

  test('missing timestamps are never invented, and silence needs none', () => {
    const plain = read({ text: 'Hello.' });
    for (const format of ['srt', 'vtt', 'verbose_json'] as const)
      assert.deepEqual(writeTranscript(plain, { ...verbose, format }), { missing: 'segment' }, format);
    assert.deepEqual(writeTranscript(read(fasterWhisper), { ...verbose, granularities: ['word'] }), { missing: 'word' });
    assert.equal(writeTranscript(read({ text: '' }), { ...verbose, format: 'srt' }), '');
    // One malformed segment: a file without its cue would look complete.
    assert.equal(readTranscript({ text: 'a', segments: [{ start: 0, text: 'a' }] })?.segments, undefined);
  });

  test('surrounding space is removed from json and text, and the usage is kept', () => {
    const transcript = read({ text: ' Hi. \n', usage: { type: 'duration', seconds: 3 } });
    assert.equal(writeTranscript(transcript, { ...verbose, format: 'text' }), 'Hi.\n');
    assert.equal(writeTranscript(transcript, { ...verbose, format: 'json' }), '{"text":"Hi.","usage":{"type":"duration","seconds":3}}');
  });

  test('a translation is always reported as English', () => {
    const body = parse(writeTranscript(read({ ...fasterWhisper, language: 'de' }), { ...verbose, task: 'translate' }));
    assert.deepEqual([body.task, body.language], ['translate', 'english']);
  });

  for (const [language, name] of [
    ['en', 'english'],
    ['EN-us', 'english'],
    ['German', 'german'],
    ['zh', 'chinese'],
    ['<|ja|>', 'japanese'],
    ['nn', 'nynorsk'],
    ['haitian creole', 'haitian creole'],
    ['jw', 'javanese'],
  ] as const)
    test(`${language} is named ${name}`, () => assert.equal(languageName(language), name));
});
