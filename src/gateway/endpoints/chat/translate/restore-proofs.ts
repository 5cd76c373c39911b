import type { InferenceRequest, Part, ToolCallPart, Turn } from '../../../../inference/inference-request.ts';
import type { ProofVault } from '../proofs/proof-vault.ts';
import type { VaultedTurn } from '../proofs/vaulted-turn.ts';

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
