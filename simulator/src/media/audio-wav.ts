import { sampleRate, toBytes } from './audio-pcm.ts';

const unknownLength = 0xffffffff;

/**
 * A WAVE file with its comment in a LIST INFO chunk before the samples. `isStreamed` writes lengths of 0xFFFFFFFF, like
 * a service that sends the head before it knows the end.
 */
export function writeWav(samples: Int16Array, comment: string, isStreamed: boolean): Buffer {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(sampleRate, 4);
  format.writeUInt32LE(sampleRate * 2, 8);
  format.writeUInt16LE(2, 12);
  format.writeUInt16LE(16, 14);
  const info = Buffer.concat([
    Buffer.from('INFO'),
    chunk('INAM', Buffer.from('Simulated speech\0')),
    chunk('ICMT', Buffer.from(`${comment}\0`)),
  ]);
  const data = toBytes(samples);
  const head = Buffer.concat([Buffer.from('WAVE'), chunk('fmt ', format), chunk('LIST', info)]);
  return Buffer.concat([
    Buffer.from('RIFF'),
    lengthOf(isStreamed ? unknownLength : head.length + 8 + data.length),
    head,
    Buffer.from('data'),
    lengthOf(isStreamed ? unknownLength : data.length),
    data,
  ]);
}

function chunk(name: string, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(name), lengthOf(bytes.length), bytes, Buffer.alloc(bytes.length % 2)]);
}

function lengthOf(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(length);
  return bytes;
}
