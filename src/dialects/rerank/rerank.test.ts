import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { RerankRequest } from '../../inference/rerank.ts';
import { createFieldNotes } from '../../inference/translation-notes.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { boundRerank } from './bound-rerank.ts';
import { encodeRerankError } from './encode-rerank-error.ts';
import { readRerankReply } from './read-rerank-reply.ts';
import { readRerankRequest } from './read-rerank-request.ts';
import { chooseRerankForm, rerankFormOfPath, type RerankForm } from './rerank-form.ts';
import { writeRerankReply } from './write-rerank-reply.ts';
import { type RerankInterface, writeRerankRequest } from './write-rerank-request.ts';

const least = { model: 'm', query: 'coast', documents: ['a lighthouse', 'a bank'] };

function read(body: JsonObject, form: RerankForm = 'jina', strict = false): { request: RerankRequest; notes: string[] } {
  const notes = createFieldNotes(strict);
  const request = readRerankRequest(body, form, 'compatible', notes);
  return { request, notes: notes.list().map(({ kind, field }) => `${kind} ${field}`) };
}

test('the form of a request follows from its path, or from its fields if the path is shared', () => {
  assert.equal(chooseRerankForm('/v2/rerank', { top_k: 1 }), 'cohere-v2');
  assert.equal(chooseRerankForm('/v1/rerank', { top_k: 1 }), 'voyage');
  assert.equal(chooseRerankForm('/v1/rerank', { truncation: false }), 'voyage');
  assert.equal(chooseRerankForm('/v1/rerank', { rank_fields: ['title'] }), 'cohere-v1');
  assert.equal(chooseRerankForm('/v1/rerank', { top_n: 1, top_k: 1 }), 'jina');
  assert.equal(chooseRerankForm('/rerank', {}), 'jina');
  assert.equal(rerankFormOfPath('/v1/rerank'), 'jina');
});

test('both names of the number of results are accepted in every form', () => {
  for (const form of ['cohere-v1', 'cohere-v2', 'jina', 'voyage'] as const)
    for (const field of ['top_n', 'top_k']) assert.equal(read({ ...least, [field]: 1 }, form).request.resultsMax, 1, `${form} ${field}`);
});

test('documents are texts or objects, and only the named fields are ranked', () => {
  const objects = [{ text: 'a lighthouse', id: 7 }, { text: 'a bank' }];
  assert.deepEqual(
    read({ ...least, documents: objects }).request.documents.map(({ text }) => text),
    least.documents,
  );
  const ranked = read(
    { ...least, documents: [{ title: 'T', year: 1901, text: 'x' }], rank_fields: ['title', 'year', 'toString'] },
    'cohere-v1',
  );
  assert.equal(ranked.request.documents[0]?.text, 'title: T\nyear: 1901');
});

test('only the form whose vendor returns documents by default does so', () => {
  const brings = (['cohere-v1', 'cohere-v2', 'jina', 'voyage'] as const).map((form) => read(least, form).request.returnsDocuments);
  assert.deepEqual(brings, [false, false, true, false]);
  assert.equal(read({ ...least, return_documents: false }).request.returnsDocuments, false);
});

const refused: readonly [what: string, fields: JsonObject, param: string, says: RegExp][] = [
  ['no query', { query: undefined }, 'query', /required/],
  ['an empty query', { query: '' }, 'query', /at least 1 character/],
  ['no documents', { documents: [] }, 'documents', /at least 1 item/],
  ['a number as a document', { documents: [1] }, 'documents[0]', /string.*object|object.*string/],
  ['a picture as a document', { documents: [{ image: 'https://a.example/' }] }, 'documents[0].text', /required/],
  ['none of the named fields', { documents: [{ text: 'x' }], rank_fields: ['title'] }, 'documents[0]', /title/],
  ['no results wanted', { top_n: 0 }, 'top_n', /at least 1/],
  ['two numbers of results', { top_n: 1, top_k: 2 }, 'top_k', /must equal top_n/],
];

for (const [what, fields, param, says] of refused)
  test(`a ranking with ${what} is refused, and the refusal names its field`, () => {
    const body = Object.fromEntries(Object.entries({ ...least, ...fields }).filter(([, value]) => value !== undefined));
    assert.throws(
      () => read(body),
      (error) => error instanceof GatewayError && error.status === 400 && error.param === param && says.test(error.message),
    );
  });

