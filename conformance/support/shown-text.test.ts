import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { notedTokensMin, readShownText } from './shown-text.ts';

describe('the certain progress of a stream whose gateway was killed', () => {
  for (const [dialect, frame] of [
    [
      'anthropic-messages',
      (text: string) => `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${text}}}\n\n`,
    ],
    [
      'openai-responses',
      (text: string) => `data: {"type":"response.output_text.delta","output_index":0,"delta":${text},"logprobs":[]}\n\n`,
    ],
    ['openai-chat', (text: string) => `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":${text}}}]}\n\n`],
    ['gemini-generate-content', (text: string) => `,\r\n{"candidates":[{"content":{"parts":[{"text":${text}}]}}]}`],
  ] as const)
    test(`${dialect}: the text counts with the chunk that completes its frame, and a partial frame does not count`, () => {
      const frames = ['Grün \\"', 'ist', 'the'].map((text) => Buffer.from(frame(`"${text}"`)));
      const body = Buffer.concat([...frames.slice(0, 2), (frames[2] ?? Buffer.alloc(0)).subarray(0, 20)]);
      const first = frames[0]?.length ?? 0;
      const arrivals = [
        { atMs: 10, bytes: first - 12 },
        { atMs: 20, bytes: first + 30 },
        { atMs: 30, bytes: body.length },
      ];
      const shown = readShownText(dialect, body, arrivals);
      assert.deepEqual(
        shown.map(({ characters }) => characters),
        [6, 9],
      );
      assert.ok((shown[0]?.atMs ?? 0) <= 20);
      assert.equal(shown[1]?.atMs, 30);
    });

  test('a frame that repeats the whole text adds nothing', () => {
    const body = Buffer.from('event: response.output_text.done\ndata: {"type":"response.output_text.done","text":"all of it"}\n\n');
    assert.deepEqual(readShownText('openai-responses', body, [{ atMs: 1, bytes: body.length }]), []);
  });

  const emissions = [100, 300, 500].map((atMs, index) => ({ tokens: 4 * (index + 1), atMs }));
  const shownAt = (...times: readonly number[]) => times.map((atMs, index) => ({ atMs, characters: 16 * (index + 1) }));

  test('text that was received longer before the last emitted frame than the recording interval must be booked', () => {
    // The last of these frames was emitted after 500 ms, when the client had had the first for 390 ms.
    assert.equal(notedTokensMin(shownAt(110, 310, 510, 710), emissions), 4);
    assert.equal(notedTokensMin(shownAt(110, 290, 510, 710), emissions), 8);
  });

  test('a client or a gateway that stalls makes less text certain', () => {
    assert.equal(notedTokensMin(shownAt(700, 701, 702, 703), emissions), 0);
    assert.equal(notedTokensMin(shownAt(110), emissions), 0);
    assert.equal(notedTokensMin([], emissions), 0);
  });
});
