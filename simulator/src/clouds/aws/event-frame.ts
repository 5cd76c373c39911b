import { crc32 } from 'node:zlib';

const textType = 7;

function writeHeader(name: string, value: string): Buffer {
  const nameBytes = Buffer.from(name);
  const valueBytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([textType]), length, valueBytes]);
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** Writes a message of the binary event stream, with headers that are texts. */
function writeEventFrame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => writeHeader(name, value)));
  const body = Buffer.from(payload);
  const prelude = Buffer.concat([number(16 + head.length + body.length), number(head.length)]);
  const message = Buffer.concat([prelude, number(crc32(prelude)), head, body]);
  return Buffer.concat([message, number(crc32(message))]);
}

/** An event of a stream. */
export function writeEvent(type: string, payload: string): Buffer {
  return writeEventFrame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, payload);
}

/** A frame with one wrong byte in its payload. */
export function damage(frame: Buffer): Buffer {
  const damaged = Buffer.from(frame);
  const place = damaged.length - 8;
  damaged[place] = (damaged[place] ?? 0) ^ 0x01;
  return damaged;
}

/** An exception that ends a stream. */
export function writeException(type: string, message: string): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' };
  return writeEventFrame(headers, JSON.stringify({ message }));
}
