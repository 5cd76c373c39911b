import type { IdempotencyStore, KeyClaim, KeyHolder, KeyName } from '../idempotency-store.ts';
import type { StoredReplyBytes } from '../reply-budget.ts';

type Row = KeyClaim & { readonly state: 'open' | 'kept' | 'spent'; readonly head: Uint8Array; readonly chunks: number };

/** An in-memory store with the same rules as the engines. */
export function createFakeIdempotencyStore(): IdempotencyStore & { readonly rows: ReadonlyMap<string, Row> } {
  const rows = new Map<string, Row>();
  const chunks = new Map<string, Uint8Array>();
  const rowOf = (name: KeyName): string => JSON.stringify([name.keyId, name.key]);
  const chunkOf = (name: KeyName, requestId: string, sequence: number): string =>
    JSON.stringify([name.keyId, name.key, requestId, sequence]);
  const find = (holder: KeyName & { readonly requestId: string }): Row | undefined => {
    const row = rows.get(rowOf(holder));
    return row?.requestId === holder.requestId ? row : undefined;
  };
  const forget = (row: Row): void => {
    const beginning = chunkOf(row, row.requestId, 0).slice(0, -2);
    for (const id of chunks.keys()) if (id.startsWith(beginning)) chunks.delete(id);
  };
  const remove = (row: Row): void => {
    rows.delete(rowOf(row));
    forget(row);
  };
  const describe = ({ state, bodyHash, requestId, createdAtMs, leaseUntilMs, head, chunks: count }: Row): KeyHolder => {
    const common = { bodyHash, requestId, createdAtMs };
    if (state === 'open') return { ...common, state, leaseUntilMs };
    return state === 'kept' ? { ...common, state, head, chunks: count } : { ...common, state };
  };
  return {
    rows,
    claimIdempotencyKey: async (claim) => {
      const row = rows.get(rowOf(claim));
      if (row !== undefined && row.expiresAtMs > claim.createdAtMs) return describe(row);
      if (row !== undefined) remove(row);
      rows.set(rowOf(claim), { ...claim, state: 'open', head: new Uint8Array(), chunks: 0 });
      return undefined;
    },
    addReplyChunks: async (holder, added) => {
      if (find(holder)?.state !== 'open') return;
      for (const { sequence, sealed } of added) chunks.set(chunkOf(holder, holder.requestId, sequence), sealed);
    },
    closeIdempotencyKey: async ({ kept, last, ...holder }) => {
      const row = find(holder);
      if (row?.state !== 'open') return false;
      if (kept === undefined) forget(row);
      for (const { sequence, sealed } of kept === undefined ? [] : last) chunks.set(chunkOf(holder, holder.requestId, sequence), sealed);
      rows.set(rowOf(holder), { ...row, state: kept === undefined ? 'spent' : 'kept', ...kept });
      return true;
    },
    releaseIdempotencyKey: async (holder) => {
      const row = find(holder);
      if (row?.state === 'open') remove(row);
    },
    renewIdempotencyKeys: async ({ owner, untilMs }) => {
      for (const [id, row] of rows) if (row.owner === owner && row.state === 'open') rows.set(id, { ...row, leaseUntilMs: untilMs });
    },
    readReplyChunk: async (holder, sequence) =>
      find(holder)?.state === 'kept' ? chunks.get(chunkOf(holder, holder.requestId, sequence)) : undefined,
    endIdempotencyLeases: async ({ ownerPrefix, except }) => {
      for (const [id, row] of rows)
        if (row.state === 'open' && row.owner !== except && row.owner.startsWith(ownerPrefix)) rows.set(id, { ...row, leaseUntilMs: 0 });
    },
    measureReplies: async () => measure(rows, chunks, chunkOf),
    sweepIdempotencyKeys: async ({ nowMs, rowsMax }) => {
      const over = [...rows.values()].filter(({ expiresAtMs }) => expiresAtMs <= nowMs).slice(0, rowsMax);
      for (const row of over) remove(row);
      return over.length;
    },
  };
}

/** The bytes of chunks by the API key of their row. */
function measure(
  rows: ReadonlyMap<string, Row>,
  chunks: ReadonlyMap<string, Uint8Array>,
  chunkOf: (name: KeyName, requestId: string, sequence: number) => string,
): readonly StoredReplyBytes[] {
  const byKey = new Map<string, number>();
  for (const row of rows.values())
    for (const [id, chunk] of chunks)
      if (id.startsWith(chunkOf(row, row.requestId, 0).slice(0, -2))) byKey.set(row.keyId, (byKey.get(row.keyId) ?? 0) + chunk.length);
  return [...byKey].map(([keyId, bytes]) => ({ keyId, bytes }));
}
