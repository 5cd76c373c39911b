import type { Citation } from './citation.ts';
import type { BlockStart, InferenceEvent } from './inference-event.ts';
import type { InferenceReply, ReplyPart } from './inference-reply.ts';
import type { ServerToolPart } from './inference-request.ts';
import type { Proof } from './proof.ts';

type OpenBlock = {
  readonly start: BlockStart;
  readonly paragraphs: string[];
  readonly citations: Citation[];
  proof: Proof | undefined;
  outcome?: ServerToolPart;
};

function closeBlock(block: OpenBlock): ReplyPart {
  const { start, paragraphs, citations, proof } = block;
  const text = paragraphs.join('');
  const proven = proof === undefined ? {} : { proof };
  switch (start.kind) {
    case 'text':
      return { kind: 'text', text, ...(citations.length === 0 ? {} : { citations }), ...proven };
    case 'refusal':
      return { kind: 'refusal', text };
    case 'reasoning': {
      const shown = paragraphs.filter((paragraph) => paragraph !== '');
      return { kind: 'reasoning', text: shown, ...proven, ...(start.itemId === undefined ? {} : { itemId: start.itemId }) };
    }
    case 'server-tool':
      return { kind: 'server-tool', tool: start.tool, id: start.id, input: start.input, failed: true, wire: [] };
    case 'tool-call':
      return {
        kind: 'tool-call',
        id: start.id,
        name: start.name,
        arguments: text,
        ...proven,
        ...(start.wire === undefined ? {} : { wire: start.wire }),
      };
  }
}

/**
 * Folds a stream into the whole reply with the same content. Its parts are in the order in which their blocks began. A
 * stream without `finished` becomes a reply that failed.
 */
export function foldEvents(events: Iterable<InferenceEvent>): InferenceReply {
  const open = new Map<number, OpenBlock>();
  const parts = new Map<number, ReplyPart>();
  let reply: Omit<InferenceReply, 'parts'> = { stopReason: 'failed' };
  for (const event of events) {
    switch (event.type) {
      case 'started':
      case 'finished':
        reply = { ...reply, ...withoutType(event) };
        break;
      case 'usage':
        reply = { ...reply, usageReport: event.usageReport };
        break;
      case 'partial-image':
        break;
      case 'logprobs':
        reply = { ...reply, logprobs: [...(reply.logprobs ?? []), ...event.tokens] };
        break;
      case 'part':
        parts.set(event.index, event.part);
        break;
      case 'block-started':
        open.set(event.index, { start: event.block, paragraphs: [''], citations: [], proof: undefined });
        break;
      case 'delta':
      case 'paragraph':
      case 'proof':
      case 'citation':
      case 'tool-outcome':
      case 'block-ended':
        readBlockEvent(event, open, parts);
    }
  }
  return { ...reply, parts: [...parts].toSorted(([first], [second]) => first - second).map(([, part]) => part) };
}

function withoutType(event: Extract<InferenceEvent, { type: 'started' | 'finished' }>): Partial<InferenceReply> {
  const { type: _type, ...block } = event;
  return block;
}

type BlockEvent = Extract<InferenceEvent, { type: 'delta' | 'paragraph' | 'proof' | 'citation' | 'tool-outcome' | 'block-ended' }>;

function readBlockEvent(event: BlockEvent, open: Map<number, OpenBlock>, parts: Map<number, ReplyPart>): void {
  const block = open.get(event.index);
  if (block === undefined) return;
  if (event.type === 'delta') block.paragraphs.push((block.paragraphs.pop() ?? '') + event.text);
  else if (event.type === 'paragraph') block.paragraphs.push('');
  else if (event.type === 'proof') block.proof = event.proof;
  else if (event.type === 'citation') block.citations.push(event.citation);
  else if (event.type === 'tool-outcome') block.outcome = event.part;
  else {
    open.delete(event.index);
    parts.set(event.index, block.outcome ?? closeBlock(block));
  }
}
