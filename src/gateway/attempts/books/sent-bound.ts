import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** A request as its upstream is sent it, and in whose words. */
export type SentRequest = { readonly dialect: Pick<ChatDialect, 'readFacts'>; readonly body: JsonObject };

/**
 * The facts of a translated call, with the bound of output that its upstream is told where that is larger: a vendor has a least one, and thoughts need room. Where the client set none, and a vendor demands one, it
 * bounds a whole reply.
 */
export function withSentBound<Facts extends Pick<CallFacts, 'outputTokensMax'>>(facts: Facts, { dialect, body }: SentRequest): Facts {
  // Where the model's name lies elsewhere than in the body it says nothing of bounds.
  const sent = dialect.readFacts({ operation: 'generate', headers: {}, body, pathModel: '' }).outputTokensMax;
  return sent === undefined ? facts : { ...facts, outputTokensMax: Math.max(sent, facts.outputTokensMax ?? 0) };
}
