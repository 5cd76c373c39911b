import { countTextCharacters } from '../../../../inference/count-text-characters.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../platform/json/json-value.ts';
import type { ChatServices } from '../chat-services.ts';
import { notFound } from '../../shared/not-found.ts';
import type { Asked } from '../../shared/quoting/quoted-call.ts';

/** What a chat goes on from: what is kept here of it, or which upstream keeps it. */
export type History = {
  readonly items: readonly JsonObject[];
  readonly characters: number;
  /** Without `continues` where the gateway has the whole of it. */
  readonly facts: CallFacts;
  readonly keptAt?: string;
};

const idOf = (value: JsonValue | undefined): string | undefined => {
  if (typeof value === 'string') return value;
  return isJsonObject(value) && typeof value['id'] === 'string' ? value['id'] : undefined;
};

/**
 * Reads what a request goes on from, without changing or locking anything.
 * @throws GatewayError for what is not there and for what is another user's, in the same words
 */
export async function readHistory({ gateway, caller, body }: Asked<ChatServices>, facts: CallFacts): Promise<History> {
  const kept = await readKept({ gateway, caller, body }).catch((cause: unknown) => {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('responses_unavailable', 'what the request goes on from cannot be read at the moment; try again', {
      retryAfterSeconds: 1,
      cause,
    });
  });
  const { continues, ...plain } = facts;
  if (kept !== undefined) return { items: kept, characters: countTextCharacters(kept), facts: plain };
  if (continues === undefined) return { items: [], characters: 0, facts };
  return { items: [], characters: 0, facts, keptAt: await gateway.replyOwners.check(continues, caller.userName) };
}

async function readKept({
  gateway,
  caller,
  body,
}: Pick<Asked<ChatServices>, 'gateway' | 'caller' | 'body'>): Promise<readonly JsonObject[] | undefined> {
  const { conversations } = gateway;
  const conversation = idOf(body['conversation']);
  if (conversation !== undefined) {
    const items = await conversations.readConversation(caller.userName, conversation);
    if (items === undefined) throw notFound('Conversation', conversation);
    return items;
  }
  const previous = idOf(body['previous_response_id']);
  return previous === undefined ? undefined : await conversations.readChain(caller.userName, previous);
}
