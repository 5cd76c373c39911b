import { readUsedTier } from '../../../inference/service-tier.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { inOnePiece } from '../../../platform/json/in-one-piece.ts';

/** The first members of a reply and of all chunks of a stream. */
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

/** The vendor's name of the service tier that was used. Omitted if it has none. */
export function encodeServiceTier(report: UsageReport | undefined): JsonObject {
  const used = readUsedTier(report?.serviceTier);
  const tier = used === undefined ? undefined : wordByTier[used];
  return tier === undefined ? {} : { service_tier: tier };
}
