import { crc32 } from 'node:zlib';

import { DamagedFrameError, Frame, type FrameReader, FrameTooLargeError } from '../frames.ts';

/** Total length, length of the headers, and the checksum of both. */
const preludeBytes = 12;
/** The prelude, and the checksum of the whole message at its end. */
const overheadBytes = 16;

/** The bytes of a value of each type of header that has a fixed size; types 6 and 7 begin with their length. */
const sizes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const lengthPrefixed = new Set([6, 7]);
const textType = 7;

/**
 * Reads the binary event stream of AWS, big-endian: `u32 length | u32 length of the headers | u32 crc32 of both |
 * headers | payload | u32 crc32`. A frame has the kind of its event in `event`, or `exception:` or `error:` and its
 * kind; `data` is the text of the payload. Source: "event stream encoding" in the documentation of Amazon Lex.
 */
export function createEventStreamReader({ frameBytesMax }: { readonly frameBytesMax: number }): FrameReader {
  let held: Buffer = Buffer.alloc(0);
  /** Chunks of a frame that is longer than what has come. They are joined once, when it is whole. */
  let later: Buffer[] = [];
  let laterBytes = 0;
  let needed = preludeBytes;
  const join = (): void => {
    if (later.length > 0) held = Buffer.concat([held, ...later], held.length + laterBytes);
    later = [];
    laterBytes = 0;
  };
  return {
    push: (chunk) => {
      later.push(chunk);
      laterBytes += chunk.length;
      if (held.length + laterBytes < needed) return [];
      join();
      const frames: Frame[] = [];
      for (;;) {
        const length = readLength(held, frameBytesMax);
        needed = length ?? preludeBytes;
        if (length === undefined || held.length < length) break;
        frames.push(readMessage(held.subarray(0, length)));
        held = held.subarray(length);
      }
      return frames;
    },
    rest: () => {
      join();
      return held;
    },
  };
}

/** The length of the first message. Undefined until its prelude has come. */
function readLength(bytes: Buffer, frameBytesMax: number): number | undefined {
  if (bytes.length < preludeBytes) return undefined;
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw new DamagedFrameError('the checksum of its length is wrong');
  const length = bytes.readUInt32BE(0);
  if (length > frameBytesMax) throw new FrameTooLargeError(frameBytesMax);
  if (bytes.readUInt32BE(4) > length - overheadBytes) throw new DamagedFrameError('its headers are longer than itself');
  return length;
}

function readMessage(message: Buffer): Frame {
  const end = message.length - 4;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) throw new DamagedFrameError('its checksum is wrong');
  const headersEnd = preludeBytes + message.readUInt32BE(4);
  const headers = readHeaders(message.subarray(preludeBytes, headersEnd));
  const payload = message.toString('utf8', headersEnd, end);
  const type = headers.get(':message-type');
  if (type === 'exception') return new Frame(message, `exception:${headers.get(':exception-type') ?? ''}`, payload);
  if (type !== 'error') return new Frame(message, headers.get(':event-type'), payload);
  const words = JSON.stringify({ message: headers.get(':error-message') ?? '' });
  return new Frame(message, `error:${headers.get(':error-code') ?? ''}`, payload === '' ? words : payload);
}

/** The headers whose values are texts. */
function readHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  const take = (length: number): Buffer => {
    const end = at + length;
    if (end > bytes.length) throw new DamagedFrameError('a header ends behind the headers');
    const taken = bytes.subarray(at, end);
    at = end;
    return taken;
  };
  while (at < bytes.length) {
    const name = take(take(1)[0] ?? 0).toString('utf8');
    const type = take(1)[0] ?? -1;
    const size = lengthPrefixed.has(type) ? take(2).readUInt16BE(0) : sizes[type];
    if (size === undefined) throw new DamagedFrameError(`it has a header of the unknown type ${type}`);
    const value = take(size);
    if (type === textType) headers.set(name, value.toString('utf8'));
  }
  return headers;
}
