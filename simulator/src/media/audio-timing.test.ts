import assert from 'node:assert/strict';
import test from 'node:test';
import * as fc from 'fast-check';
import { writeSrt, writeVtt } from './audio-subtitles.ts';
import { timeSegments, timeWords } from './audio-timing.ts';

const texts = fc.oneof(fc.lorem({ mode: 'sentences', maxCount: 6 }), fc.string({ unit: 'grapheme', maxLength: 80 }));

test('word-out-of-time: words follow one another within the duration, and the last one ends with it', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 100, max: 600_000 }), (text, durationMs) => {
      const words = timeWords(text, durationMs);
      let atMs = 0;
      for (const { startMs, endMs } of words) {
        assert.ok(startMs >= atMs && endMs >= startMs, JSON.stringify(words));
        atMs = endMs;
      }
      if (text.trim() !== '') assert.equal(atMs, durationMs);
    }),
  );
});

test('segment-out-of-time: sentences contain all of the text, in order, each with the times of its words', () => {
  fc.assert(
    fc.property(fc.lorem({ mode: 'sentences', maxCount: 6 }), fc.integer({ min: 1_000, max: 60_000 }), (text, durationMs) => {
      const words = timeWords(text, durationMs);
      const segments = timeSegments(text, words);
      assert.equal(segments.map((segment) => segment.text).join(' '), text.trim());
      assert.equal(segments[0]?.startMs, words[0]?.startMs);
      assert.equal(segments.at(-1)?.endMs, durationMs);
    }),
  );
});

test('broken-subtitles: cues have the marks that players require', () => {
  const cues = [
    { text: ' One --> two ', startMs: 0, endMs: 3_319 },
    { text: 'Later', startMs: 3_723_004, endMs: 3_724_050 },
  ];
  assert.equal(writeSrt(cues), '1\n00:00:00,000 --> 00:00:03,319\nOne -> two\n\n2\n01:02:03,004 --> 01:02:04,050\nLater\n\n');
  assert.equal(writeVtt(cues), 'WEBVTT\n\n00:00:00.000 --> 00:00:03.319\nOne -> two\n\n01:02:03.004 --> 01:02:04.050\nLater\n\n');
  assert.equal(writeSrt([]), '');
  assert.equal(writeVtt([]), 'WEBVTT\n\n');
});
