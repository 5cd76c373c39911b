import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { type Entry, turnsOf } from './chat.ts';
import { emptyReply } from './conversation.ts';
import { diffLines } from './diff-lines.ts';
import { chatInterfaces, interfaceIds } from './interfaces/registry.ts';
import { readLane, ways, writeLane } from './lanes.ts';
import { placeInPlayground } from './place-in-playground.ts';
import { codeWithBytes, fillIn, refusePicture } from './pictures.ts';
import { similarity, vectorsOf } from './similarity.ts';
import { type Run, sdkError, startRun } from './runs.ts';

test('a lane is the same after the way through an address, whatever its model is called', () => {
  const number = fc.option(fc.double({ min: 0, max: 1e6, noNaN: true, noDefaultInfinity: true }), { nil: undefined });
  const lanes = fc.record(
    {
      by: fc.constantFrom(...interfaceIds),
      model: fc.string(),
      stream: fc.boolean(),
      own: fc.record(
        { temperature: number, maxTokens: number, thinking: fc.constantFrom('low' as const, 'high' as const, undefined) },
        { noNullPrototype: true },
      ),
      way: fc.constantFrom(...ways),
      byId: fc.boolean(),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(lanes, (lane) => assert.deepEqual(readLane(writeLane(lane)), lane)),
    { numRuns: 200 },
  );
  assert.equal(
    writeLane({ by: 'messages', model: 'claude-sonnet-4-5', stream: true, own: {}, way: 'post', byId: false }),
    'messages:claude-sonnet-4-5',
  );
  for (const wrong of ['', 'messages', 'telepathy:x', 'constructor:x']) assert.equal(readLane(wrong), undefined, wrong);
});

test('a difference has all lines of both texts in their order, and is the shortest for texts that only grow', () => {
  const line = fc.constantFrom('a', 'b', 'c', '');
  fc.assert(
    fc.property(fc.array(line), fc.array(line), (before, after) => {
      const lines = diffLines(before, after) ?? assert.fail();
      const without = (kind: string) => lines.flatMap((each) => (each.kind === kind ? [] : [each.text]));
      assert.deepEqual([without('added'), without('removed')], [before, after]);
    }),
  );
  assert.deepEqual(diffLines(['{', '}'], ['{', '"a": 1', '}']), [
    { kind: 'same', text: '{' },
    { kind: 'added', text: '"a": 1' },
    { kind: 'same', text: '}' },
  ]);
  const long = Array.from({ length: 3000 }, (_, index) => String(index));
  assert.equal(diffLines(long, long.toReversed()), undefined, 'a browser would stop for it');
});

test('what failed is not repeated to the model, and of a stopped reply its text is', () => {
  const run = (change: Partial<Run>): Entry => ({
    kind: 'run',
    by: 'messages',
    run: { ...startRun({ method: 'POST', path: '/', body: '' }, ''), state: 'ended', ...change },
  });
  const user = (text: string): Entry => ({ kind: 'turn', turn: { role: 'user', text, pictures: [] } });
  const reply = { ...emptyReply, text: 'Yes', content: [{ type: 'text', text: 'Yes' }] };
  assert.deepEqual(turnsOf([user('1'), run({ refusal: '{}' }), user('2'), run({ reply })]), [
    { role: 'user', text: '2', pictures: [] },
    { role: 'assistant', text: 'Yes', calls: [], spoken: { by: 'messages', content: reply.content } },
  ]);
  assert.deepEqual(turnsOf([user('1'), run({ reply, isStopped: true }), user('2')]).slice(1), [
    { role: 'assistant', text: 'Yes', calls: [] },
    { role: 'user', text: '2', pictures: [] },
  ]);
});

test('the bytes of pictures replace their marks in what is sent, whatever they contain', () => {
  const marks = new Map([['\u20391: a.png\u203a', "AA$&$'+/=="]]);
  assert.equal(fillIn('{"data": "\u20391: a.png\u203a"}', marks), `{"data": "AA$&$'+/=="}`);
  assert.equal(fillIn('nothing', marks), 'nothing');
  assert.equal(refusePicture({ name: 'a.png', type: 'image/png', size: 5 }), undefined);
  assert.match(refusePicture({ name: 'a.svg', type: 'image/svg+xml', size: 5 }) ?? '', /^a\.svg is not/);
  assert.match(refusePicture({ name: 'a.png', type: 'image/png', size: 1e9 }) ?? '', /10 MiB/);
});

test('lines of a program have the bytes of their pictures, or name the picture that is too large for a line', () => {
  const mark = '\u20391: a.png\u203a';
  const code = `curl -d '{"data":"${mark}"}'`;
  assert.deepEqual(codeWithBytes(code, new Map([[mark, 'AA==']])), { text: `curl -d '{"data":"AA=="}'`, missing: [] });
  const large = new Map([
    [mark, 'A'.repeat(130_000)],
    ['\u20392: b.png\u203a', 'B'],
  ]);
  assert.deepEqual(codeWithBytes(code, large), { text: code, missing: [mark] });
});

test('a status is named as the official SDK names it', () => {
  assert.equal(sdkError('anthropic', 429), 'Anthropic.RateLimitError');
  assert.equal(sdkError('openai', 503), 'OpenAI.InternalServerError');
  assert.equal(sdkError('openai', 402), 'OpenAI.APIError');
  assert.equal(sdkError('genai', 400), 'ApiError of @google/genai');
});

test('texts are as alike as the directions of their vectors', () => {
  assert.equal(similarity([1, 0], [2, 0]), 1);
  assert.equal(similarity([1, 0], [0, 3]), 0);
  assert.equal(similarity([1], [1, 2]), undefined);
  assert.equal(similarity([0, 0], [1, 1]), undefined);
  assert.deepEqual(vectorsOf({ data: [{ embedding: [1, 2] }, { embedding: 'AAAA' }] }), [[1, 2], []]);
});

test('a call of the books opens as a lane of its interface and model, or as its kind', () => {
  for (const by of interfaceIds) {
    const place = placeInPlayground({ dialect: chatInterfaces[by].book, model: 'a:b', stream: false, user: 'ann' });
    assert.deepEqual(readLane(String(place?.search?.['lane'])), {
      by,
      model: 'a:b',
      stream: false,
      own: { temperature: undefined, maxTokens: undefined, thinking: undefined },
      way: 'post',
      byId: false,
    });
  }
  const video = placeInPlayground({ dialect: 'openai-videos', model: 'sora-2', stream: false, user: 'ann' });
  assert.deepEqual(video?.search, { kind: 'video', model: 'sora-2', user: 'ann' });
  assert.equal(placeInPlayground({ dialect: 'rerank', model: 'x', stream: false, user: 'ann' }), undefined);
});
