import { readUsedTier } from '../../../inference/service-tier.ts';
import type { UsageReport } from '../../../inference/usage.ts';
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

const wordByTier = { standard: 'default', flex: 'flex', priority: 'priority', scale: 'scale', batch: undefined } as const;

/** The tier that was used, in the vendor's words. Left out where it has none for it. */
export function encodeServiceTier(report: UsageReport | undefined): JsonObject {
  const used = readUsedTier(report?.serviceTier);
  const tier = used === undefined ? undefined : wordByTier[used];
  return tier === undefined ? {} : { service_tier: tier };
}
