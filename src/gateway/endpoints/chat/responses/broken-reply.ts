import { describeStreamError } from '../../../../dialects/openai-responses/encode-stream-error.ts';
import { PartialOutput } from '../../../../dialects/openai-responses/partial-output.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import type { StreamEvent } from '../../../../platform/frames.ts';
import { objectOf, objectsOf, textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/**
 * Characters of a stream that are kept unparsed. Most replies are short, end well, and are never parsed a second time.
 */
const unparsedMax = 65_536;

/** The output that a stream has delivered to its client. It is needed only if the stream breaks. */
export class DeliveredOutput {
  readonly #output = new PartialOutput();
  #unparsed: StreamEvent[] = [];
  #characters = 0;

  add(events: readonly StreamEvent[]): void {
    for (const event of events) {
      this.#unparsed.push(event);
      this.#characters += event.data.length;
    }
    if (this.#characters > unparsedMax) this.#parse();
  }

  #parse(): void {
    for (const event of this.#unparsed) {
      const object = event.object();
      const type = textOf(object?.type);
      if (object !== undefined && type !== undefined) this.#output.read(type, object);
    }
    this.#unparsed = [];
    this.#characters = 0;
  }

  items(): readonly JsonObject[] {
    this.#parse();
    return this.#output.items();
  }
}

/**
 * A response whose stream broke after the client had received its beginning: failed, with the error and the output so
 * far.
 * @param begun the response as its stream had introduced it
 */
export function describeBroken(begun: JsonObject, output: readonly JsonObject[], error: GatewayError): JsonObject {
  if (begun.status === 'failed') return objectsOf(begun.output).length > 0 ? begun : { ...begun, output };
  const ending = describeStreamError(error, { framesSent: 0, partialResponse: begun });
  return { ...begun, status: 'failed', ...lastResponse(ending), output };
}

/** The response in the last of some events, if that event has one. */
export function lastResponse(events: readonly StreamEvent[]): JsonObject | undefined {
  return objectOf(events.at(-1)?.object()?.response);
}