test('a field without meaning for any upstream is noted, and refused in strict modes', () => {
  const body = { ...least, max_chunks_per_doc: 10, priority: 3 };
  assert.deepEqual(read(body).notes, ['dropped max_chunks_per_doc', 'dropped priority']);
  assert.throws(() => read(body, 'jina', true), { code: 'untranslatable_field', param: 'max_chunks_per_doc' });
  assert.throws(() => readRerankRequest({ ...least, top_k: 1 }, 'jina', 'documented', createFieldNotes(false)), {
    code: 'unknown_field',
    param: 'top_k',
  });
});

test('each upstream receives its own form, and fields that it does not support are noted', () => {
  const { request } = read({ ...least, top_n: 5, max_tokens_per_doc: 100, truncation: false });
  const written = (['cohere', 'jina', 'voyage', 'vllm'] as const).map((upstream) => {
    const notes = createFieldNotes(false);
    const { path, json } = writeRerankRequest(request, upstream, 'r', notes);
    const { model: _model, query: _query, documents, ...rest } = json;
    assert.deepEqual(documents, least.documents);
    return [path, rest, notes.list().map(({ field }) => field)];
  });
  assert.deepEqual(written, [
    ['/v2/rerank', { top_n: 2, max_tokens_per_doc: 100 }, ['truncation']],
    ['/v1/rerank', { top_n: 2, return_documents: false }, ['max_tokens_per_doc', 'truncation']],
    ['/v1/rerank', { top_k: 2, truncation: false, return_documents: false }, ['max_tokens_per_doc']],
    ['/v1/rerank', { top_n: 2 }, ['max_tokens_per_doc', 'truncation']],
  ]);
  const many = { ...request, documents: Array.from({ length: 1001 }, () => ({ text: 'x', original: 'x' })) };
  assert.throws(() => writeRerankRequest(many, 'voyage', 'r', createFieldNotes(false)), {
    code: 'untranslatable_field',
    param: 'documents',
  });
});

const two = read(least).request;
const replies: readonly [vendor: RerankInterface, body: JsonObject, usage: object][] = [
  [
    'cohere',
    {
      id: 'x',
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.1 },
      ],
      meta: { billed_units: { search_units: 1 }, api_version: { version: '2' } },
    },
    { searchUnits: 1 },
  ],
  [
    'jina',
    {
      model: 'j',
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.1 },
      ],
      usage: { total_tokens: 12 },
    },
    { inputTokens: 12, outputTokens: 0 },
  ],
  [
    'voyage',
    {
      object: 'list',
      data: [
        { index: 0, relevance_score: 0.1 },
        { index: 1, relevance_score: 0.9 },
      ],
      usage: { total_tokens: 9 },
    },
    { inputTokens: 9, outputTokens: 0 },
  ],
  [
    'vllm',
    {
      id: 'v',
      results: [
        { index: 0, score: 0.1 },
        { index: 1, score: 0.9 },
      ],
      usage: { prompt_tokens: 8 },
    },
    { inputTokens: 8, outputTokens: 0 },
  ],
];

for (const [vendor, body, usage] of replies)
  test(`a ranking of ${vendor} is read with its usage, best first`, () => {
    const reply = readRerankReply(body, two);
    assert.deepEqual(reply?.results, [
      { index: 1, score: 0.9 },
      { index: 0, score: 0.1 },
    ]);
    assert.deepEqual([reply?.usage?.usage, reply?.usage?.trustworthy], [usage, true]);
  });

test('a ranking that repeats a document or names an unknown one is rejected', () => {
  const item = { index: 0, relevance_score: 1 };
  const broken = [
    [item, item],
    [{ ...item, index: 2 }],
    [{ ...item, index: -1 }],
    [{ ...item, index: 0.5 }],
    [{ index: 0 }],
    [null],
    [{ ...item, relevance_score: '1' }],
  ];
  for (const results of broken) assert.equal(readRerankReply({ results }, two), undefined, JSON.stringify(results));
  assert.equal(readRerankReply({ error: 'x' }, two), undefined);
});

test('a malformed count is left out and makes the usage untrustworthy', () => {
  const reply = readRerankReply({ results: [], meta: { billed_units: { search_units: '1' } } }, two);
  assert.deepEqual(reply?.usage, { usage: {}, raw: { billed_units: { search_units: '1' } }, trustworthy: false });
  assert.equal(readRerankReply({ results: [] }, two)?.usage, undefined);
});

