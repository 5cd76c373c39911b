import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answerContent, type StoredContent } from './content-answer.ts';

const file = (mediaType: string): StoredContent => ({
  id: 'file_1',
  mediaType,
  bytes: 10,
  tag: 'abc',
  open: async () =>
    (async function* bytes() {
      yield Buffer.from('0123456789');
    })(),
});

test('video, audio and raster images are shown in place; everything else is saved and never shown', async () => {
  for (const type of ['video/mp4', 'audio/mpeg', 'image/png', 'image/webp', 'image/jpeg'])
    assert.equal((await answerContent(file(type), {})).fileName, undefined, type);
  for (const type of [
    'image/svg+xml',
    'text/html',
    'text/html; charset=utf-8',
    'application/xhtml+xml',
    'text/xml',
    'application/pdf',
    'text/javascript',
  ])
    assert.deepEqual([(await answerContent(file(type), {})).fileName, (await answerContent(file(type), {})).contentType], ['file_1', type]);
  for (const type of ['image/png\r\nx: y', 'video', '', 'image/png, text/html', 'text/html;x'])
    assert.deepEqual(
      [(await answerContent(file(type), {})).fileName, (await answerContent(file(type), {})).contentType],
      ['file_1', 'application/octet-stream'],
      type,
    );
});

test('a part of a file has its place in it, and a part beyond the end is refused', async () => {
  const part = await answerContent(file('video/mp4'), { range: { field: 'bytes=2-4' } });
  assert.deepEqual([part.status, part.headers?.['content-range'], part.headers?.['content-length']], [206, 'bytes 2-4/10', '3']);
  const other = await answerContent(file('video/mp4'), { range: { field: 'bytes=2-4', ifRange: '"old"' } });
  assert.deepEqual([other.status, other.headers?.['content-length']], [200, '10']);
  await assert.rejects(answerContent(file('video/mp4'), { range: { field: 'bytes=10-' } }), { code: 'range_not_satisfiable' });
  await assert.rejects(answerContent({ ...file('video/mp4'), open: async () => undefined }, {}), { code: 'not_found' });
});
