import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VideoForm } from '../../inference/video.ts';
import { encodeMultipartAsJson, type MultipartFile, type MultipartForm } from './read-multipart.ts';
import { read, refusalOf } from './testing/test-kit.ts';

const pngBytes = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const asData = { kind: 'data', mediaType: 'image/png', base64: pngBytes.toString('base64') };

type Sent = { readonly [name: string]: string | readonly string[] };

const formOf = (sent: Sent, files: readonly MultipartFile[] = []): MultipartForm => ({
  fields: Object.entries(sent).flatMap(([name, values]) => [values].flat().map((value) => ({ name, value }))),
  files,
});

const readForm = (sent: Sent, files: readonly MultipartFile[] = [], form: VideoForm = 'video-generations'): ReturnType<typeof read> =>
  read(encodeMultipartAsJson(formOf({ model: 'm', prompt: 'p', ...sent }, files)).toString(), { form });

const png = (name: string, mediaType = 'image/png'): MultipartFile => ({ name, filename: 'a.png', mediaType, bytes: pngBytes });

test('a form is read like the same JSON, and its metadata keeps its digits', () => {
  const metadata = '{"resolution":"720p", "seed":12345678901234567890}';
  const { request } = readForm({ duration: '7', metadata }, [png('image')]);
  assert.deepEqual(request, {
    form: 'video-generations',
    mode: 'image',
    requestedModel: 'm',
    prompt: 'p',
    durationSeconds: 7,
    images: [asData],
    resolution: '720p',
    metadata,
  });
});

test('files and addresses of images are read alone and as lists, in every spelling', () => {
  const address = 'https://media.example/a.png';
  const asUrl = { kind: 'url', url: address };
  const cases: readonly [Sent, readonly MultipartFile[], readonly unknown[]][] = [
    [{ images: address }, [], [asUrl]],
    [{ images: [address, address] }, [], [asUrl, asUrl]],
    [{ 'images[]': [address, address] }, [], [asUrl, asUrl]],
    [{ images: JSON.stringify([address, { url: address }]) }, [], [asUrl, asUrl]],
    [{}, [png('images'), png('images')], [asData, asData]],
    [{}, [png('images[]')], [asData]],
    [{}, [png('input_reference', 'application/octet-stream')], [asData]],
    [{}, [png('input_reference', '')], [asData]],
    [{ 'input_reference[image_url]': address }, [], [asUrl]],
  ];
  for (const [sent, files, images] of cases)
    assert.deepEqual(readForm(sent, files, 'openai-videos').request.images, images, JSON.stringify(sent));
});

test('seconds and bracket members of OpenAI’s SDK are read', () => {
  const { request } = readForm({ seconds: '8', size: '1280x720', 'metadata[seed]': '7' }, [], 'openai-videos');
  assert.deepEqual([request.durationSeconds, request.resolution, request.metadata], [8, '720p', '{"seed":"7"}']);
});

test('an ambiguous form is refused, and the refusal names the field', () => {
  const cases: readonly [Sent, readonly MultipartFile[], string][] = [
    [{ metadata: '{"a":1' }, [], 'metadata'],
    [{ metadata: '{"a":1,"a":2}' }, [], 'metadata'],
    [{ metadata: '[]' }, [], 'metadata'],
    [{ metadata: '' }, [], 'metadata'],
    [{ images: '[1' }, [], 'images'],
    [{ duration: ['5', '15'] }, [], 'duration'],
    [{ duration: '007' }, [], 'duration'],
    [{ 'metadata[a]': ['1', '2'] }, [], 'metadata'],
    [{ metadata: '{}', 'metadata[a]': '1' }, [], 'metadata'],
    [{ image: 'https://media.example/a.png' }, [png('image')], 'image'],
    [{}, [{ name: 'image', mediaType: 'image/png', bytes: Buffer.alloc(0) }], 'image'],
    [{}, [{ name: 'image', mediaType: 'text/html', bytes: Buffer.from('<b>') }], 'image'],
    [{}, [{ name: 'image', mediaType: 'application/octet-stream', bytes: Buffer.from('<b>') }], 'image'],
    [{}, [{ name: 'image', mediaType: 'image/png,x', bytes: pngBytes }], 'image'],
  ];
  for (const [sent, files, param] of cases)
    assert.equal(refusalOf(() => readForm(sent, files)).param, param, JSON.stringify([sent, files]));
});

test('names with a meaning in JavaScript objects are ordinary names', () => {
  const { request } = readForm({ __proto__x: '1', 'constructor[prototype]': '2', ['__proto__']: '3' });
  assert.equal(({} as { prototype?: unknown }).prototype, undefined);
  assert.match(request.extraFields ?? '', /"constructor":\{"prototype":"2"\}/);
});
