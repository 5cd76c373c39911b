import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceRequest, Part, ReasoningPart, ToolCallPart, Turn } from '../../../../inference/inference-request.ts';
import type { Proof } from '../../../../inference/proof.ts';
import type { VaultedTurn } from '../proofs/vaulted-turn.ts';
import type { ProofVault } from '../proofs/proof-vault.ts';

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
      if ((open.size === 0 && calls.size === 0) || !('index' in event)) return;
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

function callsOf(turn: Turn): readonly ToolCallPart[] {
  return turn.role === 'assistant' ? turn.parts.filter((part): part is ToolCallPart => part.kind === 'tool-call') : [];
}

/** Whether the client itself sent the proofs of this turn. */
function isProven(turn: Turn): boolean {
  return turn.parts.some((part) => (part.kind === 'reasoning' || part.kind === 'tool-call') && part.proof !== undefined);
}

function proveTurn(turn: Turn, vaulted: ReadonlyMap<string, VaultedTurn>, origin: string): Turn {
  const stored = callsOf(turn).flatMap((call) => vaulted.get(call.id) ?? []);
  const [first] = stored;
  if (first === undefined || isProven(turn)) return turn;
  const reasoning = first.reasoning.filter((part) => part.proof?.origin === origin);
  const parts = turn.parts.map((part): Part => {
    if (part.kind !== 'tool-call') return part;
    const proof = vaulted.get(part.id)?.callProofs.get(part.id);
    return proof === undefined || proof.origin !== origin ? part : { ...part, proof };
  });
  // Reasoning without its proof is worthless to the vendor, and the vault has it with the proof.
  const unproven = reasoning.length === 0 ? parts : parts.filter((part) => part.kind !== 'reasoning');
  return { ...turn, parts: [...reasoning, ...unproven] };
}

/**
 * Adds the proofs that a client has dropped to assistant turns with tool calls, if this upstream's vendor made them.
 * Turns that the vault does not have stay as they are.
 */
export async function restoreProofs(
  request: InferenceRequest,
  userName: string,
  vault: Pick<ProofVault, 'recall'>,
  origin: string,
): Promise<InferenceRequest> {
  const callIds = request.turns.flatMap((turn) => (isProven(turn) ? [] : callsOf(turn).map((call) => call.id)));
  if (callIds.length === 0) return request;
  const vaulted = await vault.recall(userName, callIds);
  if (vaulted.size === 0) return request;
  return { ...request, turns: request.turns.map((turn) => proveTurn(turn, vaulted, origin)) };
}
