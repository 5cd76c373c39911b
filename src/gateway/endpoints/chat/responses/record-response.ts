import type { ResponseStatus, StoredResponse } from '../../../../conversations/response-store.ts';
import { type JsonObject, isJsonObject } from '../../../../platform/json/json-value.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { ResponseRecord, ResponseTurn } from './response-turn.ts';
import type { IncomingCall } from '../incoming-call.ts';
import type { ApiKey } from '../../../../accounts/api-key.ts';
import type { WireRequest } from '../../../../dialects/wire-request.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { InlineFiles } from '../inline-files.ts';
import type { GatewaySettings } from '../../../attempts/services.ts';
import type { ChatServices } from '../chat-services.ts';
import type { ResponseState } from '../../../attempts/routing/routing-table.ts';

const dayMs = 86_400_000;

/**
 * How long the end of a reply waits until it is stored. After that the database is blocked, and the client gets the
 * end.
 */
const storeWaitMs = 3000;

const statuses: readonly string[] = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] satisfies ResponseStatus[];

function isStatus(value: unknown): value is ResponseStatus {
  return typeof value === 'string' && statuses.includes(value);
}

export type RecordedTurn = {
  readonly previous: StoredResponse | undefined;
  readonly conversationId: string | undefined;
  readonly input: readonly JsonObject[];
};

/** Stores the reply of a turn, and controls the lock of its conversation. */
export type Recorder = Pick<ResponseTurn, 'record' | 'describe' | 'conclude' | 'close'>;

/** Creates what stores the reply of a turn and appends it to its conversation. */
export function createRecorder(
  { gateway, caller, settings, call }: OpenTurn,
  { previous, conversationId, input }: RecordedTurn,
  replyId: string,
): Recorder {
  const { conversations, clock, logger } = gateway;
  const { userName, id: keyId } = caller;
  const retentionMs = (caller.responseRetentionDays ?? settings.responseRetentionDays) * dayMs;
  let isClosed = false;
  let isStoring = false;

  const release = (): void => {
    if (conversationId === undefined || isClosed) return;
    isClosed = true;
    conversations.unlockConversation(userName, conversationId, call.callId).catch((error: unknown) => {
      // The lock expires by itself.
      logger.warn({ callId: call.callId, err: error }, 'releasing a conversation failed');
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
    const isAtUpstream = isNative && upstream.vendor.keepsResponses === true && response.store !== false;
    const keeper = isAtUpstream ? { keeper: { upstream: upstream.id, credential: upstream.credentialId } } : {};
    await conversations.saveResponse({ ...describe(id), ...keeper, status, response });
  };

  const append = async ({ status, output }: JsonObject): Promise<void> => {
    if (conversationId === undefined || (status !== 'completed' && status !== 'incomplete')) return;
    const items = Array.isArray(output) ? output.filter(isJsonObject) : [];
    await conversations.appendItems(userName, conversationId, [...input, ...items]);
  };

  const conclude = async (response: JsonObject): Promise<void> => {
    await append(response).catch((error: unknown) => {
      logger.error({ callId: call.callId, err: error }, 'adding a response to its conversation failed');
    });
    release();
  };

  const store = async (response: JsonObject, target: Target, isNative: boolean): Promise<void> => {
    // A failed response adds nothing to the conversation, so the next response need not wait for it.
    if (response.status === 'failed') release();
    else isStoring = true;
    await save(response, target, isNative).catch((error: unknown) => {
      // The client gets its reply, because it is paid for. Only the operator learns that it cannot be continued.
      logger.error({ callId: call.callId, err: error }, 'storing a response failed');
    });
    await conclude(response);
  };

  return {
    describe,
    conclude,
    // The next turn of a conversation needs the output of this one, even if the client has disconnected.
    close: () => {
      if (!isStoring) release();
    },
    record: async (response, target, isNative) => {
      if (await endsWithin(store(response, target, isNative), storeWaitMs)) return;
      logger.warn({ callId: call.callId }, 'storing a response exceeded its time');
    },
  };
}

/** Whether a step that never rejects ends in time; it continues in any case. */
async function endsWithin(step: Promise<void>, limitMs: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), limitMs);
  try {
    return await Promise.race([step.then((): true => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export type OpenTurn = {
  readonly gateway: Pick<ChatServices, 'conversations' | 'clock' | 'newId' | 'logger'>;
  readonly call: IncomingCall;
  readonly settings: GatewaySettings;
  readonly caller: ApiKey;
  /** The request with its files inlined. */
  readonly request: WireRequest;
  readonly bytes: Buffer;
  /** The request as the client wrote it. It is the one that is stored, so that files stay named by their ids. */
  readonly original: WireRequest;
  readonly inlineFiles: InlineFiles;
  readonly facts: CallFacts;
  /** Whether it runs in the background. Only the gateway then stores it, and the background run does so itself. */
  readonly isBackground: boolean;
  readonly state: ResponseState;
  /** All targets of the model, whatever their health. */
  readonly targets: readonly Target[];
};
