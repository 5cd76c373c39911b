import type { InferenceEvent } from './inference-event.ts';
import type { InferenceReply, ReplyPart } from './inference-reply.ts';

function replayPart(part: ReplyPart, index: number): readonly InferenceEvent[] {
  if (part.kind === 'server-tool' || part.kind === 'media') return [{ type: 'part', index, part }];
  const delta = (text: string): readonly InferenceEvent[] => (text === '' ? [] : [{ type: 'delta', index, text }]);
  const proof: readonly InferenceEvent[] = 'proof' in part && part.proof !== undefined ? [{ type: 'proof', index, proof: part.proof }] : [];
  const end: InferenceEvent = { type: 'block-ended', index };
  switch (part.kind) {
    case 'text': {
      const citations = (part.citations ?? []).map((citation): InferenceEvent => ({ type: 'citation', index, citation }));
      return [{ type: 'block-started', index, block: { kind: 'text' } }, ...delta(part.text), ...citations, ...proof, end];
    }
    case 'refusal':
      return [{ type: 'block-started', index, block: { kind: 'refusal' } }, ...delta(part.text), end];
    case 'reasoning': {
      const block = { kind: 'reasoning', ...(part.itemId === undefined ? {} : { itemId: part.itemId }) } as const;
      const paragraphs = part.text.flatMap((text, at) => [...(at === 0 ? [] : [{ type: 'paragraph', index } as const]), ...delta(text)]);
      return [{ type: 'block-started', index, block }, ...paragraphs, ...proof, end];
    }
    case 'tool-call': {
      const { id, name, wire } = part;
      return [
        { type: 'block-started', index, block: { kind: 'tool-call', id, name, ...(wire === undefined ? {} : { wire }) } },
        // The proof comes first, so that a dialect that writes it beside the call can write it before the call.
        ...proof,
        ...delta(part.arguments),
        end,
      ];
    }
  }
}

/**
 * Turns a whole reply into a stream, for clients that requested a stream from an upstream that answered at once. It is
 * the inverse of `foldEvents`.
 */
export function replayReply(reply: InferenceReply): readonly InferenceEvent[] {
  const { replyId, servedModel, parts, logprobs, usageReport, ...end } = reply;
  return [
    { type: 'started', ...(replyId === undefined ? {} : { replyId }), ...(servedModel === undefined ? {} : { servedModel }) },
    ...(logprobs === undefined ? [] : [{ type: 'logprobs', tokens: logprobs } as const]),
    ...parts.flatMap(replayPart),
    ...(usageReport === undefined ? [] : [{ type: 'usage', usageReport } as const]),
    { type: 'finished', ...end },
  ];
}
