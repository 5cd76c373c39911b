import { type AnsweredCall, ConnectionSink } from './connection-sink.ts';

const ofBytes = { join: joinBytes, sizeOf: ({ length }: Buffer): number => length };

/** A client's connection as the sink of a reply in bytes. */
export function createByteSink(call: AnsweredCall): ConnectionSink<Buffer> {
  return new ConnectionSink(call, ofBytes);
}

function joinBytes(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces);
}
