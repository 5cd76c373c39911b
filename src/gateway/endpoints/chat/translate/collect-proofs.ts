import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { ReasoningPart } from '../../../../inference/inference-request.ts';
import type { Proof } from '../../../../inference/proof.ts';
import type { VaultedTurn } from '../proofs/vaulted-turn.ts';

type OpenReasoning = { readonly paragraphs: string[]; readonly itemId: string | undefined; proof: Proof | undefined };

/**
 * Collects the proofs of a reply that its vendor requires back with the calls. Text is kept only while reasoning is
 * open.
 */
export function createProofCollector(): {
  readonly push: (event: InferenceEvent) => void;
  /** Undefined if nothing would be missed: the reply has no call, or no proof. */
  readonly collected: () => VaultedTurn | undefined;
} {
  const open = new Map<number, OpenReasoning>();
  const calls = new Map<number, string>();
  const reasoning: ReasoningPart[] = [];
  const callProofs = new Map<string, Proof>();
  const readReasoning = (block: OpenReasoning, event: InferenceEvent): void => {
    if (event.type === 'delta') block.paragraphs.push((block.paragraphs.pop() ?? '') + event.text);
    else if (event.type === 'paragraph') block.paragraphs.push('');
    else if (event.type === 'proof') block.proof = event.proof;
    else if (event.type === 'block-ended' && block.proof !== undefined) {
      const { paragraphs, proof, itemId } = block;
      const text = paragraphs.filter((paragraph) => paragraph !== '');
      reasoning.push({ kind: 'reasoning', text, proof, ...(itemId === undefined ? {} : { itemId }) });
    }
  };
  return {
    push: (event) => {
      if (event.type === 'block-started') {
        if (event.block.kind === 'reasoning') open.set(event.index, { paragraphs: [''], itemId: event.block.itemId, proof: undefined });
        if (event.block.kind === 'tool-call') calls.set(event.index, event.block.id);
        return;
      }
      if (!('index' in event)) return;
      const block = open.get(event.index);
      if (block !== undefined) readReasoning(block, event);
      const callId = calls.get(event.index);
      if (callId !== undefined && event.type === 'proof') callProofs.set(callId, event.proof);
    },
    collected: () => {
      if (calls.size === 0 || (reasoning.length === 0 && callProofs.size === 0)) return undefined;
      return { callIds: [...calls.values()], reasoning, callProofs };
    },
  };
}
