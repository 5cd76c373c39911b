import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrapProof } from '../../../inference/proof.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { writeCallProof } from './call-proofs.ts';
import { encodeReply } from './encode-reply.ts';
import { removeForeignProofs } from './remove-foreign-proofs.ts';
import { anthropicProof, replyOf } from './testing/sample-replies.ts';
import { createWriting } from './testing/test-kit.ts';

const message = { role: 'user', content: 'Hi' };
const reasoning = (more: JsonObject): JsonObject => ({ type: 'reasoning', summary: [], ...more });

test('reasoning of other vendors is removed, with wrapped, damaged and missing proofs', () => {
  const foreign = [
    reasoning({ id: 'rs_gw_1', encrypted_content: wrapProof(anthropicProof) }),
    reasoning({ encrypted_content: writeCallProof(anthropicProof, 'call_1') }),
    reasoning({ id: 'rs_1', encrypted_content: 'gw1.damaged' }),
    reasoning({ id: 'rs_gw_2', summary: [{ type: 'summary_text', text: 'Hm.' }] }),
    reasoning({ id: 'rs_gw_3', encrypted_content: null }),
  ];
  assert.deepEqual(removeForeignProofs({ model: 'm', input: [message, ...foreign, message] }), { model: 'm', input: [message, message] });
});

test('an image that the gateway made is shown by the user, and one that failed goes', () => {
  const image = { type: 'image_generation_call', id: 'ig_gw_1', status: 'completed', output_format: 'webp', result: 'UklG' };
  const failed = { type: 'image_generation_call', id: 'ig_gw_2', status: 'failed', result: null };
  const own = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBO' };
  const content = [
    { type: 'input_text', text: 'Made by the assistant:' },
    { type: 'input_image', image_url: 'data:image/webp;base64,UklG' },
  ];
  const shown = { type: 'message', role: 'user', content };
  assert.deepEqual(removeForeignProofs({ model: 'm', input: [image, failed, own] }), { model: 'm', input: [shown, own] });
});

test("the vendor's own reasoning stays, and the body is the same object", () => {
  const own = [
    reasoning({ id: 'rs_6806bf', encrypted_content: 'gAAA' }),
    reasoning({ id: 'rs_6806bf' }),
    reasoning({ encrypted_content: 'gAAA' }),
  ];
  for (const body of [{ model: 'm', input: [message, ...own] }, { model: 'm', input: 'gw1.' }, { model: 'm' }]) {
    assert.equal(removeForeignProofs(body), body);
  }
});

test('a reply written by the gateway leaves no item that the vendor would look for', () => {
  const source = replyOf([
    { kind: 'reasoning', text: ['a'], proof: anthropicProof },
    { kind: 'tool-call', id: 'c', name: 'f', arguments: '{}', proof: { origin: 'gemini', blob: 'AbC=' } },
  ]);
  for (const store of [true, false]) {
    const { output } = encodeReply(source, createWriting({ store }));
    const { input } = removeForeignProofs({ input: output });
    assert.deepEqual(
      (input as JsonObject[]).map(({ type }) => type),
      ['function_call'],
    );
  }
});

test('if the vendor refused the reasoning of another account, all of it is removed', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
  const input = [{ type: 'reasoning', summary: [], encrypted_content: 'native' }, call];
  assert.deepEqual(removeForeignProofs({ input }, true).input, [call]);
  assert.deepEqual(removeForeignProofs({ input }).input, input);
});
