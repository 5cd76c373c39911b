/**
 * One unit of a streamed reply: a server-sent event, or one element of a streamed JSON array.
 * `bytes` is the unit exactly as it came, its terminator included, so that joining the bytes of all frames gives the body again.
 */
export type Frame = {
  readonly bytes: Buffer;
  /** The `event:` field, where there is one. */
  readonly event: string | undefined;
  /** The payload: all `data:` lines joined by LF, or the array element. Empty for comments and for array brackets. */
  readonly data: string;
};

/** Cuts a byte stream into frames. Pure: no I/O, no timers. Throws FrameTooLargeError when a frame passes the limit. */
export type FrameReader = {
  /** Takes the next chunk and returns the frames that it completes, in order. */
  readonly push: (chunk: Buffer) => readonly Frame[];
  /** The bytes of a frame that has begun and not ended. Non-empty at the end of a body means that the body was cut. */
  readonly rest: () => Buffer;
};

export class FrameTooLargeError extends Error {
  readonly bytesMax: number;
  constructor(bytesMax: number) {
    super(`a stream event is larger than ${bytesMax} bytes`);
    this.name = 'FrameTooLargeError';
    this.bytesMax = bytesMax;
  }
}

export type StreamFraming = 'sse' | 'json-array';
