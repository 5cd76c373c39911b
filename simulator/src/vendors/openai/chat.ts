import type { PlanReply, SimulatedReply, SimulatedRequest } from '../../simulated-vendor.ts';
import type { ChatFlavor } from './chat-flavor.ts';
import { checkChat } from './check-chat.ts';
import { citeSearch } from './cite-search.ts';
import { readChat } from './read-chat.ts';
import { streamChat } from './stream-chat.ts';
import { writeChat } from './write-chat.ts';

/**
 * POST /v1/chat/completions, whole and streamed; undefined for every other route. `errorFrame` is how the vendor
 * reports a broken stream.
 */
export function handleChat(
  request: SimulatedRequest,
  planReply: PlanReply,
  flavor: ChatFlavor,
  errorFrame: string,
): SimulatedReply | undefined {
  if (request.path !== '/v1/chat/completions' || request.method !== 'POST') return undefined;
  const chat = checkChat(request, flavor);
  const { body } = chat;
  const plan = planReply(readChat(chat, flavor));
  const annotations = citeSearch(body, plan);
  const topLogprobs = body.logprobs === true ? (body.top_logprobs ?? 0) : undefined;
  if (body.stream === true) {
    return streamChat(plan, {
      model: body.model,
      flavor,
      includesUsage: flavor.alwaysReportsUsage || body.stream_options?.include_usage === true,
      includesObfuscation: flavor.obfuscates && body.stream_options?.include_obfuscation !== false,
      errorFrame,
      annotations,
      topLogprobs,
    });
  }
  return {
    type: 'whole',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(writeChat(plan, body.model, flavor, annotations, topLogprobs)),
    plan,
  };
}
