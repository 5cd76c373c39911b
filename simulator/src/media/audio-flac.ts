import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { sampleRate, toBytes } from './audio-pcm.ts';
import { writeVorbisComments } from './audio-vorbis-comment.ts';

const blockSamples = 4096;
const verbatimSubframe = 0b000001;
/** Fixed predictor of the second order: a sample is expected on the line through the two before it. */
const fixedSubframe = 0b001010;
const predictorOrder = 2;
const riceParameterMax = 14;

/** Frames between two yields to the event loop, so that a long speech does not delay other calls. */
const framesPerTurn = 32;

/**
 * A FLAC file (RFC 9639) with its comment: blocks of 4,096 samples, a fixed predictor of the second order, one Rice
 * partition each.
 */
export async function writeFlac(samples: Int16Array, comment: string): Promise<Buffer> {
  const frames: Buffer[] = [];
  for (let start = 0; start < samples.length; start += blockSamples) {
    frames.push(writeFrame(samples.subarray(start, start + blockSamples), start / blockSamples));
    if (frames.length % framesPerTurn === 0) await setImmediate();
  }
  return Buffer.concat([
    Buffer.from('fLaC'),
    metadataBlock(0, writeStreamInfo(samples), false),
    metadataBlock(4, writeVorbisComments(comment), true),
    ...frames,
  ]);
}

function metadataBlock(type: number, bytes: Buffer, isLast: boolean): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  head[0] = (isLast ? 0x80 : 0) | type;
  return Buffer.concat([head, bytes]);
}

function writeStreamInfo(samples: Int16Array): Buffer {
  const bits = createBitWriter();
  bits.write(blockSamples, 16);
  bits.write(blockSamples, 16);
  // Frame sizes may be left unknown.
  bits.write(0, 24);
  bits.write(0, 24);
  bits.write(sampleRate, 20);
  bits.write(0, 3);
  bits.write(15, 5);
  bits.write(0, 4);
  bits.write(samples.length, 32);
  return Buffer.concat([bits.bytes(), Buffer.from(hash('md5', toBytes(samples), 'hex'), 'hex')]);
}

function writeFrame(samples: Int16Array, number: number): Buffer {
  const bits = createBitWriter();
  bits.write(0b11111111111110, 14);
  bits.write(0, 2);
  // The block's length follows in 16 bits; the rate is 24 kHz.
  bits.write(0b0111, 4);
  bits.write(0b0111, 4);
  // One channel of 16 bits.
  bits.write(0, 4);
  bits.write(0b100, 3);
  bits.write(0, 1);
  for (const byte of codeNumber(number)) bits.write(byte, 8);
  bits.write(samples.length - 1, 16);
  bits.write(crc8(bits.bytes()), 8);
  writeSubframe(bits, samples);
  const body = bits.bytes();
  const check = Buffer.alloc(2);
  check.writeUInt16BE(crc16(body));
  return Buffer.concat([body, check]);
}

type BitWriter = ReturnType<typeof createBitWriter>;

function writeSubframe(bits: BitWriter, samples: Int16Array): void {
  bits.write(0, 1);
  if (samples.length <= predictorOrder) {
    bits.write(verbatimSubframe, 6);
    bits.write(0, 1);
    for (const sample of samples) bits.write(sample & 0xffff, 16);
    return;
  }
  bits.write(fixedSubframe, 6);
  bits.write(0, 1);
  for (const sample of samples.subarray(0, predictorOrder)) bits.write(sample & 0xffff, 16);
  const residual = residualOf(samples);
  const parameter = chooseParameter(residual);
  // Rice coding with parameters of four bits, in one partition.
  bits.write(0, 2);
  bits.write(0, 4);
  bits.write(parameter, 4);
  for (const value of residual) {
    bits.writeZeros(value >>> parameter);
    bits.write(1, 1);
    bits.write(value & ((1 << parameter) - 1), parameter);
  }
}

/** Differences from the prediction, folded so that small ones of either sign are small numbers. */
function residualOf(samples: Int16Array): Uint32Array {
  const residual = new Uint32Array(samples.length - predictorOrder);
  for (let index = predictorOrder; index < samples.length; index++) {
    const difference = (samples[index] ?? 0) - 2 * (samples[index - 1] ?? 0) + (samples[index - 2] ?? 0);
    residual[index - predictorOrder] = difference >= 0 ? 2 * difference : -2 * difference - 1;
  }
  return residual;
}

function chooseParameter(residual: Uint32Array): number {
  let sum = 0;
  for (const value of residual) sum += value;
  return Math.min(riceParameterMax, Math.max(0, Math.floor(Math.log2(sum / residual.length + 1))));
}

/** A frame's number, coded like a character in UTF-8. */
function codeNumber(number: number): Buffer {
  // Surrogates have no UTF-8 of their own but frames may have their numbers; an hour of speech has 21,094 frames, which
  // is below them.
  return Buffer.from(String.fromCodePoint(number));
}

function createBitWriter(): {
  /** Appends the lowest `count` bits of a value, at most 32, highest first. */
  readonly write: (value: number, count: number) => void;
  readonly writeZeros: (count: number) => void;
  /** All written bits, padded with zeros to a whole byte. */
  readonly bytes: () => Buffer;
} {
  let buffer = Buffer.alloc(16_384);
  let bit = 0;
  const reserve = (count: number): void => {
    if ((bit + count) / 8 + 1 > buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(buffer.length + count)]);
  };
  return {
    write(value, count) {
      reserve(count);
      for (let left = count; left > 0;) {
        const room = 8 - (bit & 7);
        const taken = Math.min(room, left);
        const part = (value >>> (left - taken)) & ((1 << taken) - 1);
        buffer[bit >>> 3] = (buffer[bit >>> 3] ?? 0) | (part << (room - taken));
        bit += taken;
        left -= taken;
      }
    },
    writeZeros(count) {
      reserve(count);
      bit += count;
    },
    bytes: () => buffer.subarray(0, Math.ceil(bit / 8)),
  };
}

const crc8Table = tableOf(8, 0x07);
const crc16Table = tableOf(16, 0x8005);

function crc8(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = crc8Table[crc ^ byte] ?? 0;
  return crc;
}

function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (crc16Table[(crc >>> 8) ^ byte] ?? 0);
  return crc;
}

function tableOf(width: number, polynomial: number): Uint16Array {
  const top = 1 << (width - 1);
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (width - 8);
    for (let step = 0; step < 8; step++) crc = (crc & top) === 0 ? crc << 1 : (crc << 1) ^ polynomial;
    return crc & (2 * top - 1);
  });
}
