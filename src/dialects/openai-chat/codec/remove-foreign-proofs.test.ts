import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrapProof } from '../../../inference/proof.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { removeForeignProofs } from './remove-foreign-proofs.ts';

const wrapped = wrapProof({ origin: 'anthropic', blob: 'sig' });
const assistant = (members: JsonObject): JsonObject => ({ role: 'assistant', content: 'Hi', ...members });
const signed = (value: string): JsonObject => ({ extra_content: { google: { thought_signature: value } } });
const bodyOf = (message: JsonObject): JsonObject => ({ model: 'm', messages: [{ role: 'user', content: 'A' }, message] });

test('a request without foreign proofs stays the same object', () => {
  for (const body of [
    {},
    { messages: 'x' },
    bodyOf(assistant({})),
    bodyOf(assistant({ reasoning_content: 'hm', reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 'native' }] })),
    bodyOf(assistant({ tool_calls: [{ id: 'a', ...signed('native') }] })),
    bodyOf({ role: 'user', content: wrapped }),
  ] as readonly JsonObject[]) {
    assert.equal(removeForeignProofs(body), body);
  }
});

test('foreign proofs are removed with the reasoning that they prove, and everything else stays', () => {
  const own = { type: 'reasoning.text', text: 'own', signature: 'native', index: 1 };
  const cases: readonly [JsonObject, JsonObject][] = [
    [
      {
        reasoning_content: 'One. Two.',
        reasoning_details: [
          { type: 'reasoning.text', text: 'One.', index: 0 },
          { type: 'reasoning.text', text: 'Two.', signature: wrapped, index: 0 },
        ],
      },
      {},
    ],
    [{ reasoning: 'x', reasoning_details: [{ type: 'reasoning.encrypted', data: wrapped, index: 0 }, own] }, { reasoning_details: [own] }],
    [
      {
        tool_calls: [
          { id: 'a', ...signed(wrapped) },
          { id: 'b', ...signed('native') },
        ],
      },
      { tool_calls: [{ id: 'a' }, { id: 'b', ...signed('native') }] },
    ],
    [signed(wrapped), {}],
  ];
  for (const [before, after] of cases) assert.deepEqual(removeForeignProofs(bodyOf(assistant(before))), bodyOf(assistant(after)));
});
