import { isJsonObject, type JsonObject, type JsonValue } from './json/json-value.ts';
import { parseIfJson } from './json/parse-if-json.ts';

/** Marks a payload that is not parsed yet. JSON has no such value. */
const unread = Symbol('unread');

/** The content of one unit of a stream: JSON, and in some dialects a name. It is parsed once for all readers. */
export class StreamEvent {
  /** The `event:` field, if there is one. */
  readonly event: string | undefined;
  /** The payload as text. */
  readonly data: string;
  #value: JsonValue | undefined | typeof unread = unread;

  constructor(event: string | undefined, data: string) {
    this.event = event;
    this.data = data;
  }

  /** The payload; undefined if it is not JSON. */
  value(): JsonValue | undefined {
    if (this.#value === unread) this.#value = parseIfJson(this.data);
    return this.#value;
  }

  /** The payload if it is an object. */
  object(): JsonObject | undefined {
    const value = this.value();
    return isJsonObject(value) ? value : undefined;
  }
}

/**
 * One unit of a streamed reply as it was received: a server-sent event, or one element of a streamed JSON array. Its
 * data are all `data:` lines joined by LF, or the element. They are empty for comments and for array brackets.
 */
export class Frame extends StreamEvent {
  /** The exact bytes received, with the terminator. The bytes of all frames, joined, are the body. */
  readonly bytes: Buffer;

  constructor(bytes: Buffer, event: string | undefined, data: string) {
    super(event, data);
    this.bytes = bytes;
  }
}

/**
 * Cuts a byte stream into frames. Pure: no I/O, no timers. Throws FrameTooLargeError when a frame exceeds the limit.
 */
export type FrameReader = {
  /** Takes the next chunk and returns the frames that it completes, in order. */
  readonly push: (chunk: Buffer) => readonly Frame[];
  /** The bytes of a frame that has begun and not ended. Non-empty at the end of a body means that the body was cut. */
  readonly rest: () => Buffer;
  /** Whether the next byte begins a frame that is not the first. Absent if the reader cannot be passed over. */
  readonly isBetweenFrames?: () => boolean;
};

export class FrameTooLargeError extends Error {
  readonly bytesMax: number;
  constructor(bytesMax: number) {
    super(`a stream event is larger than ${bytesMax} bytes`);
    this.name = 'FrameTooLargeError';
    this.bytesMax = bytesMax;
  }
}

/** A frame whose bytes do not have its checksum, or contradict themselves. What follows cannot be read. */
export class DamagedFrameError extends Error {
  constructor(reason: string) {
    super(`a stream event is damaged: ${reason}`);
    this.name = 'DamagedFrameError';
  }
}

export type StreamFraming = 'sse' | 'json-array' | 'aws-event-stream';
