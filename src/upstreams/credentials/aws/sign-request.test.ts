import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { BytePieces } from '../../../platform/byte-pieces.ts';
import type { AwsKeys } from '../cloud-credential.ts';
import { createAwsSigner } from './sign-request.ts';
import { compareSignatures } from './testing/compare-signatures.ts';

const host = 'bedrock-runtime.us-east-1.amazonaws.com';
const keys: AwsKeys = {
  kind: 'aws-keys',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'TOK',
};
const nowMs = Date.UTC(2026, 10, 22, 22, 0, 0);

describe('signatures of version 4', () => {
  for (const [model, end] of [
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'bd49d38d30185a73aae1'],
    ['arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc12xyz', '38e503a3e8b8be36d7b6'],
    ['us.anthropic.claude-opus-4-8', '65e4b62af7ac3f0a0833'],
  ] as const)
    test(`are those of the vectors: ${model}`, () => {
      const path = `/model/${encodeURIComponent(model)}/invoke`;
      const sign = createAwsSigner({ region: 'us-east-1', service: 'bedrock' });
      const { authorization = '' } = sign({ method: 'POST', path, host, body: Buffer.from('{"a":1}') }, keys, nowMs);
      assert.ok(authorization.endsWith(end), authorization);
      assert.match(authorization, /SignedHeaders=host;x-amz-date;x-amz-security-token,/);
    });

  test('are the same for a body in pieces', () => {
    const sign = createAwsSigner({ region: 'us-east-1', service: 'bedrock' });
    const request = { method: 'POST', path: '/', host };
    const pieces = new BytePieces([Buffer.from('{"a"'), Buffer.from(':1}')]);
    assert.deepEqual(sign({ ...request, body: pieces }, keys, nowMs), sign({ ...request, body: Buffer.from('{"a":1}') }, keys, nowMs));
  });

  test('of generated requests are those of aws4fetch', () => compareSignatures(300));
});
