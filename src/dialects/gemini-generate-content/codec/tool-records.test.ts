import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Citation } from '../../../inference/citation.ts';
import type { InferenceEvent } from '../../../inference/inference-event.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import type { ServerToolPart, ToolFinding } from '../../../inference/inference-request.ts';
import { objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { chunksOf, createReading, createWriting, decode, encodeStream } from './testing/test-kit.ts';

const tool = (kind: ServerToolPart['tool'], more: Partial<ServerToolPart> = {}): ServerToolPart => ({
  kind: 'server-tool',
  tool: kind,
  id: 't',
  input: ['q'],
  wire: [],
  ...more,
});

const candidateOf = (parts: InferenceReply['parts']): JsonObject =>
  (encodeReply({ parts, stopReason: 'end' }, createWriting()).candidates as [JsonObject])[0];

const metadataOf = (candidate: JsonObject): JsonObject => candidate.groundingMetadata as JsonObject;

const partsOf = (candidate: JsonObject): readonly JsonObject[] => objectsOf((candidate.content as JsonObject).parts);

const cite = (source: Citation['source'], start: number, end: number): Citation => ({ start, end, title: 'T', source });

/** The events of a running tool: its input at the start and later, its result, and its end. */
function atWork(input: readonly string[], deltas: readonly string[], part?: ServerToolPart): readonly InferenceEvent[] {
  return [
    { type: 'started' },
    {
      type: 'block-started',
      index: 0,
      block: { kind: 'server-tool', tool: part?.tool === 'web-search' ? 'web-search' : 'code-execution', id: 't', input },
    },
    ...deltas.map((text): InferenceEvent => ({ type: 'delta', index: 0, text })),
    ...(part === undefined ? [] : [{ type: 'tool-outcome', index: 0, part } as const]),
    { type: 'block-ended', index: 0 },
    { type: 'block-started', index: 1, block: { kind: 'text' } },
    { type: 'delta', index: 1, text: 'It is 2.' },
    { type: 'block-ended', index: 1 },
    { type: 'finished', stopReason: 'end' },
  ];
}

const streamed = (events: readonly InferenceEvent[]): readonly JsonObject[] =>
  chunksOf(encodeStream(events, 'sse')).flatMap((chunk) => partsOf(objectsOf(chunk.candidates)[0] ?? {}));

const code = { executableCode: { language: 'PYTHON', code: 'print(1+1)' } };
const ran = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2\n' } };
const answer = { text: 'It is 2.' };
const last = { text: '' };
const printed = tool('code-execution', { input: ['print(1+1)'], results: [{ text: '2\n' }] });

test('code comes before its result and both before the text, however it began', () => {
  assert.deepEqual(streamed(atWork(['print(1+1)'], [], printed)), [code, ran, answer, last]);
  assert.deepEqual(streamed(atWork([], ['print', '(1+1)'], printed)), [code, ran, answer, last]);
  assert.deepEqual(partsOf(candidateOf([printed, { kind: 'text', text: 'It is 2.' }])), [code, ran, answer]);
});

test('code that is known at the start is written while it runs', () => {
  const chunks = chunksOf(encodeStream(atWork(['print(1+1)'], [], printed).slice(0, 2), 'sse'));
  assert.deepEqual(
    chunks.flatMap((chunk) => partsOf(objectsOf(chunk.candidates)[0] ?? {})),
    [code],
  );
});

test('code has an outcome, however it ended', () => {
  const outcomes: readonly (readonly [Partial<ServerToolPart>, string, string])[] = [
    [{ results: [{ text: 'a' }, { text: 'b\n' }, { url: 'https://a' }, { text: 'c' }] }, 'OUTCOME_OK', 'a\nb\nc'],
    [{ results: [{ text: 'Traceback' }], failed: true }, 'OUTCOME_FAILED', 'Traceback'],
    [{ failed: true, failure: 'timed-out' }, 'OUTCOME_DEADLINE_EXCEEDED', ''],
    [{ failed: true, failure: 'limit-reached' }, 'OUTCOME_FAILED', ''],
  ];
  for (const [more, outcome, output] of outcomes) {
    const [, result] = partsOf(candidateOf([tool('code-execution', more)]));
    assert.deepEqual(result, { codeExecutionResult: { outcome, output } });
  }
  const failed = { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: '' } };
  assert.deepEqual(streamed(atWork(['print(1+1)'], [])), [code, failed, answer, last], 'it was interrupted');
  assert.deepEqual(streamed(atWork([], ['print(1+1)'])), [code, failed, answer, last], 'so was one whose code came in pieces');
});

