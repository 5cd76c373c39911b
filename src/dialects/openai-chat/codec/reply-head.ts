import type { UsageReport } from '../../../inference/usage.ts';
import { meaningOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { inOnePiece } from '../../../platform/json/in-one-piece.ts';

/** The members that a reply and all chunks of a stream begin with. */
export function encodeHead(
  object: 'chat.completion' | 'chat.completion.chunk',
  writing: ReplyWriting,
  { replyId, servedModel }: { readonly replyId?: string; readonly servedModel?: string },
): JsonObject {
  return {
    id: replyId ?? inOnePiece(`chatcmpl-${writing.requestId}`),
    object,
    created: Math.floor(writing.createdAtMs / 1000),
    model: servedModel ?? writing.requestedModel,
  };
}

const tiers: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'default',
  standard: 'default',
  flex: 'flex',
  scale: 'scale',
  priority: 'priority',
};

/** The tier that was used, in the vendor's words. Left out where it has none for it. */
export function encodeServiceTier(report: UsageReport | undefined): JsonObject {
  const tier = meaningOf(report?.serviceTier?.toLowerCase(), tiers);
  return tier === undefined ? {} : { service_tier: tier };
}
