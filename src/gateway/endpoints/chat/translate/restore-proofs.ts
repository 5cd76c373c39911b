import type { InferenceRequest, Part, ToolCallPart, Turn } from '../../../../inference/inference-request.ts';
import type { ProofVault } from '../proofs/proof-vault.ts';
import type { VaultedTurn } from '../proofs/vaulted-turn.ts';

function callsOf(turn: Turn): readonly ToolCallPart[] {
  return turn.role === 'assistant' ? turn.parts.filter((part): part is ToolCallPart => part.kind === 'tool-call') : [];
}

/** Whether the client brought this turn's proofs back itself. */
function isProven(turn: Turn): boolean {
  return turn.parts.some((part) => (part.kind === 'reasoning' || part.kind === 'tool-call') && part.proof !== undefined);
}

function proveTurn(turn: Turn, vaulted: ReadonlyMap<string, VaultedTurn>, origin: string): Turn {
  const found = callsOf(turn).flatMap((call) => vaulted.get(call.id) ?? []);
  const [first] = found;
  if (first === undefined || isProven(turn)) return turn;
  const reasoning = first.reasoning.filter((part) => part.proof?.origin === origin);
  const parts = turn.parts.map((part): Part => {
    if (part.kind !== 'tool-call') return part;
    const proof = vaulted.get(part.id)?.callProofs.get(part.id);
    return proof === undefined || proof.origin !== origin ? part : { ...part, proof };
  });
  // Thoughts that the client shows without their proof are worthless to the vendor, and stand in the vault with it.
  const spoken = reasoning.length === 0 ? parts : parts.filter((part) => part.kind !== 'reasoning');
  return { ...turn, parts: [...reasoning, ...spoken] };
}

/**
 * Gives assistant turns that call tools the proofs back which their client has dropped, where this upstream's vendor made them. What the
 * vault does not know stays as it is.
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
