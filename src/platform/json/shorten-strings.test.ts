import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { shortenStrings } from './shorten-strings.ts';

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function shorten(text: string, size: number, kept: number): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of shortenStrings(cut(Buffer.from(text), size), kept)) parts.push(part);
  return Buffer.concat(parts).toString();
}

test('a document whose strings are short stays as it is, in pieces of every size', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), fc.integer({ min: 1, max: 9 }), async (text, size) => {
      assert.equal(await shorten(text, size, text.length * 6 + 16), text);
    }),
  );
});

test('long strings are cut and the rest stays a document', async () => {
  const odd = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u0001', 'é', '𝄞', '/'), maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.array(odd), fc.integer({ min: 1, max: 70 }), fc.integer({ min: 0, max: 30 }), async (texts, size, kept) => {
      const read = JSON.parse(await shorten(JSON.stringify({ texts, end: [1, true, null] }), size, Math.max(kept, 5))) as {
        texts: string[];
        end: unknown[];
      };
      assert.deepEqual(read.end, [1, true, null]);
      assert.equal(read.texts.length, texts.length);
      for (const [at, text] of read.texts.entries())
        // A character may be cut in the middle of its bytes.
        assert.ok((texts[at] ?? '').startsWith(text.replace(/\uFFFD+$/, '')), JSON.stringify([texts[at], text]));
    }),
  );
});

test('a file of 8 MB leaves a small document', async () => {
  const text = JSON.stringify({ done: true, response: { videos: [{ bytesBase64Encoded: 'A'.repeat(8_000_000), mimeType: 'video/mp4' }] } });
  const read = JSON.parse(await shorten(text, 65_536, 64)) as { response: { videos: { mimeType: string }[] } };
  assert.equal(read.response.videos[0]?.mimeType, 'video/mp4');
});
