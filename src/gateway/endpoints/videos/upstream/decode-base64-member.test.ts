import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { decodeBase64Member } from './decode-base64-member.ts';

async function* cut(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function decode(text: string, size: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of decodeBase64Member(cut(text, size), 'bytes')) parts.push(part);
  return Buffer.concat(parts);
}

/** As some of the vendor's servers write it. */
const escaped = (base64: string): string => base64.replaceAll('/', String.raw`\/`).replaceAll('=', String.raw`\u003d`);

test('the bytes of a member are decoded, cut anywhere, with and without escapes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 40 }), fc.boolean(), async (file, size, isEscaped) => {
      const base64 = Buffer.from(file).toString('base64');
      const text = `{"name": "bytes", "response": {"videos": [{"bytes" : "${isEscaped ? escaped(base64) : base64}", "mimeType": "video/mp4"}]}}`;
      assert.deepEqual(await decode(text, size), Buffer.from(file));
    }),
  );
});

test('a reply without the member, or that ends within it, is an error', async () => {
  await assert.rejects(decode('{"done":true}', 3), /has no result/);
  await assert.rejects(decode('{"bytes":"AAAA', 3), /ends within it/);
});
