import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';

import { defaultLimits, type GatewayLimits } from '../settings/limits.ts';
import { freeMemory, ownMemory } from '../../platform/http/body-memory.ts';
import { readJsonObject, readRequest } from './read-request.ts';

const json = { 'content-type': 'application/json' };

function read(body: string | Buffer, headers: Record<string, string> = json, limits: Partial<GatewayLimits> = {}) {
  const chunks = body.length === 0 ? [] : [Buffer.from(body)];
  const request = Object.assign(Readable.from(chunks, { objectMode: false }), { headers }) as unknown as IncomingMessage;
  return readRequest(request, { ...defaultLimits, ...limits });
}

test('the bytes stay as they were sent, and the tree is their content', async () => {
  const text = ' { "a" : 1.0, "b":"\\u00e9", "big":12345678901234567890 }\n';
  const { bytes, body } = await read(text);
  assert.equal(bytes.toString(), text);
  assert.deepEqual(body['b'], 'é');
});

test('a large body of few values that is freed leaves the bodies of others as they are', async () => {
  const few = JSON.stringify({ system: 'a rule that holds. '.repeat(2000), tools: ['x'.repeat(2000)] });
  const other = await read(JSON.stringify({ messages: ['y'.repeat(2000)] }));
  const own = ownMemory(Buffer.allocUnsafeSlow(few.length));
  own.write(few);
  const freed = await readJsonObject(own, defaultLimits);
  assert.deepEqual(freed['tools'], ['x'.repeat(2000)]);
  freeMemory(own);
  assert.deepEqual(other.body['messages'], ['y'.repeat(2000)]);
  assert.deepEqual((await read('{"a":[1]}')).body, { a: [1] });
});

test('JSON is accepted by any of its media types', async () => {
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.api+json', ' application/json ;x=y'])
    assert.deepEqual((await read('{}', { 'content-type': type })).body, {}, type);
});

test('another media type is a 415 that names the right one and the received one', async () => {
  for (const [type, told] of [
    ['text/plain', /must be application\/json, but got "text\/plain"/],
    ['text/json', /got "text\/json"/],
    ['application/x-www-form-urlencoded', /got "application\/x-www-form-urlencoded"/],
    ['multipart/form-data; boundary=x', /got "multipart\/form-data"/],
    ['', /none was sent/],
    ['+json', /got "\+json"/],
  ] as const)
    await assert.rejects(read('{}', { 'content-type': type }), { code: 'unsupported_media_type', status: 415, message: told });
  await assert.rejects(read('{}', {}), { code: 'unsupported_media_type', message: /none was sent/ });
});

test('a compressed body is read, and its plain bytes are passed on', async () => {
  const text = '{"a":"grün"}';
  for (const [coding, body] of [
    ['gzip', gzipSync(text)],
    ['zstd', zstdCompressSync(text)],
  ] as const)
    assert.equal((await read(body, { ...json, 'content-encoding': coding })).bytes.toString(), text);
});

for (const [hazard, body, headers, limits, expected] of [
  [
    'an unknown encoding',
    '{}',
    { 'content-encoding': 'compress' },
    {},
    ['unsupported_content_encoding', 415, /gzip, deflate, br, zstd, identity/],
  ],
  ['an encoding that is a lie', '{}', { 'content-encoding': 'gzip' }, {}, ['invalid_json', 400, /not valid gzip data, although/]],
  ['a body beyond the limit', '{"a":"xxxx"}', {}, { requestBytesMax: 10 }, ['request_too_large', 413, /at most 10 bytes/]],
  [
    'a bomb',
    gzipSync(`{"a":"${'x'.repeat(100_000)}"}`),
    { 'content-encoding': 'gzip' },
    { requestBytesMax: 1000 },
    ['request_too_large', 413, /1000/],
  ],
  ['an empty body', '', {}, {}, ['invalid_json', 400, /empty; send a JSON object/]],
  ['a body of white space', '  ', {}, {}, ['invalid_json', 400, /invalid JSON/]],
  ['a body cut in the middle', '{"a":', {}, {}, ['invalid_json', 400, /line 1, column/]],
  ['two values', '{} {}', {}, {}, ['invalid_json', 400, /column 4/]],
  ['a duplicate key, spelled differently', '{"model":"a","mod\\u0065l":"b"}', {}, {}, ['duplicate_key', 400, /"model"/]],
  ['nesting beyond the limit', '{"a":[[[]]]}', {}, { requestDepthMax: 3 }, ['body_too_deep', 400, /./]],
  ['too many values', '{"a":[1,2,3,4,5]}', {}, { requestTokensMax: 5 }, ['body_too_deep', 400, /./]],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), {}, {}, ['invalid_json', 400, /UTF-8/]],
  ['a byte order mark', '\ufeff{}', {}, {}, ['invalid_json', 400, /byte order mark/]],
  ['an array', '[]', {}, {}, ['invalid_json', 400, /must be a JSON object, but it is an array/]],
  ['a string', '"x"', {}, {}, ['invalid_json', 400, /must be a JSON object, but it is string/]],
] as const) {
  test(`${hazard} is refused as ${expected[0]}`, async () => {
    const [code, status, message] = expected;
    await assert.rejects(read(body, { ...json, ...headers }, limits), { name: 'GatewayError', code, status, message });
  });
}
