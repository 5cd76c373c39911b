import { GatewayError } from '../inference/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../platform/json/json-value.ts';
import type { ItemPlace, SealedResponse } from './conversation-store.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { isStorableId, requireStorableId } from './storable-id.ts';
import type { Conversations, StoredResponse } from './response-store.ts';
import { writeJson } from '../platform/json/write-json.ts';
import { largeBodyBytes, WorkSlices } from '../platform/yield-queue.ts';
import { readOpenedHead, readOpenedObjects, readOpenedTexts, type ResponseHead } from './read-opened.ts';

/** Reads and writes the sealed parts of a response besides its items. */
/** The error of a response whose process has died. */
const stoppedError: JsonObject = {
  code: 'server_error',
  message: 'the gateway stopped before this response was complete',
};

type StoredResponses = Pick<
  Conversations,
  'saveResponse' | 'findResponse' | 'deleteResponse' | 'extendLease' | 'appendEvents' | 'readEvents'
>;

export function createStoredResponses(parts: ConversationParts): StoredResponses {
  const { store, write, sealer, clock } = parts;
  const named = (userName: string, id: string) => ({ userName, id, nowMs: clock.nowMs() });

  /** Marks a response as failed because its lease has expired. */
  async function failLapsed(row: SealedResponse, leaseUntilMs: number, head: ResponseHead): Promise<void> {
    const failed: ResponseHead = { ...head, response: { ...head.response, status: 'failed', error: stoppedError } };
    const sealed = await sealer.seal(['response', row.userName, row.id], JSON.stringify(failed));
    await write({ type: 'fail-response', ...named(row.userName, row.id), leaseUntilMs, head: sealed });
  }

  async function find(userName: string, id: string): Promise<StoredResponse | undefined> {
    const row = await store.findSealedResponse(named(userName, id));
    if (row === undefined) return undefined;
    const { leaseUntilMs } = row;
    if (!isUnfinished(row) || leaseUntilMs === undefined || leaseUntilMs > clock.nowMs()) return await openResponse(parts, row);
    // This process or another may have marked it, or its generation may have ended after all. The stored state counts.
    await failLapsed(row, leaseUntilMs, await openHead(parts, row));
    const now = await store.findSealedResponse(named(userName, id));
    return now === undefined ? undefined : await openResponse(parts, now);
  }

  return {
    saveResponse: async (response) => {
      requireStorableId(response.id);
      return (await write({ type: 'put-response', ...(await sealResponse(parts, response)) })) === 'done';
    },
    findResponse: async (userName, id) => (isStorableId(id) ? await find(userName, id) : undefined),
    deleteResponse: async (userName, id) =>
      isStorableId(id) && (await write({ type: 'delete-response', ...named(userName, id) })) === 'done',
    extendLease: async (userName, id, untilMs) =>
      isStorableId(id) && (await write({ type: 'extend-lease', ...named(userName, id), untilMs })) === 'done',
    appendEvents: async (userName, id, firstSequence, events) => {
      if (events.length === 0 || !isStorableId(id)) return;
      const sealed = await sealer.seal(['events', userName, id, String(firstSequence)], JSON.stringify(events));
      await write({ type: 'append-events', ...named(userName, id), firstSequence, count: events.length, sealed });
    },
    readEvents: async (userName, id, after, limit) => {
      if (!isStorableId(id)) return [];
      const events: string[] = [];
      for (const { firstSequence, sealed } of await store.readSealedEvents({ ...named(userName, id), after, limit })) {
        const batch = readOpenedTexts('list of events', await sealer.open(['events', userName, id, String(firstSequence)], sealed));
        events.push(...batch.slice(Math.max(0, after + 1 - firstSequence)));
      }
      return events.slice(0, limit);
    },
  };
}

function isUnfinished({ status }: SealedResponse): boolean {
  return status === 'queued' || status === 'in_progress';
}

async function sealResponse(
  { sealer, limits }: ConversationParts,
  stored: StoredResponse,
): Promise<{ readonly response: SealedResponse; readonly items: readonly ItemPlace[] }> {
  const { input, response, keeper, ...clear } = stored;
  const output = readOutput(response);
  const head: ResponseHead = { response: { ...response, output: [] }, ...(keeper === undefined ? {} : { keeper }) };
  const slices = new WorkSlices();
  const texts = { head: await writeJson(head), output: await writeJson(output), input: await writeJson(input) };
  const bytes = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  if (bytes > largeBodyBytes) await slices.yield();
  if (bytes > limits.responseBytesMax) {
    throw new GatewayError('request_too_large', `a response with ${bytes} bytes cannot be stored; the limit is ${limits.responseBytesMax}`);
  }
  const { userName, id } = stored;
  const [sealedHead, sealedInput, sealedOutput] = await Promise.all([
    sealer.seal(['response', userName, id], texts.head),
    sealer.seal(['input', userName, id], texts.input),
    sealer.seal(['output', userName, id], texts.output),
  ]);
  const places = new Map<string, ItemPlace>();
  const place = (items: readonly JsonObject[], part: ItemPlace['part']): void => {
    for (const item of items) {
      if (typeof item['id'] !== 'string') continue;
      const key = sealer.itemKey(userName, item['id']);
      places.set(key, { key, part });
    }
  };
  place(input, 'input');
  place(output, 'output');
  return { response: { ...clear, head: sealedHead, input: sealedInput, output: sealedOutput }, items: [...places.values()] };
}

function readOutput(response: JsonObject): readonly JsonObject[] {
  const output = response['output'];
  return Array.isArray(output) ? output.filter(isJsonObject) : [];
}

async function openHead({ sealer }: ConversationParts, { userName, id, head }: SealedResponse): Promise<ResponseHead> {
  return readOpenedHead(await sealer.open(['response', userName, id], head));
}

async function openResponse(parts: ConversationParts, row: SealedResponse): Promise<StoredResponse> {
  const { head: _head, input: _input, output: _output, ...clear } = row;
  const { response, keeper } = await openHead(parts, row);
  const input = readOpenedObjects('input', await parts.sealer.open(['input', row.userName, row.id], row.input));
  const output = readOpenedObjects('output', await parts.sealer.open(['output', row.userName, row.id], row.output));
  return { ...clear, input, response: { ...response, output }, ...(keeper === undefined ? {} : { keeper }) };
}
