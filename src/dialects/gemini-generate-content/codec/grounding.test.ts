import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Citation } from '../../../inference/citation.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { decodeReply } from './decode-reply.ts';
import { encodeReply } from './encode-reply.ts';
import { createReading, createWriting, decodeStream, encodeStream } from './testing/test-kit.ts';
import { createTextOffsets } from './text-offsets.ts';

// One to four bytes per character, a combining mark, a family of seven code points.
const sentence = 'Zürich — 東京 is e\u0301 👩‍👩‍👧 fun.';

const web = (uri: string, title = 'example.org') => ({ web: { uri, title } });

function groundedReply(parts: readonly JsonObject[], groundingMetadata: JsonObject): JsonObject {
  return { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, groundingMetadata }] };
}

/** The cited text of the citations of a reply, by part. */
function citedWords(reply: InferenceReply): unknown {
  return reply.parts.flatMap((part) => {
    if (part.kind !== 'text') return [];
    const characters = Array.from(part.text);
    return (part.citations ?? []).map(({ start, end, source }) => [
      start === undefined ? undefined : characters.slice(start, end).join(''),
      source.kind === 'url' ? source.url : source.kind,
    ]);
  });
}

const segment = (words: string, startIndex: number, more: JsonObject = {}): JsonObject => ({
  ...(startIndex > 0 && { startIndex }),
  endIndex: startIndex + Buffer.byteLength(words),
  text: words,
  ...more,
});

test('offsets in bytes become code points for any characters', () => {
  const words = ['Zürich', '東京', 'e\u0301', '👩‍👩‍👧', 'fun.'];
  const groundingSupports = words.map((word, index) => ({
    segment: segment(word, Buffer.byteLength(sentence.slice(0, sentence.indexOf(word)))),
    groundingChunkIndices: index === 0 ? [0, 1] : [1],
  }));
  const reply = decodeReply(
    groundedReply([{ text: sentence }], { groundingChunks: [web('https://a'), web('https://b')], groundingSupports }),
    createReading(),
  );
  assert.deepEqual(citedWords(reply), [['Zürich', 'https://a'], ...words.map((word) => [word, 'https://b'])]);
});

