import type { ResponseStatus, StoredResponse } from '../../conversations/response-store.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import type { Target } from '../routing/routing-table.ts';
import type { OpenTurn } from './open-turn.ts';

const dayMs = 86_400_000;

const statuses: readonly string[] = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] satisfies ResponseStatus[];

function isStatus(value: unknown): value is ResponseStatus {
  return typeof value === 'string' && statuses.includes(value);
}

export type RecordedTurn = {
  readonly previous: StoredResponse | undefined;
  readonly conversationId: string | undefined;
  readonly input: readonly JsonObject[];
};

/** Keeps the reply of a turn, and appends it to its conversation. */
export function createRecorder(
  { gateway, caller, settings, call }: OpenTurn,
  { previous, conversationId, input }: RecordedTurn,
): {
  readonly record: (response: JsonObject, target: Target, isNative: boolean) => Promise<void>;
  readonly close: () => void;
} {
  const { conversations, clock, logger } = gateway;
  const { userName, id: keyId } = caller;
  const retentionMs = (caller.responseRetentionDays ?? settings.responseRetentionDays) * dayMs;
  let isClosed = false;

  const close = (): void => {
    if (conversationId === undefined || isClosed) return;
    isClosed = true;
    conversations.unlockConversation(userName, conversationId, call.callId).catch((error: unknown) => {
      // It becomes free by itself when its time is over.
      logger.warn({ callId: call.callId, err: error }, 'a conversation could not be released');
    });
  };

  const save = async (response: JsonObject, target: Target, isNative: boolean): Promise<void> => {
    const { id, status } = response;
    if (typeof id !== 'string' || !isStatus(status)) return;
    const createdAtMs = clock.nowMs();
    const { upstream } = target;
    const isKept = isNative && upstream.vendor.keepsResponses === true && response.store !== false;
    await conversations.saveResponse({
      id,
      userName,
      keyId,
      createdAtMs,
      expiresAtMs: createdAtMs + retentionMs,
      status,
      ...(previous === undefined ? {} : { previousResponseId: previous.id }),
      ...(conversationId === undefined ? {} : { conversationId }),
      ...(isKept ? { keeper: { upstream: upstream.id, credential: upstream.credentialId } } : {}),
      input,
      response,
    });
    if (conversationId === undefined || (status !== 'completed' && status !== 'incomplete')) return;
    const output = Array.isArray(response.output) ? response.output.filter(isJsonObject) : [];
    await conversations.appendItems(userName, conversationId, [...input, ...output]);
  };

  return {
    record: async (response, target, isNative) => {
      try {
        await save(response, target, isNative);
      } catch (error) {
        // The reply is there and paid for: the client gets it. That it cannot be gone on from is the operator's to know.
        logger.error({ callId: call.callId, err: error }, 'a response could not be stored');
      } finally {
        close();
      }
    },
    close,
  };
}
