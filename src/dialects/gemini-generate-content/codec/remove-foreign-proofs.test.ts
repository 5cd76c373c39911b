import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { removeForeignProofs } from './remove-foreign-proofs.ts';
import { writeSignature } from './thought-signature.ts';

const foreign = writeSignature({ proof: { origin: 'anthropic', blob: 'sig' }, text: ['T'] });
const question = { role: 'user', parts: [{ text: 'q' }] };
const model = (...parts: JsonObject[]): JsonObject => ({ role: 'model', parts });

const clean = (...contents: JsonObject[]): unknown => removeForeignProofs({ contents, keep: 1 }).contents;

test('a request without foreign proofs is the same object, including native signatures', () => {
  const bodies: JsonObject[] = [
    { contents: [question, model({ text: 'T', thought: true }, { text: 'x', thoughtSignature: 'AbCd' })] },
    { contents: question },
    { contents: 'text' },
    {},
    { generateContentRequest: { contents: [question] } },
  ];
  for (const body of bodies) assert.equal(removeForeignProofs(body), body);
});

test('foreign signatures are removed, with the thoughts before them; the text stays', () => {
  const contents = [
    question,
    model({ text: 'T', thought: true }, { text: 'T2', thought: true }, { text: 'x', thoughtSignature: foreign }, { text: 'y' }),
  ];
  assert.deepEqual(clean(...contents), [question, model({ text: 'x' }, { text: 'y' })]);
  assert.deepEqual(clean(question, model({ text: 'T', thought: true, thought_signature: foreign }, { text: 'x' })), [
    question,
    model({ text: 'x' }),
  ]);
  const native = { text: 'N', thought: true, thoughtSignature: 'AbCd' };
  assert.deepEqual(clean(question, model(native, { text: 'x', thoughtSignature: foreign })), [question, model(native, { text: 'x' })]);
});

test('a call keeps a signature: the vendor’s documented substitute', () => {
  const call = { functionCall: { name: 'f' } };
  assert.deepEqual(clean(question, model({ ...call, thought_signature: foreign }, call)), [
    question,
    model({ ...call, thoughtSignature: 'skip_thought_signature_validator' }, call),
  ]);
});

test('parts and turns without other content are removed too, in either spelling and form of the body', () => {
  assert.deepEqual(clean(question, model({ text: 'x' }, { text: '', thoughtSignature: foreign })), [question, model({ text: 'x' })]);
  assert.deepEqual(clean(question, { role: 'model', parts: { text: '', thoughtSignature: foreign } }, question), [question, question]);
  const inner = { contents: [question, model({ text: 'x', thoughtSignature: foreign })] };
  assert.deepEqual(removeForeignProofs({ generate_content_request: inner }), {
    generate_content_request: { contents: [question, model({ text: 'x' })] },
  });
});

test('if the vendor refused a signature of another account, all of them are removed', () => {
  const parts = [
    { text: 'T', thought: true },
    { functionCall: { name: 'f', args: {} }, thoughtSignature: 'AbCd' },
  ];
  const { contents } = removeForeignProofs({ contents: [question, model(...parts)] }, true);
  const call = { functionCall: { name: 'f', args: {} }, thoughtSignature: 'skip_thought_signature_validator' };
  assert.deepEqual(contents, [question, model(call)]);
});
