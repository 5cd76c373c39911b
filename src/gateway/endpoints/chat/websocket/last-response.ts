import { membersOf, objectsOf, textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/** A response of this connection that is not stored, for the next request. */
type RememberedResponse = {
  readonly id: string;
  /** The stored response before it. */
  readonly previousResponseId: string | undefined;
  readonly items: readonly JsonObject[];
};

/** A request with its history inserted. */
export type ExpandedRequest = { readonly body: JsonObject; readonly isContinued: boolean };

/**
 * Remembers the last response of a connection if it is not stored, so that the next request can continue it with only
 * its new items. It remembers one response, and no longer than the connection lasts.
 */
export class LastResponse {
  readonly #bytesMax: number;
  #last: RememberedResponse | undefined;

  /** @param bytesMax the most bytes of the items as JSON: a request could not have more either */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Inserts the items of the response that the request continues, if that is the remembered one. */
  continue(body: JsonObject): ExpandedRequest {
    const last = this.#last;
    if (last === undefined || body.previous_response_id !== last.id) return { body, isContinued: false };
    const input = [...last.items, ...readItems(body.input)];
    const { previous_response_id: _remembered, ...rest } = body;
    const previous = last.previousResponseId === undefined ? {} : { previous_response_id: last.previousResponseId };
    return { body: { ...rest, ...previous, input }, isContinued: true };
  }

  /** @param body the request of the response, with its history */
  remember(body: JsonObject, response: JsonObject): void {
    this.#last = undefined;
    const id = textOf(response.id);
    if (id === undefined) return;
    const items = [...readItems(body.input), ...objectsOf(response.output).flatMap(asInput)];
    if (JSON.stringify(items).length > this.#bytesMax) return;
    this.#last = { id, previousResponseId: textOf(body.previous_response_id), items };
  }

  /** Forgets a response that could not be continued: the client then sends everything again. */
  forget(): void {
    this.#last = undefined;
  }
}

function readItems(input: unknown): readonly JsonObject[] {
  return typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : objectsOf(input);
}

/**
 * An output item as input. An upstream that does not store it would look for its id and fail. Reasoning without its
 * encrypted content cannot be repeated at all.
 */
function asInput(item: JsonObject): readonly JsonObject[] {
  if (item.type === 'reasoning') return textOf(item.encrypted_content) === undefined ? [] : [item];
  if (item.type !== 'message' && item.type !== 'function_call' && item.type !== 'custom_tool_call') return [item];
  const { id: _id, ...rest } = item;
  return [rest];
}

/** An event as the client of a continued response expects it: with the id of the previous response. */
export function namePrevious(event: JsonObject, previousResponseId: string): JsonObject {
  return event.response === undefined
    ? event
    : { ...event, response: { ...membersOf(event.response), previous_response_id: previousResponseId } };
}
