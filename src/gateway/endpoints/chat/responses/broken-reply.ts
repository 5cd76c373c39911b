import { describeStreamError } from '../../../../dialects/openai-responses/encode-stream-error.ts';
import { OutputSoFar } from '../../../../dialects/openai-responses/output-so-far.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import type { StreamEvent } from '../../../../platform/frames.ts';
import { objectOf, objectsOf, textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/** What is kept unread of a stream, in characters. Most replies are short, end well, and are never read a second time. */
const unreadMax = 65_536;

/** What a stream has told its client of the output: asked only when it breaks. */
export class ToldOutput {
  readonly #output = new OutputSoFar();
  #unread: StreamEvent[] = [];
  #characters = 0;

  add(events: readonly StreamEvent[]): void {
    for (const event of events) {
      this.#unread.push(event);
      this.#characters += event.data.length;
    }
    if (this.#characters > unreadMax) this.#read();
  }

  #read(): void {
    for (const event of this.#unread) {
      const object = event.object();
      const type = textOf(object?.type);
      if (object !== undefined && type !== undefined) this.#output.read(type, object);
    }
    this.#unread = [];
    this.#characters = 0;
  }

  items(): readonly JsonObject[] {
    this.#read();
    return this.#output.items();
  }
}

/**
 * A response that broke after its client had seen it begin, as its client was told of it: failed, with the error, and with what it had said.
 * @param begun the response as far as its stream had introduced it
 */
export function describeBroken(begun: JsonObject, output: readonly JsonObject[], error: GatewayError): JsonObject {
  if (begun.status === 'failed') return objectsOf(begun.output).length > 0 ? begun : { ...begun, output };
  const ending = describeStreamError(error, { framesSent: 0, partialResponse: begun });
  return { ...begun, status: 'failed', ...lastResponse(ending), output };
}

/** The response in the last of some events, where that tells one. */
export function lastResponse(events: readonly StreamEvent[]): JsonObject | undefined {
  return objectOf(events.at(-1)?.object()?.response);
}
