import { countTextCharacters } from '../../../../inference/count-text-characters.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../platform/json/json-value.ts';
import type { ChatServices } from '../chat-services.ts';
import { notFound } from '../../shared/not-found.ts';
import type { QuoteTarget } from '../../shared/quoting/quoted-call.ts';

/** The history of a chat: its stored items, or the upstream that stores them. */
export type History = {
  readonly items: readonly JsonObject[];
  readonly characters: number;
  /** Without `continues` if the gateway has the whole history. */
  readonly facts: CallFacts;
  readonly keptAt?: string;
};

const idOf = (value: JsonValue | undefined): string | undefined => {
  if (typeof value === 'string') return value;
  return isJsonObject(value) && typeof value['id'] === 'string' ? value['id'] : undefined;
};

/**
 * Reads the history of a request without changing or locking anything.
 * @throws GatewayError with the same message for a missing object and for another user's
 */
export async function readHistory({ gateway, caller, body }: QuoteTarget<ChatServices>, facts: CallFacts): Promise<History> {
  const items = await readStored({ gateway, caller, body }).catch((cause: unknown) => {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('responses_unavailable', 'the history of the request cannot be read at the moment; try again', {
      retryAfterSeconds: 1,
      cause,
    });
  });
  const { continues, ...plain } = facts;
  if (items !== undefined) return { items, characters: countTextCharacters(items), facts: plain };
  if (continues === undefined) return { items: [], characters: 0, facts };
  return { items: [], characters: 0, facts, keptAt: await gateway.replyOwners.check(continues, caller.userName) };
}

async function readStored({
  gateway,
  caller,
  body,
}: Pick<QuoteTarget<ChatServices>, 'gateway' | 'caller' | 'body'>): Promise<readonly JsonObject[] | undefined> {
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
