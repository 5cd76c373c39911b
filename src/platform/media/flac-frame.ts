/** The properties of all frames of a recording. Source of this file: RFC 9639. */
export type FlacStream = { readonly rate: number; readonly bits: number };

/** The header of a frame. */
export type FlacHeader = {
  readonly samples: number;
  readonly rate: number;
  /** The number of the frame, or of its first sample if frames differ in length. */
  readonly number: number;
  readonly isVariable: boolean;
  /** The largest size of the frame: its samples without compression. */
  readonly bytesMax: number;
};

/** Sync, sizes, a number of up to seven bytes, block size, sample rate and check sum. */
export const flacHeaderBytesMax = 16;
const streamInfoRateAt = 10;
const streamInfoBytesMin = 18;
/** Bytes besides the samples: header, footer, and the headers of subframes. */
const overheadBytes = 256;

const rates = [0, 88_200, 176_400, 192_000, 8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000] as const;
const sampleBits = [0, 8, 12, 0, 16, 20, 24, 32] as const;
const channelsMax = 10;

/** Reads the first block of a recording. Undefined if the sample rate is invalid. */
export function readFlacStream(info: Buffer): FlacStream | undefined {
  if (info.length < streamInfoBytesMin) return undefined;
  const packed = info.readUInt32BE(streamInfoRateAt);
  const rate = packed >>> 12;
  return rate === 0 ? undefined : { rate, bits: ((packed >>> 4) & 31) + 1 };
}

/** Reads the header of a frame at `at`. Undefined if there is none, or only a part of it. */
export function readFlacHeader(bytes: Buffer, at: number, stream: FlacStream): FlacHeader | undefined {
  if (at + 6 > bytes.length || bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xfe) !== 0xf8) return undefined;
  const sizes = bytes[at + 2] ?? 0;
  const shape = bytes[at + 3] ?? 0;
  const channels = (shape >> 4) + 1;
  const bits = (shape >> 1) & 7;
  if (sizes >> 4 === 0 || (sizes & 15) === 15 || channels > channelsMax + 1 || bits === 3 || (shape & 1) === 1) return undefined;
  const number = readNumber(bytes, at + 4);
  if (number === undefined) return undefined;
  const sizeAt = at + 4 + number.length;
  const rateAt = sizeAt + sizeBytes(sizes >> 4);
  const sumAt = rateAt + rateBytes(sizes & 15);
  if (sumAt >= bytes.length || checkSum8(bytes, at, sumAt) !== bytes[sumAt]) return undefined;
  const samples = readSamples(bytes, sizes >> 4, sizeAt);
  const rate = readRate(bytes, sizes & 15, rateAt, stream.rate);
  if (rate === 0) return undefined;
  const bitsMax = bits === 0 ? stream.bits : (sampleBits[bits] ?? 32);
  // The side channel has one bit more. Channel numbers above eight mean two channels.
  const bytesMax = Math.ceil((samples * Math.min(channels, 8) * (bitsMax + 1)) / 8) + overheadBytes;
  return { samples, rate, number: number.value, isVariable: bytes[at + 1] === 0xf9, bytesMax };
}

/** A number of up to 36 bits, written as UTF-8 writes characters. */
function readNumber(bytes: Buffer, at: number): { readonly value: number; readonly length: number } | undefined {
  const first = bytes[at] ?? 0xff;
  if (first < 0x80) return { value: first, length: 1 };
  const length = Math.clz32(~(first << 24));
  if (length < 2 || length > 7 || at + length > bytes.length) return undefined;
  let value = first & (0x7f >> length);
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index] ?? 0;
    if ((byte & 0xc0) !== 0x80) return undefined;
    // Bit operators work on 32 bits only.
    value = value * 64 + (byte & 0x3f);
  }
  return { value, length };
}

const sizeBytes = (code: number): number => (code === 6 ? 1 : code === 7 ? 2 : 0);
const rateBytes = (code: number): number => (code === 12 ? 1 : code === 13 || code === 14 ? 2 : 0);

function readSamples(bytes: Buffer, code: number, at: number): number {
  if (code === 1) return 192;
  if (code <= 5) return 576 << (code - 2);
  if (code === 6) return bytes.readUInt8(at) + 1;
  return code === 7 ? bytes.readUInt16BE(at) + 1 : 256 << (code - 8);
}

function readRate(bytes: Buffer, code: number, at: number, usual: number): number {
  if (code === 0) return usual;
  if (code === 12) return bytes.readUInt8(at) * 1000;
  if (code === 13) return bytes.readUInt16BE(at);
  return code === 14 ? bytes.readUInt16BE(at) * 10 : (rates[code] ?? 0);
}

/** Polynomial x^8 + x^2 + x + 1. */
const table8 = Uint8Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum & 0x80) === 0 ? sum << 1 : (sum << 1) ^ 0x07;
  return sum;
});

function checkSum8(bytes: Buffer, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; at += 1) sum = table8[sum ^ (bytes[at] ?? 0)] ?? 0;
  return sum;
}

/** Polynomial x^16 + x^15 + x^2 + 1. */
const table16 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum & 0x8000) === 0 ? sum << 1 : (sum << 1) ^ 0x8005;
  return sum;
});

/** The check sum of a frame. The frame ends with it, so that the sum over the whole frame is zero. */
export class FlacCheckSum {
  #sum = 0;
  #hasBytes = false;

  restart(): void {
    this.#sum = 0;
    this.#hasBytes = false;
  }

  add(bytes: Buffer, start: number, end: number): void {
    let sum = this.#sum;
    for (let at = start; at < end; at += 1) sum = ((sum << 8) & 0xff00) ^ (table16[(sum >> 8) ^ (bytes[at] ?? 0)] ?? 0);
    this.#sum = sum;
    this.#hasBytes ||= end > start;
  }

  get isWhole(): boolean {
    return this.#hasBytes && this.#sum === 0;
  }
}
