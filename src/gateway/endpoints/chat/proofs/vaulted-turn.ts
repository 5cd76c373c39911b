import type { ReasoningPart } from '../../../../inference/inference-request.ts';
import type { Proof } from '../../../../inference/proof.ts';

/** What an assistant turn with tool calls needs to go back to the vendor that made it, exactly as it came. */
export type VaultedTurn = {
  /** The calls of the turn in their order, as the client knows them. */
  readonly callIds: readonly string[];
  /** The turn's reasoning in its order. */
  readonly reasoning: readonly ReasoningPart[];
  /** Proofs that stand on the calls themselves, by call id. */
  readonly callProofs: ReadonlyMap<string, Proof>;
};

/** Whether the turn holds anything that only its vendor could make again. */
export function hasProof(turn: VaultedTurn): boolean {
  return turn.callProofs.size > 0 || turn.reasoning.some((part) => part.proof !== undefined);
}

/** Bytes of the turn's texts, about what its JSON comes to. */
export function sizeOfTurn(turn: VaultedTurn): number {
  let bytes = 0;
  for (const id of turn.callIds) bytes += Buffer.byteLength(id);
  for (const part of turn.reasoning) {
    for (const text of part.text) bytes += Buffer.byteLength(text);
    bytes += sizeOfProof(part.proof) + Buffer.byteLength(part.itemId ?? '');
  }
  for (const [id, proof] of turn.callProofs) bytes += Buffer.byteLength(id) + sizeOfProof(proof);
  return bytes;
}

function sizeOfProof(proof: Proof | undefined): number {
  return proof === undefined ? 0 : Buffer.byteLength(proof.origin) + Buffer.byteLength(proof.blob);
}

/**
 * What stands under one call id: the turn under the first of its calls, and under every other the id of that first, so that a turn with many calls
 * is written once.
 */
export type VaultedRecord = { readonly turn: VaultedTurn } | { readonly firstCallId: string };

/** The JSON that is sealed. Half surrogate pairs come back as they were. */
export function encodeRecord(record: VaultedRecord): string {
  if ('firstCallId' in record) return JSON.stringify({ firstCallId: record.firstCallId });
  const { callIds, reasoning, callProofs } = record.turn;
  return JSON.stringify({
    callIds,
    // `path` says where a request had the part; it means nothing in the next one.
    reasoning: reasoning.map(({ path: _path, ...part }) => part),
    callProofs: [...callProofs],
  });
}

/** Reads what encodeRecord wrote. The text was authenticated, so that it can be nothing else. */
export function decodeRecord(text: string): VaultedRecord {
  type Written = { callIds: string[]; reasoning: ReasoningPart[]; callProofs: [string, Proof][] } | { firstCallId: string };
  const written = JSON.parse(text) as Written;
  return 'firstCallId' in written ? written : { turn: { ...written, callProofs: new Map(written.callProofs) } };
}
