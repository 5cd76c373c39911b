import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import { editFrame, editReply } from './edit-reply.ts';

const metadata = '"groundingMetadata":{"retrievalMetadata":{ "googleSearchDynamicRetrievalScore" : 0.50 }}';
const named = metadata.replace('"google', '"vendorSearchDynamicRetrievalScore":0.50,"google');

test('a reply without the score is the same buffer', () => {
  const bytes = Buffer.from('{"candidates":[{"groundingMetadata":{"retrievalMetadata":{}}}]}');
  assert.equal(editReply(bytes), bytes);
});

test('the score gets its second name in every candidate, with the same digits', () => {
  const json = (part: string): string => `{ "candidates": [ {${part}}, {"content":{}}, {${part}} ] }`;
  assert.equal(editReply(Buffer.from(json(metadata))).toString(), json(named));
});

test('a score with both names, and text that only mentions it, are unchanged', () => {
  for (const json of [
    `{"candidates":[{${named}}]}`,
    '{"candidates":[{"content":{"parts":[{"text":"googleSearchDynamicRetrievalScore"}]}}]}',
  ]) {
    assert.equal(editReply(Buffer.from(json)).toString(), json);
  }
});

test('a damaged reply is unchanged', () => {
  const json = `{"candidates":[{"groundingMetadata":{"retrievalMetadata":{"googleSearchDynamicRetrievalScore":`;
  assert.doesNotThrow(() => editReply(Buffer.from(json)));
});

test('a frame with several data lines is rewritten with the same payload', () => {
  const [frame] = createSseFrameReader({ frameBytesMax: 1000 }).push(Buffer.from(`data: {"candidates":[\r\ndata: {${metadata}}]}\r\n\r\n`));
  assert.ok(frame !== undefined);
  const verdict = editFrame(frame);
  assert.ok(typeof verdict === 'object');
  assert.equal(verdict.bytes.toString(), `data: {"candidates":[\r\ndata: {${named}}]}\r\n\r\n`);
});