test('the input of a search is not text', () => {
  const search = tool('web-search', { input: ['news'], results: [] });
  assert.deepEqual(streamed(atWork(['news'], ['more of it'], search)), [answer, last]);
});

test('code and its result are read when a client returns them', () => {
  for (const [outcome, more] of [
    ['OUTCOME_OK', {}],
    ['OUTCOME_FAILED', { failed: true }],
    ['OUTCOME_DEADLINE_EXCEEDED', { failed: true, failure: 'timed-out' }],
  ] as const) {
    const { turns } = decode({
      contents: [
        { role: 'user', parts: [{ text: 'q' }] },
        { role: 'model', parts: [code, { codeExecutionResult: { outcome, output: '2' } }, answer] },
        { role: 'user', parts: [{ text: 'and?' }] },
      ],
    });
    const [{ path: _path, wire: _wire, id: _id, ...part }] = (turns[1]?.parts ?? []) as unknown as [ServerToolPart];
    assert.deepEqual(part, { kind: 'server-tool', tool: 'code-execution', input: ['print(1+1)'], results: [{ text: '2' }], ...more });
  }
});

test('confidence is written if that of every source is known, within limits', () => {
  const results: readonly ToolFinding[] = [
    { url: 'https://a', score: 0.25 },
    { url: 'https://a', score: 0.75 },
    { url: 'https://b', score: 7 },
    { url: 'https://c' },
  ];
  const spans = [
    ['https://a', 0, 2],
    ['https://b', 0, 2],
    ['https://c', 3, 5],
    ['https://a', 3, 5],
  ] as const;
  const citations = spans.map(([url, start, end]) => cite({ kind: 'url', url }, start, end));
  const metadata = metadataOf(candidateOf([tool('web-search', { results }), { kind: 'text', text: 'ab cd', citations }]));
  assert.deepEqual(
    objectsOf(metadata.groundingSupports).map(({ groundingChunkIndices, confidenceScores }) => [groundingChunkIndices, confidenceScores]),
    [
      [
        [0, 1],
        [0.75, 1],
      ],
      [[2, 0], undefined],
    ],
  );
  assert.deepEqual(metadata.retrievalMetadata, { vendorSearchDynamicRetrievalScore: 1, googleSearchDynamicRetrievalScore: 1 });
  assert.equal(metadataOf(candidateOf([tool('web-search', { results: [{ url: 'https://c' }] })])).retrievalMetadata, undefined);
});

test('passages of files are chunks with their store, cited or not', () => {
  const results: readonly ToolFinding[] = [
    { fileId: 'file_1', title: 'a.pdf', text: 'first', storeId: 'vs_1', score: 0.5 },
    { fileId: 'file_2', title: 'b.pdf', text: 'second', storeId: 'vs_1' },
  ];
  const citations = [cite({ kind: 'document', fileId: 'file_1' }, 0, 2)];
  const metadata = metadataOf(candidateOf([tool('file-search', { results }), { kind: 'text', text: 'ab', citations }]));
  const passage = (title: string, text: string) => ({ retrievedContext: { title, text, fileSearchStore: 'vs_1' } });
  assert.deepEqual(metadata.groundingChunks, [passage('T', 'first'), passage('a.pdf', 'first'), passage('b.pdf', 'second')]);
  assert.deepEqual(objectsOf(metadata.groundingSupports)[0]?.confidenceScores, [0.5]);
  assert.equal(metadata.webSearchQueries, undefined);
  assert.equal(metadata.searchEntryPoint, undefined);
});

