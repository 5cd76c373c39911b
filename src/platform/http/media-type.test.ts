import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { confirmMediaType, readMediaType } from './media-type.ts';

test('types for models are read from the header, without parameters and in lower case', () => {
  const cases: readonly (readonly [string | readonly string[] | undefined, string | undefined])[] = [
    ['image/png', 'image/png'],
    ['IMAGE/JPEG; charset=binary', 'image/jpeg'],
    [' application/pdf ;x=1', 'application/pdf'],
    ['text/plain; charset=utf-8', 'text/plain'],
    ['audio/mpeg', 'audio/mpeg'],
    ['video/mp4', 'video/mp4'],
    ['image/svg+xml', 'image/svg+xml'],
    [undefined, 'unknown'],
    ['application/octet-stream', 'unknown'],
    ['binary/octet-stream', 'unknown'],
    ['text/html', undefined],
    ['application/json', undefined],
    ['image', undefined],
    ['image/', undefined],
    ['image/p ng', undefined],
    ['unknown', undefined],
    ['', undefined],
    [`image/${'x'.repeat(200)}`, undefined],
    [['image/png', 'text/html'], undefined],
  ];
  for (const [header, expected] of cases) assert.equal(readMediaType(header), expected, String(header));
});

const files: Readonly<Record<string, Buffer>> = {
  'image/png': Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
  'image/jpeg': Buffer.from('ffd8ffe000104a464946', 'hex'),
  'image/gif': Buffer.from('GIF89a\x01\0\x01\0'),
  'image/webp': Buffer.from('RIFF\x24\0\0\0WEBPVP8 ', 'latin1'),
  'image/tiff': Buffer.from('49492a0008000000', 'hex'),
  'image/bmp': Buffer.from('BM\x46\0\0\0\0\0\0\0\x36', 'latin1'),
  'image/avif': Buffer.from('\0\0\0\x20ftypavif', 'latin1'),
  'image/heic': Buffer.from('\0\0\0\x20ftypheic', 'latin1'),
  'image/heif': Buffer.from('\0\0\0\x20ftypmif1', 'latin1'),
  'application/pdf': Buffer.from('%PDF-1.7\n'),
};

test('the first bytes decide the type of images and PDF, if the header agrees or is absent', () => {
  for (const [type, bytes] of Object.entries(files)) {
    assert.equal(confirmMediaType(type, bytes), type);
    assert.equal(confirmMediaType('unknown', bytes), type);
    if (type.startsWith('image/')) assert.equal(confirmMediaType('image/jpg', bytes), type, 'an inexact header is corrected');
    assert.equal(
      confirmMediaType(type.startsWith('image/') ? 'application/pdf' : 'image/png', bytes),
      undefined,
      'another kind is refused',
    );
  }
  assert.equal(confirmMediaType('application/pdf', Buffer.concat([Buffer.alloc(1000, 32), Buffer.from('%PDF-')])), 'application/pdf');
  assert.equal(confirmMediaType('application/pdf', Buffer.concat([Buffer.alloc(1024, 32), Buffer.from('%PDF-')])), undefined);
});

test('a page, a script or an internal answer that is declared as an image or PDF is refused', () => {
  const texts = [
    '<html>',
    '<svg xmlns="http://www.w3.org/2000/svg">',
    '{"token":"x"}',
    'BMW has a text',
    'root:x:0:0',
    '',
    'RIFFxxxxWAVE',
    'GIF',
  ];
  for (const text of texts) {
    for (const said of ['image/png', 'image/svg+xml', 'application/pdf', 'unknown']) {
      assert.equal(confirmMediaType(said, Buffer.from(text)), undefined, `${said}: ${text}`);
    }
  }
});

test('other types are accepted as declared', () => {
  for (const said of ['audio/mpeg', 'video/mp4', 'text/plain']) assert.equal(confirmMediaType(said, Buffer.from('anything')), said);
});

test('any bytes are read without an error, and get a type of the declared kind or none', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.constantFrom('image/png', 'application/pdf'), (bytes, said) => {
      const seen = confirmMediaType(said, Buffer.from(bytes));
      assert.ok(seen === undefined || seen.split('/')[0] === said.split('/')[0]);
    }),
  );
});
