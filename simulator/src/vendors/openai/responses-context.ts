import { createHash } from 'node:crypto';
import { asText, isRecord, recordsOf } from '../../read-json.ts';
import type { JsonRecord, SimulatedRequest } from '../../simulated-vendor.ts';
import { refuse } from './responses-error.ts';
import type { ResponsesRequest } from './responses-request-schema.ts';

/**
 * A response that can be read, continued and deleted. It contains the whole conversation, so that an earlier one can be
 * deleted.
 */
export type StoredResponse = {
  readonly owner: string;
  readonly response: JsonRecord;
  /** The items of all earlier turns, oldest first. */
  readonly earlierItems: readonly JsonRecord[];
  readonly inputItems: readonly JsonRecord[];
};

/** The subject of a call: the conversation so far and this call's own items, with resolved references. */
export type ResponsesContext = { readonly earlierItems: readonly JsonRecord[]; readonly inputItems: readonly JsonRecord[] };

/**
 * Collects the conversation of a call. Refuses unknown previous responses, unknown references, and reasoning that was
 * not stored.
 */
export function gatherContext(request: SimulatedRequest, body: ResponsesRequest): ResponsesContext {
  const earlierItems = readEarlierItems(request, body);
  return { earlierItems, inputItems: readInputItems(body).map((item) => resolveItem(request, item)) };
}

/** The items of the input; a text is one user message. */
export function readInputItems(body: ResponsesRequest): readonly JsonRecord[] {
  if (typeof body.input === 'string') return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: body.input }] }];
  return recordsOf(body.input);
}

/** Finds a stored response of this caller; another caller's is as unknown as one that never existed. */
export function readStoredResponse(request: SimulatedRequest, id: string): StoredResponse | undefined {
  const stored = request.memory?.get(responseKey(id));
  if (!isRecord(stored) || stored.owner !== ownerOf(request)) return undefined;
  const { owner, response, earlierItems, inputItems } = stored;
  return {
    owner,
    response: isRecord(response) ? response : {},
    earlierItems: recordsOf(earlierItems),
    inputItems: recordsOf(inputItems),
  };
}

export function storeResponse(request: SimulatedRequest, response: JsonRecord, context: ResponsesContext): void {
  const owner = ownerOf(request);
  const inputItems = context.inputItems.map((item, index) => ({
    id: `msg_${asText(response.id).slice('resp_'.length)}in${index}`,
    ...item,
  }));
  request.memory?.set(responseKey(asText(response.id)), { owner, response, earlierItems: [...context.earlierItems], inputItems });
  for (const item of [...inputItems, ...outputItems(response)]) {
    if (typeof item.id === 'string') request.memory?.set(itemKey(item.id), { owner, item });
  }
}

/** Deletes a response. Its continuations keep their copy of the conversation. */
export function deleteStoredResponse(request: SimulatedRequest, id: string): void {
  request.memory?.delete(responseKey(id));
}

export function outputItems(response: JsonRecord): readonly JsonRecord[] {
  return recordsOf(response.output);
}

function readEarlierItems(request: SimulatedRequest, body: ResponsesRequest): readonly JsonRecord[] {
  const id = body.previous_response_id;
  if (id === undefined || id === null) return [];
  const previous = readStoredResponse(request, id);
  if (!previous) {
    throw refuse(`Previous response with id '${id}' not found.`, { param: 'previous_response_id', code: 'previous_response_not_found' });
  }
  return [...previous.earlierItems, ...previous.inputItems, ...outputItems(previous.response)];
}

function resolveItem(request: SimulatedRequest, item: JsonRecord): JsonRecord {
  const id = item.id;
  if (typeof id !== 'string') return item;
  const isReference = item.type === 'item_reference';
  const isBareReasoning = item.type === 'reasoning' && typeof item.encrypted_content !== 'string';
  if (!isReference && !isBareReasoning) return item;
  const stored = request.memory?.get(itemKey(id));
  if (isRecord(stored) && stored.owner === ownerOf(request) && isRecord(stored.item)) return stored.item;
  const advice = 'Try again with `store` set to true, or remove this item from your input.';
  throw refuse(`Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. ${advice}`, {
    status: 404,
    param: 'input',
  });
}

function responseKey(id: string): string {
  return `responses/response/${id}`;
}

function itemKey(id: string): string {
  return `responses/item/${id}`;
}

/** The credential represents the project that owns the stored objects; stored as a digest. */
function ownerOf(request: SimulatedRequest): string {
  return createHash('sha256')
    .update(request.headers.authorization ?? '')
    .digest('base64url');
}