test('each client receives the ranking in its own form', () => {
  const reply = { results: [{ index: 1, score: 0.9 }] };
  const request = read({ ...least, documents: ['a lighthouse', { text: 'a bank', id: 7 }], return_documents: true }).request;
  const write = (form: RerankForm, usage: object): unknown => writeRerankReply(reply, request, form, { id: 'r1', usage });
  const document = { text: 'a bank', id: 7 };
  assert.deepEqual(write('cohere-v2', { searchUnits: 1 }), {
    id: 'r1',
    results: [{ index: 1, relevance_score: 0.9, document }],
    meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
  });
  assert.deepEqual(write('cohere-v1', {}), {
    id: 'r1',
    results: [{ index: 1, relevance_score: 0.9, document }],
    meta: { api_version: { version: '1' }, billed_units: {} },
  });
  assert.deepEqual(write('voyage', { inputTokens: 9 }), {
    object: 'list',
    data: [{ index: 1, relevance_score: 0.9, document: 'a bank' }],
    model: 'm',
    usage: { total_tokens: 9 },
  });
  assert.deepEqual(write('jina', { inputTokens: 9 }), {
    id: 'r1',
    model: 'm',
    results: [{ index: 1, relevance_score: 0.9, document }],
    usage: { total_tokens: 9, prompt_tokens: 9 },
    meta: { api_version: { version: '1' }, billed_units: { input_tokens: 9 }, tokens: { input_tokens: 9 } },
  });
});

test('a ranking that is written in any form is read with the same results and usage', () => {
  const counts = fc.record({ inputTokens: fc.nat(), searchUnits: fc.nat() }, { requiredKeys: [] });
  const scores = fc.array(fc.double({ noNaN: true, min: -20, max: 20 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(scores, counts, fc.constantFrom('cohere-v1', 'cohere-v2', 'jina', 'voyage'), (scoreList, usage, form) => {
      const request = read({ ...least, documents: scoreList.map((score) => `document ${score}`) }).request;
      const results = scoreList
        .map((score, index) => ({ index, score }))
        .toSorted((one, other) => other.score - one.score || one.index - other.index);
      const body = writeRerankReply({ results }, request, form, { id: 'x', usage });
      const back = readRerankReply(body, request);
      assert.deepEqual(back?.results, results);
      if (form !== 'voyage') assert.equal(back?.usage?.usage.searchUnits, usage.searchUnits);
      assert.equal(back?.usage?.usage.inputTokens, usage.inputTokens);
    }),
  );
});

test('any body is read or refused with 400', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const body = fc.dictionary(
    fc.constantFrom('documents', 'query', 'top_n', 'top_k', 'rank_fields', 'truncation', 'return_documents'),
    value,
  );
  fc.assert(
    fc.property(body, (members) => {
      try {
        read({ ...least, ...members });
      } catch (error) {
        assert.ok(error instanceof GatewayError && error.status === 400, String(error));
      }
    }),
  );
});

test("errors have the form of the client's vendor", () => {
  const error = new GatewayError('model_not_found', 'No such model.');
  const body = (form: RerankForm): unknown => JSON.parse(encodeRerankError(error, form, 'req_1').body.toString());
  assert.deepEqual(
    [body('cohere-v2'), body('cohere-v1')],
    [
      { id: 'req_1', message: 'No such model.' },
      { id: 'req_1', message: 'No such model.' },
    ],
  );
  assert.deepEqual([body('jina'), body('voyage')], [{ detail: 'No such model.' }, { detail: 'No such model.' }]);
  assert.equal(encodeRerankError(error, 'jina', 'req_1').status, 404);
});

test('a hold covers long documents and many documents', () => {
  const of = (count: number, text: string): RerankRequest['documents'] => Array.from({ length: count }, () => ({ text, original: text }));
  assert.equal(boundRerank({ query: 'q', documents: of(100, 'short') }).searchUnits, 1);
  assert.equal(boundRerank({ query: 'q', documents: of(101, 'short') }).searchUnits, 2);
  assert.ok(boundRerank({ query: 'q', documents: of(100, 'x'.repeat(600)) }).searchUnits >= 2);
  assert.ok(boundRerank({ query: 'ü'.repeat(900), documents: of(1, 'x') }).inputTokens >= 1801);
});
