import { readFileSync } from 'node:fs';

import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  MkvOutputFormat,
  Mp3OutputFormat,
  Mp4OutputFormat,
  OggOutputFormat,
  Output,
  WavOutputFormat,
  WebMOutputFormat,
} from 'mediabunny';

import { makeDocx, makePdf } from '../files/documents.ts';

type Format = ConstructorParameters<typeof Output>[0]['format'];

async function finish(output: Output<Format, BufferTarget>): Promise<Buffer> {
  await output.finalize();
  return Buffer.from(output.target.buffer ?? new ArrayBuffer(0));
}

async function makeVideo(format: Format): Promise<Buffer> {
  const output = new Output({ format, target: new BufferTarget() });
  const source = new EncodedVideoPacketSource('vp8');
  output.addVideoTrack(source);
  await output.start();
  const config = { decoderConfig: { codec: 'vp8', codedWidth: 64, codedHeight: 64 } };
  for (let index = 0; index < 20; index += 1)
    await source.add(new EncodedPacket(new Uint8Array(40).fill(index), 'key', index / 25, 1 / 25), config);
  return await finish(output);
}

async function makeSound(format: Format, codec: 'opus' | 'mp3' | 'pcm-s16', packet: Uint8Array): Promise<Buffer> {
  const output = new Output({ format, target: new BufferTarget() });
  const source = new EncodedAudioPacketSource(codec);
  output.addAudioTrack(source);
  await output.start();
  const description = Buffer.from('4f70757348656164010100000080bb0000000000', 'hex').subarray(0, 19);
  const config = {
    decoderConfig: { codec, sampleRate: 48_000, numberOfChannels: 1, ...(codec === 'opus' ? { description } : {}) },
  };
  for (let index = 0; index < 20; index += 1) await source.add(new EncodedPacket(packet, 'key', index / 50, 1 / 50), config);
  return await finish(output);
}

const opusPacket = Uint8Array.from([0x78, ...Array.from({ length: 39 }, (_, index) => index)]);
const mp3Frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x14, 0xc4]), Buffer.alloc(92)]);

const htmlPage = `<!doctype html><html><head><title>Title</title><meta property="article:published_time" content="2026-01-01"></head><body>
<nav><ul><li><a href="/a">A</a></ul></nav><article><h1>Heading</h1>${'<p>Some <b>words</b> of an article, &amp; more of them.</p>'.repeat(8)}
<table><tr><td>1<td>2</table><!-- comment --><script>var a = "<p>";</script><style>p { color: red }</style></article></body></html>`;

const flac = (name: string): Buffer => readFileSync(new URL(`../../src/platform/media/fixtures/${name}.flac`, import.meta.url));

/** Heads of images, as far as they are read. */
const images = [
  Buffer.from('89504e470d0a1a0a0000000d494844520000004000000020080200000000000000', 'hex'),
  Buffer.from('474946383961400020008000000000002c00000000400020000002', 'hex'),
  Buffer.from('ffd8ffe000104a46494600010100000100010000ffdb00040102ffffc0001108002000400301220002110103110100', 'hex'),
];

/** The form with a recording; its reader gets the boundary. */
export const formType = 'multipart/form-data; boundary=seam';
const makeForm = (file: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('--seam\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--seam\r\n'),
    Buffer.from('content-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\n'),
    file.subarray(0, 400),
    Buffer.from('\r\n--seam--\r\n'),
  ]);

const schemas = [
  {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, pattern: '^[a-z ]+$' },
      tags: { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true, maxItems: 3 },
      node: { $ref: '#/$defs/node' },
    },
    required: ['name', 'node'],
    additionalProperties: false,
    $defs: {
      node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }, required: ['next'] },
    },
  },
  {
    oneOf: [
      { type: 'integer', minimum: 1, multipleOf: 3 },
      { type: 'object', patternProperties: { '^x-': { type: 'boolean' } }, minProperties: 1 },
    ],
    not: { const: 7 },
    if: { type: 'object' },
    else: { maximum: 99 },
  },
].map((schema) => Buffer.from(JSON.stringify(schema)));

/** Small complete files of every kind that is parsed. */
export async function makeSeedFiles() {
  const wav = await makeSound(new WavOutputFormat(), 'pcm-s16', new Uint8Array(1920));
  return {
    image: images,
    form: [makeForm(wav)],
    schema: schemas,
    flac: [flac('sine-48khz-24bit-stereo'), flac('sine-8khz-streamed')],
    mp3: [Buffer.concat(Array.from({ length: 40 }, () => mp3Frame)), await makeSound(new Mp3OutputFormat(), 'mp3', mp3Frame)],
    wav: [wav],
    ogg: [await makeSound(new OggOutputFormat(), 'opus', opusPacket)],
    webm: [await makeSound(new WebMOutputFormat(), 'opus', opusPacket)],
    mp4: [await makeSound(new Mp4OutputFormat(), 'opus', opusPacket)],
    video: [
      await makeVideo(new Mp4OutputFormat({ fastStart: 'in-memory' })),
      await makeVideo(new Mp4OutputFormat({ fastStart: 'fragmented' })),
      await makeVideo(new MkvOutputFormat()),
    ],
    pdf: [makePdf(['Words on a page', 'More words'])],
    docx: [makeDocx('Words of a document')],
    html: [Buffer.from(htmlPage)],
  } as const;
}

export type SeedKind = keyof Awaited<ReturnType<typeof makeSeedFiles>>;
