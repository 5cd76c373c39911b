import type { TranslationNote } from '../../../../inference/translation-notes.ts';
import type { StreamEvent } from '../../../../platform/frames.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/** How a reply of Messages is written for the clients of one of Bedrock's methods. Each call has its own. */
export type BedrockForm = {
  /** Headers of its streams, besides those of all. */
  readonly streamHeaders: Readonly<Record<string, string>>;
  /** Changes that reading the request has made. */
  readonly notes: () => readonly TranslationNote[];
  readonly encodeReply: (
    reply: JsonObject,
    body: Buffer,
    elapsedMs: number,
  ) => { readonly body: Buffer; readonly headers?: Readonly<Record<string, string>> };
  /** The frames for an event that is not an error; empty if there is none. */
  readonly encodeEvent: (event: StreamEvent, elapsedMs: number) => Buffer;
  /** The exception of its streams for one of InvokeModel's. */
  readonly exceptionOf: (type: string) => string;
  /** An error's message with the names that its clients have for fields. */
  readonly wordError: (message: string) => string;
};
