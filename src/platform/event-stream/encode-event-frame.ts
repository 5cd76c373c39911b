import { crc32 } from 'node:zlib';

/** The bytes of a frame before its headers: its length, the length of its headers, and their checksum. */
const preludeBytes = 12;
const checksumBytes = 4;
/** The type of a header whose value is a text, with its length in two bytes. */
const textHeader = 7;

/**
 * Encodes one frame of `application/vnd.amazon.eventstream`: lengths and checksums are 32 bits, big-endian.
 * @param headers names of at most 255 bytes and values of at most 65,535
 */
export function encodeEventFrame(headers: Readonly<Record<string, string>>, payload: Buffer): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(encodeHeader));
  const length = preludeBytes + head.length + payload.length + checksumBytes;
  const frame = Buffer.allocUnsafe(length);
  frame.writeUInt32BE(length, 0);
  frame.writeUInt32BE(head.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  frame.set(head, preludeBytes);
  frame.set(payload, preludeBytes + head.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, length - checksumBytes)), length - checksumBytes);
  return frame;
}

function encodeHeader([name, value]: readonly [string, string]): Buffer {
  const nameBytes = Buffer.from(name);
  const valueBytes = Buffer.from(value);
  const size = Buffer.alloc(2);
  size.writeUInt16BE(valueBytes.length);
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([textHeader]), size, valueBytes]);
}
