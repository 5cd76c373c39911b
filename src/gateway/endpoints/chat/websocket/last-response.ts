import { membersOf, objectsOf, textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/** A response of this connection that nobody stores: what the next one goes on from. */
type Remembered = {
  readonly id: string;
  /** The stored response before it. */
  readonly previousResponseId: string | undefined;
  readonly items: readonly JsonObject[];
};

/** A request whose history was put in. */
export type Continued = { readonly body: JsonObject; readonly isContinued: boolean };

/**
 * Remembers the last response of a connection where it is stored nowhere else, so that the next request can go on from it with its new items alone. One
 * response, and no longer than the connection.
 */
export class LastResponse {
  readonly #bytesMax: number;
  #last: Remembered | undefined;

  /** @param bytesMax the most that the items may take, as JSON: a request could not hold more either */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The request with the items of the response that it goes on from, where that is the one that is remembered. */
  continue(body: JsonObject): Continued {
    const last = this.#last;
    if (last === undefined || body.previous_response_id !== last.id) return { body, isContinued: false };
    const input = [...last.items, ...readItems(body.input)];
    const { previous_response_id: _remembered, ...rest } = body;
    const previous = last.previousResponseId === undefined ? {} : { previous_response_id: last.previousResponseId };
    return { body: { ...rest, ...previous, input }, isContinued: true };
  }

  /** @param body the request that it answers, with its history */
  remember(body: JsonObject, response: JsonObject): void {
    this.#last = undefined;
    const id = textOf(response.id);
    if (id === undefined) return;
    const items = [...readItems(body.input), ...objectsOf(response.output).flatMap(asInput)];
    if (JSON.stringify(items).length > this.#bytesMax) return;
    this.#last = { id, previousResponseId: textOf(body.previous_response_id), items };
  }

  /** A response that could not be continued is forgotten: its client sends everything again. */
  forget(): void {
    this.#last = undefined;
  }
}

function readItems(input: unknown): readonly JsonObject[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : objectsOf(input);
}

/**
 * An item that was said, as it is said again. Upstreams that do not store it take its id for the name of something that they should know; reasoning
 * without its encrypted content cannot be said again at all.
 */
function asInput(item: JsonObject): readonly JsonObject[] {
  if (item.type === 'reasoning') return textOf(item.encrypted_content) === undefined ? [] : [item];
  if (item.type !== 'message' && item.type !== 'function_call' && item.type !== 'custom_tool_call') return [item];
  const { id: _id, ...rest } = item;
  return [rest];
}

/** An event as the client of a continued response expects it: it names the response that was gone on from. */
export function namePrevious(event: JsonObject, previousResponseId: string): JsonObject {
  return event.response === undefined
    ? event
    : { ...event, response: { ...membersOf(event.response), previous_response_id: previousResponseId } };
}
