import type { ErrorVoice } from '../../../../dialects/error-voice.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import { objectOf, objectsOf, textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../../platform/json/parse-json.ts';
import { OutputSoFar } from '../../../../dialects/openai-responses/output-so-far.ts';

/** What is kept unread of a stream. Most replies are short, end well, and are never read a second time. */
const unreadBytesMax = 65_536;

const dataLine = /^data: ?(.*)$/gm;

/** What a stream has told its client of the output: asked only when it breaks. */
export class ToldOutput {
  readonly #output = new OutputSoFar();
  #unread: Buffer[] = [];
  #bytes = 0;

  add(events: Buffer): void {
    this.#unread.push(events);
    this.#bytes += events.length;
    if (this.#bytes > unreadBytesMax) this.#read();
  }

  #read(): void {
    const text = Buffer.concat(this.#unread).toString();
    this.#unread = [];
    this.#bytes = 0;
    for (const [, data = ''] of text.matchAll(dataLine)) {
      const event = parseJsonObject(data);
      const type = textOf(event?.type);
      if (event !== undefined && type !== undefined) this.#output.read(type, event);
    }
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
export function describeBroken(
  { encodeStreamError }: Pick<ErrorVoice, 'encodeStreamError'>,
  begun: JsonObject,
  output: readonly JsonObject[],
  error: GatewayError,
): JsonObject {
  if (begun.status === 'failed') return objectsOf(begun.output).length > 0 ? begun : { ...begun, output };
  const ending = encodeStreamError(error, { framing: 'sse', requestId: '', framesSent: 0, partialResponse: begun }).toString();
  return { ...begun, status: 'failed', ...lastResponse(ending), output };
}

/** The response in the last of some events, where that tells one. */
export function readLastResponse(events: Buffer): JsonObject | undefined {
  return lastResponse(events.toString());
}

function lastResponse(events: string): JsonObject | undefined {
  return Array.from(events.matchAll(dataLine), ([, data = '']) => objectOf(parseJsonObject(data)?.response)).at(-1);
}