test('pages that were read are written with their status, and are read back', () => {
  const results: readonly ToolFinding[] = [{ url: 'https://a' }, { url: 'https://b', unreadable: true }];
  const candidate = candidateOf([tool('url-context', { input: ['https://a', 'https://b'], results }), { kind: 'text', text: 'x' }]);
  const status = (name: string) => `URL_RETRIEVAL_STATUS_${name}`;
  assert.deepEqual(candidate.urlContextMetadata, {
    urlMetadata: [
      { retrievedUrl: 'https://a', urlRetrievalStatus: status('SUCCESS') },
      { retrievedUrl: 'https://b', urlRetrievalStatus: status('ERROR') },
    ],
  });
  assert.deepEqual(candidate.urlRetrievalMetadata, { urlRetrievalContexts: [{ retrievedUrl: 'https://a' }] });
  const [, read] = decodeReply({ candidates: [candidate] }, createReading()).parts as [unknown, ServerToolPart];
  assert.deepEqual([read.tool, read.input, read.results], ['url-context', ['https://a', 'https://b'], results]);
  const failed = candidateOf([tool('url-context', { input: ['https://c'], failed: true })]);
  assert.deepEqual(failed.urlContextMetadata, { urlMetadata: [{ retrievedUrl: 'https://c', urlRetrievalStatus: status('ERROR') }] });
  assert.equal(failed.urlRetrievalMetadata, undefined);
  const older = { content: { parts: [answer] }, urlRetrievalMetadata: { urlRetrievalContexts: [{ retrievedUrl: 'https://a' }] } };
  const [, known] = decodeReply({ candidates: [older] }, createReading()).parts as [unknown, ServerToolPart];
  assert.deepEqual(known.results, [{ url: 'https://a' }]);
});

test('the vendor’s own members about searches and pages are returned to its own clients', () => {
  const grounded = {
    content: { role: 'model', parts: [answer] },
    finishReason: 'STOP',
    index: 0,
    groundingMetadata: {
      webSearchQueries: ['q'],
      groundingChunks: [{ web: { uri: 'https://a', title: 'A', domain: 'a' } }],
      groundingSupports: [{ segment: { endIndex: 5, text: 'It is' }, groundingChunkIndices: [0], confidenceScores: [0.5] }],
      searchEntryPoint: { renderedContent: '<div>theirs</div>' },
      retrievalMetadata: { googleSearchDynamicRetrievalScore: 0.9, vendorSearchDynamicRetrievalScore: 0.9 },
      imageSearchQueries: ['cats'],
    },
    urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://p', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_PAYWALL' }] },
  };
  const again = encodeReply(decodeReply({ candidates: [grounded] }, createReading()), createWriting());
  assert.deepEqual((again.candidates as readonly unknown[])[0], grounded);
});

test('confidence of the vendor becomes the score of a finding', () => {
  const candidate = {
    content: { parts: [answer] },
    groundingMetadata: {
      webSearchQueries: ['q'],
      groundingChunks: [{ web: { uri: 'https://a' } }, { web: { uri: 'https://b' } }],
      groundingSupports: [
        { segment: { endIndex: 2 }, groundingChunkIndices: [0], confidenceScores: [0.5] },
        { segment: { endIndex: 5 }, groundingChunkIndices: [0, 1], confidenceScores: [0.75, 'much', 3] },
      ],
    },
  };
  const [, search] = decodeReply({ candidates: [candidate] }, createReading()).parts as [unknown, ServerToolPart];
  assert.deepEqual(search.results, [{ url: 'https://a', score: 0.75 }, { url: 'https://b' }]);
});

test('any activity of tools is the same after both translations', () => {
  const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
  const url = fc.webUrl();
  const ran = fc
    .record({ code: words, output: words, ending: fc.constantFrom({}, { failed: true }, { failed: true, failure: 'timed-out' } as const) })
    .map(({ code: input, output, ending }) => tool('code-execution', { input: [input], results: [{ text: output }], ...ending }));
  const read = fc
    .uniqueArray(fc.record({ url, unreadable: fc.boolean() }), { minLength: 1, maxLength: 3, selector: (page) => page.url })
    .map((pages) => {
      const results = pages.map((page): ToolFinding => (page.unreadable ? { url: page.url, unreadable: true } : { url: page.url }));
      const failed = pages.every(({ unreadable }) => unreadable) ? ({ failed: true, failure: 'unavailable' } as const) : {};
      return tool('url-context', { input: pages.map((page) => page.url), results, ...failed });
    });
  const searched = fc
    .tuple(
      fc.uniqueArray(words, { minLength: 1, maxLength: 3 }),
      fc.uniqueArray(fc.record({ url, title: words }), { maxLength: 3, selector: (page) => page.url }),
    )
    .map(([input, results]) => tool('web-search', { input, results: results.map((page) => ({ ...page })) }));
  fc.assert(
    fc.property(fc.array(ran, { maxLength: 3 }), read, searched, (runs, pages, search) => {
      const original: InferenceReply['parts'] = [...runs, { kind: 'text', text: 'Done.' }, search, pages];
      const again = decodeReply(encodeReply({ parts: original, stopReason: 'end' }, createWriting()), createReading()).parts;
      const records = (parts: InferenceReply['parts']): readonly unknown[] =>
        parts.flatMap((part) => (part.kind === 'server-tool' ? [{ ...part, id: '', wire: [] }] : []));
      assert.deepEqual(records(again), records(original));
    }),
  );
});

