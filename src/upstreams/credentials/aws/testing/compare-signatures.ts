import assert from 'node:assert/strict';

import { AwsV4Signer } from 'aws4fetch';

import { seededRandom } from '../../../../platform/seeded-random.ts';
import type { AwsKeys } from '../../cloud-credential.ts';
import { createAwsSigner } from '../sign-request.ts';

const host = 'bedrock-runtime.us-east-1.amazonaws.com';
const letters = "abcXYZ019-_.~:/?#[]@!$&'()*+,;= %üß漢";

type Generated = { readonly method: string; readonly path: string; readonly body: Buffer | undefined; readonly keys: AwsKeys };

function generate(below: (count: number) => number): Generated {
  const text = (length: number): string => Array.from({ length }, () => letters[below(letters.length)]).join('');
  const segments = Array.from({ length: 1 + below(4) }, () => `s${encodeURIComponent(text(below(12)))}`);
  const pairs = Array.from(
    { length: below(3) },
    (_, index) => `${encodeURIComponent(text(2))}${index}=${encodeURIComponent(text(below(6)))}`,
  );
  const method = below(2) === 0 ? 'GET' : 'POST';
  return {
    method,
    path: `/${segments.join('/')}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`,
    body: method === 'GET' ? undefined : Buffer.from(text(below(300))),
    keys: {
      kind: 'aws-keys',
      accessKeyId: `AKID${below(7)}`,
      secretAccessKey: `secret/${below(5)}`,
      ...(below(2) === 0 ? {} : { sessionToken: `token${below(1000)}` }),
    },
  };
}

/** Fails unless the signatures of this number of generated requests are those of aws4fetch. */
export async function compareSignatures(count: number): Promise<void> {
  const random = seededRandom(4);
  const below = (most: number): number => Math.floor(random() * most);
  const signers = new Map<string, ReturnType<typeof createAwsSigner>>();
  for (let done = 0; done < count; done += 1) {
    const region = ['us-east-1', 'eu-central-1', 'cn-north-1'][below(3)] ?? '';
    const service = ['bedrock', 'bedrock-mantle', 'sts'][below(3)] ?? '';
    const { method, path, body, keys } = generate(below);
    const nowMs = Date.UTC(2026, 10, 22 + below(3), 22);
    const sign = signers.getOrInsertComputed(`${region} ${service}`, () => createAwsSigner({ region, service }));
    const { accessKeyId, secretAccessKey, sessionToken } = keys;
    const expected = await new AwsV4Signer({
      url: `https://${host}${path}`,
      method,
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      region,
      service,
      datetime: `${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`,
    }).sign();
    const { authorization } = sign({ method, path, host, body }, keys, nowMs);
    assert.equal(authorization, expected.headers.get('authorization'), `${method} ${path}`);
  }
}
