import { setImmediate } from 'node:timers/promises';
import { Application, createEncoder } from 'libopus-wasm';
import { sampleRate } from './audio-pcm.ts';
import { writeVorbisComments } from './audio-vorbis-comment.ts';

const frameSamples = 480;
/** Opus counts time in samples of 48 kHz, whatever the input rate is. */
const clockRate = 48_000;
const bitsPerSecond = 32_000;
const packetsPerPage = 50;
const segmentsMax = 255;
const serial = 0x53_49_4d_31;

/** An Ogg Opus file (RFC 7845) with its comment, in packets of 20 ms. */
export async function writeOpus(samples: Int16Array, comment: string): Promise<Buffer> {
  const encoder = await createEncoder({
    sampleRate,
    channels: 1,
    application: Application.Voip,
    bitrate: bitsPerSecond,
    frameSize: frameSamples,
  });
  try {
    const preSkip = Math.round((encoder.getLookahead() * clockRate) / sampleRate);
    const lookahead = encoder.getLookahead();
    const packets: Uint8Array[] = [];
    for (let start = 0; start < samples.length + lookahead; start += frameSamples) {
      const frame = new Int16Array(frameSamples);
      frame.set(samples.subarray(start, start + frameSamples));
      packets.push(encoder.encode(frame).slice());
      // A long speech must not delay other calls.
      if (packets.length % packetsPerPage === 0) await setImmediate();
    }
    return writePages(packets, comment, preSkip, (samples.length * clockRate) / sampleRate);
  } finally {
    encoder.free();
  }
}

/** The last page's position is the end of the audio, so that the padding of the last packet is not played. */
function writePages(packets: readonly Uint8Array[], comment: string, preSkip: number, lengthAtClock: number): Buffer {
  const pages = createPageWriter();
  pages.add([writeHead(preSkip)], 0, 'first');
  pages.add([Buffer.concat([Buffer.from('OpusTags'), writeVorbisComments(comment)])], 0, 'middle');
  const perPacket = (frameSamples * clockRate) / sampleRate;
  for (let start = 0; start < packets.length; start += packetsPerPage) {
    const end = Math.min(packets.length, start + packetsPerPage);
    const isLast = end === packets.length;
    pages.add(packets.slice(start, end), isLast ? preSkip + lengthAtClock : end * perPacket, isLast ? 'last' : 'middle');
  }
  return pages.bytes();
}

function writeHead(preSkip: number): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead');
  head[8] = 1;
  head[9] = 1;
  head.writeUInt16LE(preSkip, 10);
  head.writeUInt32LE(sampleRate, 12);
  return head;
}

const pageFlags = { middle: 0, first: 2, last: 4 } as const;

function createPageWriter(): {
  /**
   * Writes packets on a page, and on further ones if they need more than 255 segments. Only whole packets count in a
   * page's position.
   */
  readonly add: (packets: readonly Uint8Array[], position: number, kind: keyof typeof pageFlags) => void;
  readonly bytes: () => Buffer;
} {
  const pages: Buffer[] = [];
  const writePage = (lacing: readonly number[], body: Buffer, position: bigint, flags: number): void => {
    const page = Buffer.alloc(27 + lacing.length + body.length);
    page.write('OggS');
    page[5] = flags;
    page.writeBigInt64LE(position, 6);
    page.writeUInt32LE(serial, 14);
    page.writeUInt32LE(pages.length, 18);
    page[26] = lacing.length;
    page.set(lacing, 27);
    body.copy(page, 27 + lacing.length);
    page.writeUInt32LE(crc32(page), 22);
    pages.push(page);
  };
  return {
    add(packets, position, kind) {
      const lacing = packets.flatMap(({ length }) => [...Array.from<number>({ length: Math.floor(length / 255) }).fill(255), length % 255]);
      const body = Buffer.concat(packets);
      for (let start = 0, at = 0; start < lacing.length; start += segmentsMax) {
        const segments = lacing.slice(start, start + segmentsMax);
        const bytes = segments.reduce((sum, segment) => sum + segment, 0);
        const isLast = start + segmentsMax >= lacing.length;
        // A page on which no packet ends has no position. 1 marks a page that begins inside a packet.
        const continued = start > 0 && lacing[start - 1] === 255 ? 1 : 0;
        const hasEnd = segments.some((segment) => segment < 255);
        writePage(segments, body.subarray(at, at + bytes), hasEnd ? BigInt(position) : -1n, (isLast ? pageFlags[kind] : 0) | continued);
        at += bytes;
      }
    },
    bytes: () => Buffer.concat(pages),
  };
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let step = 0; step < 8; step++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc >>> 0;
});

/** Ogg's own checksum: the polynomial of zlib's, but not mirrored. */
function crc32(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) ^ (crcTable[((crc >>> 24) ^ byte) & 0xff] ?? 0)) >>> 0;
  return crc;
}
