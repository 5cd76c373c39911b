import type { ResponseStatus, StoredResponse } from '../../../../conversations/response-store.ts';
import { isJsonObject, type JsonObject } from '../../../../platform/json/json-value.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { OpenTurn } from './opened-turn.ts';
import type { ResponseRecord, ResponseTurn } from './response-turn.ts';

const dayMs = 86_400_000;

/** How long the end of a reply waits until it is kept: beyond that somebody holds the database, and the client has waited enough. */
const keepWaitMs = 3000;

const statuses: readonly string[] = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] satisfies ResponseStatus[];

function isStatus(value: unknown): value is ResponseStatus {
  return typeof value === 'string' && statuses.includes(value);
}

export type RecordedTurn = {
  readonly previous: StoredResponse | undefined;
  readonly conversationId: string | undefined;
  readonly input: readonly JsonObject[];
};

/** What a turn keeps, and how. */
export type Recorder = Pick<ResponseTurn, 'record' | 'describe' | 'conclude' | 'close'>;

/** Keeps the reply of a turn, and appends it to its conversation. */
export function createRecorder(
  { gateway, caller, settings, call }: OpenTurn,
  { previous, conversationId, input }: RecordedTurn,
  replyId: string,
): Recorder {
  const { conversations, clock, logger } = gateway;
  const { userName, id: keyId } = caller;
  const retentionMs = (caller.responseRetentionDays ?? settings.responseRetentionDays) * dayMs;
  let isClosed = false;
  let isKeeping = false;

  const release = (): void => {
    if (conversationId === undefined || isClosed) return;
    isClosed = true;
    conversations.unlockConversation(userName, conversationId, call.callId).catch((error: unknown) => {
      // It becomes free by itself when its time is over.
      logger.warn({ callId: call.callId, err: error }, 'a conversation could not be released');
    });
  };

  const describe = (id = replyId): ResponseRecord => {
    const createdAtMs = clock.nowMs();
    return {
      id,
      userName,
      keyId,
      createdAtMs,
      expiresAtMs: createdAtMs + retentionMs,
      ...(previous === undefined ? {} : { previousResponseId: previous.id }),
      ...(conversationId === undefined ? {} : { conversationId }),
      input,
    };
  };

  const save = async (response: JsonObject, { upstream }: Target, isNative: boolean): Promise<void> => {
    const { id, status } = response;
    if (typeof id !== 'string' || !isStatus(status)) return;
    const isKept = isNative && upstream.vendor.keepsResponses === true && response.store !== false;
    const keeper = isKept ? { keeper: { upstream: upstream.id, credential: upstream.credentialId } } : {};
    await conversations.saveResponse({ ...describe(id), ...keeper, status, response });
  };

  const append = async ({ status, output }: JsonObject): Promise<void> => {
    if (conversationId === undefined || (status !== 'completed' && status !== 'incomplete')) return;
    const said = Array.isArray(output) ? output.filter(isJsonObject) : [];
    await conversations.appendItems(userName, conversationId, [...input, ...said]);
  };

  const logged = (step: Promise<void>, what: string): Promise<void> =>
    step.catch((error: unknown) => {
      // The reply is there and paid for: the client gets it. That it cannot be gone on from is the operator's to know.
      logger.error({ callId: call.callId, err: error }, what);
    });

  const conclude = async (response: JsonObject): Promise<void> => {
    await logged(append(response), 'a response could not be added to its conversation');
    release();
  };

  const keep = async (response: JsonObject, target: Target, isNative: boolean): Promise<void> => {
    // What broke adds nothing to the conversation: the next response need not wait for it.
    if (response.status === 'failed') release();
    else isKeeping = true;
    await logged(save(response, target, isNative), 'a response could not be stored');
    await conclude(response);
  };

  return {
    describe,
    conclude,
    // The next turn of a conversation needs what this one says, also where this one's client no longer waits for it.
    close: () => {
      if (!isKeeping) release();
    },
    record: async (response, target, isNative) => {
      if (await endsWithin(keep(response, target, isNative), keepWaitMs)) return;
      logger.warn({ callId: call.callId }, 'a response is stored later than its client learns that it has ended');
    },
  };
}

/** Whether a step that never rejects has ended by then; it goes on in any case. */
async function endsWithin(step: Promise<void>, limitMs: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), limitMs);
  try {
    return await Promise.race([step.then((): true => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
