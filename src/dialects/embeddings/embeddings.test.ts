import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readEmbeddingsReply } from './read-embeddings-reply.ts';
import { countTexts, listUnwritten, writeEmbeddings } from './write-embeddings.ts';

const body = { model: 'm', input: ['a', 'b'], dimensions: 64, task_type: 'RETRIEVAL_QUERY', user: 'u', encoding_format: null };

test('a request is written in the form of its upstream', () => {
  assert.deepEqual(writeEmbeddings(body, 'openai', 'up'), {
    model: 'up',
    input: ['a', 'b'],
    dimensions: 64,
    task_type: 'RETRIEVAL_QUERY',
    user: 'u',
  });
  assert.deepEqual(writeEmbeddings(body, 'gemini-batch', 'gemini-embedding-001'), {
    requests: ['a', 'b'].map((text) => ({
      model: 'models/gemini-embedding-001',
      content: { parts: [{ text }] },
      taskType: 'RETRIEVAL_QUERY',
      outputDimensionality: 64,
    })),
  });
  assert.deepEqual(writeEmbeddings(body, 'vertex-predict', 'text-embedding-005'), {
    instances: ['a', 'b'].map((content) => ({ content, task_type: 'RETRIEVAL_QUERY' })),
    parameters: { autoTruncate: false, outputDimensionality: 64 },
  });
  assert.deepEqual(writeEmbeddings({ model: 'm', input: 'a' }, 'vertex-content', 'gemini-embedding-2'), {
    content: { role: 'user', parts: [{ text: 'a' }] },
    embedContentConfig: { autoTruncate: false },
  });
  assert.deepEqual(writeEmbeddings({ model: 'm', input: ['a'], dimensions: 128 }, 'vertex-multimodal', 'multimodalembedding@001'), {
    instances: [{ text: 'a' }],
    parameters: { dimension: 128 },
  });
});

test('input that a form cannot express is refused, and names the field', () => {
  const refused = { code: 'untranslatable_field', message: /^input: / };
  for (const input of [[1, 2], [[1, 2]]]) assert.throws(() => writeEmbeddings({ model: 'm', input }, 'vertex-predict', 'm'), refused);
  for (const form of ['vertex-content', 'vertex-multimodal'] as const)
    assert.throws(() => writeEmbeddings({ model: 'm', input: ['a', 'b'] }, form, 'm'), { ...refused, message: /one text/ });
});

test('fields that are not sent are named', () => {
  assert.deepEqual(
    listUnwritten(body).map(({ kind, field }) => [kind, field]),
    [['dropped', 'user']],
  );
});

test('a list of tokens is one text', () => {
  assert.deepEqual([countTexts('a'), countTexts(['a', 'b']), countTexts([1, 2]), countTexts([[1], [2]])], [1, 2, 1, 2]);
});

const data = [[1, 0.5], [0.25]].map((embedding, index) => ({ object: 'embedding', index, embedding }));

test('vectors and tokens are read from each form', () => {
  const usage = { prompt_tokens: 7, total_tokens: 7 };
  const predictions = [3, 4].map((count, at) => ({
    embeddings: { values: data[at]?.embedding ?? [], statistics: { token_count: count, truncated: false } },
  }));
  assert.deepEqual(readEmbeddingsReply({ predictions }, 'vertex-predict', [2]), { object: 'list', data, usage });
  const embeddings = data.map(({ embedding }) => ({ values: embedding }));
  assert.deepEqual(readEmbeddingsReply({ embeddings, usageMetadata: { promptTokenCount: 7 } }, 'gemini-batch', [2]), {
    object: 'list',
    data,
    usage,
  });
  const content = { embedding: { values: [1, 0.5] }, usageMetadata: { promptTokenCount: 7 } };
  assert.deepEqual(readEmbeddingsReply(content, 'vertex-content', [1]), { object: 'list', data: data.slice(0, 1), usage });
  const multimodal = readEmbeddingsReply({ predictions: [{ textEmbedding: [1, 0.5] }] }, 'vertex-multimodal', [1]);
  assert.deepEqual(multimodal, { object: 'list', data: data.slice(0, 1) });
});

test('a missing count is unknown, not zero, and a missing vector makes no reply', () => {
  const known = { embeddings: { values: [1], statistics: { token_count: 3 } } };
  const unknown = { embeddings: { values: [1] } };
  const reply = readEmbeddingsReply({ predictions: [known, unknown] }, 'vertex-predict', [2]);
  assert.ok(typeof reply === 'object' && reply !== null && 'data' in reply && !('usage' in reply));
  for (const predictions of [[], [known], [known, { embeddings: { values: [] } }], [known, {}]])
    assert.deepEqual(readEmbeddingsReply({ predictions }, 'vertex-predict', [2]), { predictions });
  const refusal = { error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } };
  assert.equal(readEmbeddingsReply(refusal, 'vertex-predict', [1]), refusal);
});