test('offsets count within the part of a whole reply, and within all text of a stream', () => {
  const metadata = (second: JsonObject): JsonObject => ({
    groundingChunks: [web('https://a')],
    groundingSupports: [segment('Zürich', 0), second].map((one) => ({ segment: one, groundingChunkIndices: [0] })),
  });
  const parts = [{ text: `${sentence} ` }, { executableCode: { code: 'x' } }, { text: 'Über Zürich.' }];
  const whole = decodeReply(groundedReply(parts, metadata(segment('Zürich', 6, { partIndex: 2 }))), createReading());
  assert.deepEqual(citedWords(whole), [
    ['Zürich', 'https://a'],
    ['Zürich', 'https://a'],
  ]);
  assert.equal(whole.parts[2]?.kind === 'text' && whole.parts[2].citations?.[0]?.start, 5);

  // In a stream, the first text has ended when the sources arrive, so its source is cited without a span.
  const stream = [
    { candidates: [{ content: { parts: [{ text: `${sentence} ` }] } }] },
    { candidates: [{ content: { parts: [parts[1]] } }] },
    {
      candidates: [
        {
          content: { parts: [parts[2]] },
          finishReason: 'STOP',
          groundingMetadata: metadata(segment('Zürich', Buffer.byteLength(`${sentence} Über `))),
        },
      ],
    },
  ];
  const events = decodeStream(Buffer.from(stream.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')), 'sse');
  const citations = events.flatMap((event) => (event.type === 'citation' ? [[event.index, event.citation.start, event.citation.end]] : []));
  assert.deepEqual(citations, [
    [2, undefined, undefined],
    [2, 5, 11],
  ]);
});

test('a segment with wrong offsets is found by its text, and cited without a span if it is missing', () => {
  const support = (one: JsonObject): JsonObject => ({ segment: one, groundingChunkIndices: [0] });
  const groundingSupports = [support(segment('fun.', 3)), support(segment('nowhere', 0)), support({ endIndex: 9999 }), support({})];
  const reply = decodeReply(
    groundedReply([{ text: sentence }], { groundingChunks: [web('https://a')], groundingSupports }),
    createReading(),
  );
  assert.deepEqual(citedWords(reply), [['fun.', 'https://a'], ...Array.from({ length: 3 }, () => [undefined, 'https://a'])]);
});

test('sources of other kinds, recitations, and invalid indices are handled', () => {
  const candidate = {
    content: { parts: [{ text: 'abcdef' }] },
    finishReason: 'STOP',
    groundingMetadata: {
      groundingChunks: [{ retrievedContext: { title: 'Doc', text: 'said so' } }, { maps: { uri: 'https://m', title: 'M' } }, {}],
      groundingSupports: [{ segment: { endIndex: 3, text: 'abc' }, groundingChunkIndices: [0, 1, 2, 9] }],
    },
    citationMetadata: { citationSources: [{ startIndex: 3, endIndex: 6, uri: 'https://r', license: 'mit' }, { endIndex: 1 }] },
  };
  const [part] = decodeReply({ candidates: [candidate] }, createReading()).parts;
  assert.deepEqual(part?.kind === 'text' && part.citations, [
    { start: 0, end: 3, title: 'Doc', citedText: 'said so', source: { kind: 'document', fileId: 'Doc' } },
    { start: 0, end: 3, title: 'M', source: { kind: 'url', url: 'https://m' } },
    { start: 3, end: 6, source: { kind: 'url', url: 'https://r' } },
  ]);
});

test('searches are one record, after the text, with the pages that were found', () => {
  const reply = decodeReply(
    groundedReply([{ text: 'a' }], {
      webSearchQueries: ['q1', 'q2', 'q1'],
      groundingChunks: [web('https://a'), { web: { uri: 'https://b' } }],
      searchEntryPoint: { renderedContent: '<div>' },
    }),
    createReading(),
  );
  assert.deepEqual(reply.parts.at(-1), {
    kind: 'server-tool',
    tool: 'web-search',
    id: 'search_1',
    input: ['q1', 'q2'],
    results: [{ url: 'https://a', title: 'example.org' }, { url: 'https://b' }],
    wire: [{ groundingMetadata: { searchEntryPoint: { renderedContent: '<div>' } } }],
  });
  assert.equal(reply.usageReport?.usage.webSearches, 2);
});

const cite = (url: string, start?: number, end?: number): Citation => ({
  ...(start !== undefined && { start }),
  ...(end !== undefined && { end }),
  title: 'T',
  source: { kind: 'url', url },
});

const citingReply: InferenceReply = {
  parts: [
    { kind: 'text', text: 'Plain — ' },
    { kind: 'tool-call', id: '1', name: 'f', arguments: '{}' },
    {
      kind: 'text',
      text: sentence,
      citations: [cite('https://a', 0, 6), cite('https://b', 0, 6), cite('https://a', 9, 11), cite('https://c')],
    },
    {
      kind: 'server-tool',
      tool: 'web-search',
      id: 's',
      input: ['q'],
      results: [{ url: 'https://a', title: 'T' }, { url: 'https://d' }],
      wire: [],
    },
  ],
  stopReason: 'tool-calls',
};

const grounding = (candidate: unknown): JsonObject => (candidate as { groundingMetadata: JsonObject }).groundingMetadata;

test('citations are written once per source and span, in bytes of the part', () => {
  const [candidate] = encodeReply(citingReply, createWriting()).candidates as [JsonObject];
  const at = { partIndex: 2 };
  const { searchEntryPoint: _entry, ...metadata } = grounding(candidate);
  const page = (domain: string, title: string) => ({ web: { ...web(`https://${domain}`, title).web, domain } });
  assert.deepEqual(metadata, {
    webSearchQueries: ['q'],
    groundingChunks: [page('a', 'T'), page('b', 'T'), page('c', 'T'), page('d', 'd')],
    groundingSupports: [
      { segment: { ...at, endIndex: 7, text: 'Zürich' }, groundingChunkIndices: [0, 1] },
      { segment: { ...at, startIndex: 12, endIndex: 18, text: '東京' }, groundingChunkIndices: [0] },
      { segment: { ...at, endIndex: Buffer.byteLength(sentence), text: sentence }, groundingChunkIndices: [2] },
    ],
  });
});

test('citations of a stream are in the last chunk, in bytes of all text', () => {
  const stream = encodeStream(replayReply(citingReply), 'sse');
  const last = JSON.parse(stream.trim().split('\r\n\r\n').at(-1)?.slice(6) ?? '') as { candidates: unknown[] };
  const before = Buffer.byteLength('Plain — ');
  assert.deepEqual((grounding(last.candidates[0]).groundingSupports as { segment: unknown }[])[1]?.segment, {
    startIndex: before + 12,
    endIndex: before + 18,
    text: '東京',
  });
  assert.equal(stream.split('groundingMetadata').length, 2);
});

test('documents are sources without an address', () => {
  const text = 'abc';
  const citations: Citation[] = [
    { title: 'Doc', citedText: 'said', source: { kind: 'document', index: 0, locator: 'page 3' } },
    { source: { kind: 'document', index: 1 } },
  ];
  const [candidate] = encodeReply({ parts: [{ kind: 'text', text, citations }], stopReason: 'end' }, createWriting()).candidates as [
    JsonObject,
  ];
  assert.deepEqual(grounding(candidate).groundingChunks, [
    { retrievedContext: { title: 'Doc', text: 'said - page 3' } },
    { retrievedContext: { title: 'document-1' } },
  ]);
});

test('any spans of any text are the same after both translations', () => {
  const character = fc.constantFrom('a', ' ', 'é', '東', '👩', '\u0301', '\u200d', '\n');
  const texts = fc.array(character, { minLength: 1, maxLength: 30 });
  const spans = fc.array(fc.tuple(fc.nat(29), fc.nat(29), fc.constantFrom('https://a', 'https://b')), { maxLength: 5 });
  fc.assert(
    fc.property(texts, spans, (characters, wanted) => {
      const citations = wanted
        .map(([from, to, url]) => cite(url, Math.min(from, to, characters.length - 1), Math.min(Math.max(from, to) + 1, characters.length)))
        .filter((citation, index, all) => all.findIndex((other) => JSON.stringify(other) === JSON.stringify(citation)) === index);
      const reply: InferenceReply = {
        parts: [{ kind: 'text', text: characters.join(''), ...(citations.length > 0 && { citations }) }],
        stopReason: 'end',
      };
      const bySpan = (list: readonly Citation[] = []): readonly string[] =>
        list.map((citation) => `${citation.start}-${citation.end} ${citation.title} ${JSON.stringify(citation.source)}`).toSorted();
      const [part] = decodeReply(encodeReply(reply, createWriting()), createReading()).parts;
      assert.deepEqual(bySpan(part?.kind === 'text' ? part.citations : []), bySpan(citations));
    }),
  );
});

test('bytes and code points of any text are converted', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.nat(30), (text, at) => {
      const offsets = createTextOffsets(text);
      const characters = Array.from(text);
      const point = Math.min(at, characters.length);
      assert.equal(offsets.toByte(at), Buffer.byteLength(characters.slice(0, point).join('')));
      assert.equal(offsets.toCodePoint(offsets.toByte(at)), point);
      assert.equal(offsets.slice(0, point), characters.slice(0, point).join(''));
    }),
  );
  assert.equal(createTextOffsets('é').toCodePoint(1), 1);
});
