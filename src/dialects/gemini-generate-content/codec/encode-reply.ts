import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { bareEnums } from './bare-enum.ts';
import { encodeGrounding } from './encode-grounding.ts';
import { LogprobsWriter } from './encode-logprobs.ts';
import { encodeUsage } from './encode-usage.ts';
import { encodeEnding } from './stop-reasons.ts';
import { PartWriter, type WrittenPart } from './part-writer.ts';
import { showsThoughts } from './shows-thoughts.ts';

/**
 * Writes a whole reply: the parts of its stream, joined. A reply without parts has an empty text, because clients read
 * the first part.
 */
export function encodeReply(reply: InferenceReply, writing: ReplyWriting): JsonObject {
  const writer = new PartWriter(showsThoughts(writing.request));
  const bare = bareEnums(writing.request);
  const written = [...replayReply(reply).flatMap((event) => bare(event).flatMap((changed) => writer.write(changed))), ...writer.end()];
  const likely = new LogprobsWriter(writing.request);
  likely.read(reply.logprobs ?? []);
  const parts = joinParts(written);
  const { usageReport } = reply;
  return {
    candidates: [
      {
        content: { parts: parts.length === 0 ? [{ text: '' }] : parts, role: 'model' },
        ...encodeEnding(reply.stopReason, reply.stopDetail),
        index: 0,
        ...encodeGrounding(writer.sources(false)),
        ...likely.end(),
      },
    ],
    ...(usageReport === undefined ? {} : { usageMetadata: encodeUsage(usageReport) }),
    modelVersion: reply.servedModel ?? writing.requestedModel,
    responseId: reply.replyId ?? writing.requestId,
  };
}

function joinParts(written: readonly WrittenPart[]): readonly JsonObject[] {
  const parts: JsonObject[] = [];
  for (const { part, continues } of written) {
    const last = parts.at(-1);
    if (!continues || last === undefined) parts.push(part);
    else parts[parts.length - 1] = { ...last, ...part, text: (textOf(last.text) ?? '') + (textOf(part.text) ?? '') };
  }
  return parts;
}