/** Inserts a mark after every cited span, from the last to the first, as the contract requires (document C, 4.3). */
function insertMarks(text: string, metadata: JsonObject | undefined): string {
  const supports = objectsOf(metadata?.groundingSupports).toSorted(
    (one, other) => Number((other.segment as JsonObject).endIndex) - Number((one.segment as JsonObject).endIndex),
  );
  let bytes = Buffer.from(text);
  for (const { segment, groundingChunkIndices } of supports) {
    const at = Number((segment as JsonObject).endIndex);
    const mark = Buffer.from((groundingChunkIndices as readonly number[]).map((index) => `[${index}]`).join(''));
    bytes = Buffer.concat([bytes.subarray(0, at), mark, bytes.subarray(at)]);
  }
  return bytes.toString();
}

test('a text that is cut where its sources change is one paragraph, even after a search', () => {
  const parts: InferenceReply['parts'] = [tool('web-search'), { kind: 'text', text: 'One.' }, { kind: 'text', text: ' Two.' }];
  assert.deepEqual(partsOf(candidateOf(parts)), [{ text: 'One. Two.' }]);
});

test('marks that a client inserts by the contract follow the cited text, in whole replies and in streams', () => {
  const character = fc.constantFrom('a', ' ', 'é', '東', '👩', '\u0301', '\u200d', '\n', '𝕏');
  const sentence = fc.array(character, { minLength: 1, maxLength: 12 }).map((characters) => characters.join(''));
  fc.assert(
    fc.property(fc.array(fc.array(sentence, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }), (blocks) => {
      let number = 0;
      let expected = '';
      let text = '';
      const parts = blocks.flatMap((sentences): InferenceReply['parts'] => {
        let start = 0;
        // Text before and after a search are paragraphs.
        const paragraphBreak = text === '' || text.endsWith('\n') || sentences[0]?.startsWith('\n') === true ? '' : '\n\n';
        expected += paragraphBreak;
        text += paragraphBreak + sentences.join('');
        const citations: Citation[] = [];
        for (const words of sentences) {
          const end = start + Array.from(words).length;
          citations.push(cite({ kind: 'url', url: `https://${number}.example` }, start, end));
          expected += `${words}[${number++}]`;
          start = end;
        }
        return [{ kind: 'text', text: sentences.join(''), citations }, tool('web-search')];
      });
      const whole = candidateOf(parts);
      assert.deepEqual(partsOf(whole), [{ text }], 'nothing but a search stood between the texts');
      assert.equal(insertMarks(text, metadataOf(whole)), expected);
      const chunks = chunksOf(encodeStream([...replay(parts)], 'sse')).map((chunk) => objectsOf(chunk.candidates)[0] ?? {});
      const all = chunks.flatMap(partsOf).map((part) => textOf(part.text) ?? '');
      assert.equal(insertMarks(all.join(''), metadataOf(chunks.at(-1) ?? {})), expected);
    }),
  );
});

/** A reply as a stream whose texts arrive one character at a time. */
function* replay(parts: InferenceReply['parts']): Generator<InferenceEvent> {
  yield { type: 'started' };
  for (const [index, part] of parts.entries()) {
    if (part.kind === 'server-tool') yield { type: 'part', index, part };
    if (part.kind !== 'text') continue;
    yield { type: 'block-started', index, block: { kind: 'text' } };
    for (const text of part.text) yield { type: 'delta', index, text };
    for (const citation of part.citations ?? []) yield { type: 'citation', index, citation };
    yield { type: 'block-ended', index };
  }
  yield { type: 'finished', stopReason: 'end' };
}
