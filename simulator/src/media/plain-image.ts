import { crc32, deflateSync } from 'node:zlib';
import { createSeededRandom } from '../seeded-random.ts';

export type ImageFormat = 'png' | 'jpeg' | 'webp';

export type PlainImage = { readonly format: ImageFormat; readonly width: number; readonly height: number; readonly seed: string };

/**
 * An image of one colour, which its seed determines: a real, small file of its format and size. JPEG has only shades of
 * grey.
 */
export function writePlainImage({ format, width, height, seed }: PlainImage): Buffer {
  const random = createSeededRandom(seed);
  const colour = [random.below(256), random.below(256), random.below(256)] as const;
  switch (format) {
    case 'png':
      return writePng(width, height, colour);
    case 'jpeg':
      return writeJpeg(width, height, 1 + (colour[0] % 127));
    case 'webp':
      return writeWebp(width, height, colour);
  }
}

type Colour = readonly [red: number, green: number, blue: number];

/** A palette of one colour, and one bit per pixel. */
function writePng(width: number, height: number, colour: Colour): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 3, 0, 0, 0], 8);
  const rows = Buffer.alloc((1 + Math.ceil(width / 8)) * height);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const chunks = [
    pngChunk('IHDR', header),
    pngChunk('PLTE', Buffer.from(colour)),
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([signature, ...chunks]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** Baseline, one component: the first block sets the brightness, and all others change nothing. */
function writeJpeg(width: number, height: number, brighter: number): Buffer {
  const category = brighter.toString(2).length;
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const bits = `10${brighter.toString(2)}0${'00'.repeat(blocks - 1)}`;
  const scan = Buffer.from((bits.padEnd(Math.ceil(bits.length / 8) * 8, '1').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const size = [height >> 8, height & 255, width >> 8, width & 255];
  return Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    jpegSegment(0xdb, [0, ...Array.from({ length: 64 }, () => 8)]),
    jpegSegment(0xc0, [8, ...size, 1, 1, 0x11, 0]),
    jpegSegment(0xc4, [0x00, 1, 1, ...Array.from({ length: 14 }, () => 0), 0, category]),
    jpegSegment(0xc4, [0x10, 1, ...Array.from({ length: 15 }, () => 0), 0]),
    jpegSegment(0xda, [1, 1, 0x00, 0, 63, 0]),
    scan,
    Buffer.from('ffd9', 'hex'),
  ]);
}

function jpegSegment(marker: number, bytes: readonly number[]): Buffer {
  const length = bytes.length + 2;
  return Buffer.from([0xff, marker, length >> 8, length & 255, ...bytes]);
}

/** Lossless: five codes of one symbol each, so that pixels need no bits. */
function writeWebp(width: number, height: number, [red, green, blue]: Colour): Buffer {
  const bits: number[] = [];
  const put = (value: number, count: number): void => {
    for (let at = 0; at < count; at++) bits.push((value >> at) & 1);
  };
  put(width - 1, 14);
  put(height - 1, 14);
  // No alpha, version 0, no transform, no colour cache, one group of codes.
  put(0, 1 + 3 + 1 + 1 + 1);
  for (const symbol of [green, red, blue, 255]) {
    put(0b101, 3);
    put(symbol, 8);
  }
  put(0b0001, 4);
  const data = Buffer.alloc(1 + Math.ceil(bits.length / 8));
  data[0] = 0x2f;
  for (const [at, bit] of bits.entries()) data[1 + (at >> 3)] = (data[1 + (at >> 3)] ?? 0) | (bit << (at & 7));
  const padded = data.length % 2 === 0 ? data : Buffer.concat([data, Buffer.alloc(1)]);
  const head = Buffer.alloc(20);
  head.write('RIFF', 0);
  head.writeUInt32LE(12 + padded.length, 4);
  head.write('WEBPVP8L', 8);
  head.writeUInt32LE(data.length, 16);
  return Buffer.concat([head, padded]);
}
