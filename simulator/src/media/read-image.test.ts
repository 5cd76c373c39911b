import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readDataUri } from './data-uri.ts';
import { readImage } from './read-image.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000002800000016808020000', 'hex');
// Start, an application segment, a table whose marker is close to those of frames, a fill byte, then the frame header
// of 640 × 360.
const jpeg = Buffer.from(
  'ffd8ffe000104a46494600010100000100010000ffc40003ffffffc0001108016802800301220002110103110 1'.replaceAll(' ', ''),
  'hex',
);
const gif = Buffer.from('47494638396180026801', 'hex');

for (const [mediaType, bytes] of [
  ['image/png', png],
  ['image/jpeg', jpeg],
  ['image/gif', gif],
] as const) {
  test(`the header of ${mediaType} contains the size`, () => {
    const facts = readImage(bytes);
    assert.equal(facts?.width, 640);
    assert.equal(facts.height, 360);
    assert.equal(facts.mediaType, mediaType);
  });

  test(`a truncated ${mediaType} never harms the reader`, () => {
    for (let length = 0; length < bytes.length; length++) readImage(bytes.subarray(0, length));
  });
}

test('the reader ends for any bytes', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void readImage(Buffer.concat([Buffer.from([0xff, 0xd8]), bytes]))));
});

test('a data URI is read with its type, and any other text is refused', () => {
  assert.deepEqual(readDataUri('data:image/PNG;charset=x;base64,AAEC'), { mediaType: 'image/png', bytes: Buffer.from([0, 1, 2]) });
  for (const text of ['', 'https://host/a.png', 'data:image/png,raw', 'data:image/png;base64']) assert.equal(readDataUri(text), undefined);
});
