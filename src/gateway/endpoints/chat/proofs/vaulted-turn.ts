import type { ReasoningPart } from '../../../../inference/inference-request.ts';
import type { Proof } from '../../../../inference/proof.ts';

/** The parts of an assistant turn with tool calls that must go back to its vendor unchanged. */
export type VaultedTurn = {
  /** The calls of the turn in order, with the ids that the client has. */
  readonly callIds: readonly string[];
  /** The turn's reasoning in order. */
  readonly reasoning: readonly ReasoningPart[];
  /** Proofs of the calls themselves, by call id. */
  readonly callProofs: ReadonlyMap<string, Proof>;
};

/** Whether the turn has anything that only its vendor could make again. */
export function hasProof(turn: VaultedTurn): boolean {
  return turn.callProofs.size > 0 || turn.reasoning.some((part) => part.proof !== undefined);
}

/** Bytes of the turn's texts, roughly the size of its JSON. */
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
 * The content of one call id's row. The first call has the turn, and the others have the id of the first, so that a
 * turn with many calls is written once.
 */
export type VaultedRecord = { readonly turn: VaultedTurn } | { readonly firstCallId: string };

/** The JSON that is sealed. Lone surrogates survive it. */
export function encodeRecord(record: VaultedRecord): string {
  if ('firstCallId' in record) return JSON.stringify({ firstCallId: record.firstCallId });
  const { callIds, reasoning, callProofs } = record.turn;
  return JSON.stringify({
    callIds,
    // `path` is the position in one request. It means nothing in the next one.
    reasoning: reasoning.map(({ path: _path, ...part }) => part),
    callProofs: [...callProofs],
  });
}

/** Reads the text of encodeRecord. It was authenticated, so it cannot be anything else. */
export function decodeRecord(text: string): VaultedRecord {
  type Written = { callIds: string[]; reasoning: ReasoningPart[]; callProofs: [string, Proof][] } | { firstCallId: string };
  const written = JSON.parse(text) as Written;
  return 'firstCallId' in written ? written : { turn: { ...written, callProofs: new Map(written.callProofs) } };
}
