import type { TranslationNote } from '../../../../../inference/translation-notes.ts';
import type { StreamEvent } from '../../../../../platform/frames.ts';
import type { JsonObject } from '../../../../../platform/json/json-value.ts';
import { encodeBedrockEvent } from '../bedrock-events.ts';
import type { BedrockForm } from '../bedrock-form.ts';
import type { OpenedConverse } from './open-converse.ts';
import { wordForConverse } from './word-for-converse.ts';
import { ConverseStream, writeConverse } from './write-converse.ts';

/** Replies of Converse and ConverseStream. Source: the Bedrock API reference. */
export class ConverseForm implements BedrockForm {
  readonly streamHeaders = {};
  #request: OpenedConverse | undefined;
  readonly #stream = new ConverseStream(() => this.#request?.pointers ?? []);

  /** Called when the request was read. */
  readonly opened = (request: OpenedConverse): void => {
    this.#request = request;
  };

  notes(): readonly TranslationNote[] {
    return this.#request?.notes ?? [];
  }

  encodeReply(reply: JsonObject, _body: Buffer, elapsedMs: number): { readonly body: Buffer } {
    return { body: Buffer.from(JSON.stringify(writeConverse(reply, elapsedMs, this.#request?.pointers ?? []))) };
  }

  encodeEvent(event: StreamEvent, elapsedMs: number): Buffer {
    const events = this.#stream.write(event.event, event.object() ?? {}, elapsedMs);
    return Buffer.concat(events.map(([type, payload]) => encodeBedrockEvent(type, payload)));
  }

  /** Streams of Converse know no exception for a time that is over. */
  exceptionOf(type: string): string {
    return type === 'modelTimeoutException' ? 'modelStreamErrorException' : type;
  }

  wordError(message: string): string {
    return wordForConverse(message);
  }
}
