import type { SealedProof } from '../../inference/proof-store.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readInteger, readText } from './read-column.ts';
import type { ProofStoreOperations } from '../worker/store-protocol.ts';

const upsertProof = `insert into reasoning_proofs (lookup, sealed, bytes, expires_at_ms) values (?, ?, ?, ?)
  on conflict (lookup) do update set sealed = excluded.sealed, bytes = excluded.bytes, expires_at_ms = excluded.expires_at_ms`;

/** The SQL of sealed reasoning proofs. */
export function createProofOperations(database: Database): ProofStoreOperations {
  return {
    putProofs: (proofs) => database.transact((transaction) => putProofs(transaction, proofs), 'read-committed'),
    findProofs: (query) => findProofs(database, query),
    sweepProofs: (limits) => database.transact((transaction) => sweepProofs(transaction, limits), 'read-committed'),
  };
}

/**
 * Reads the sum of the bytes with a lock. Every writer changes it: they wait for each other at the start, so that none
 * must be repeated because of another.
 */
async function lockBytes(database: Database): Promise<number> {
  const counter = await database.first(
    `select value from counters where name = 'reasoning_proofs_bytes' ${database.fragments.forUpdate('counters')}`,
  );
  return counter === undefined ? 0 : readInteger(counter, 'value');
}

async function putProofs(database: Database, proofs: readonly SealedProof[]): Promise<void> {
  if (proofs.length === 0) return;
  await lockBytes(database);
  let addedBytes = 0;
  for (const { lookup, sealed, expiresAtMs } of proofs) {
    const replaced = await database.first('select bytes from reasoning_proofs where lookup = ?', lookup);
    await database.run(upsertProof, lookup, sealed, sealed.length, expiresAtMs);
    addedBytes += sealed.length - (replaced === undefined ? 0 : readInteger(replaced, 'bytes'));
  }
  await addBytes(database, addedBytes);
}

async function findProofs(database: Database, query: Parameters<ProofStoreOperations['findProofs']>[0]): Promise<readonly SealedProof[]> {
  const sql = 'select lookup, sealed, expires_at_ms from reasoning_proofs where lookup = ? and expires_at_ms > ?';
  const found: SealedProof[] = [];
  let bytes = 0;
  for (const lookup of query.lookups) {
    if (bytes > query.bytesMax) break;
    const row = await database.first(sql, lookup, query.nowMs);
    if (row === undefined) continue;
    const proof = decodeProof(row);
    found.push(proof);
    bytes += proof.sealed.length;
  }
  return found;
}

async function sweepProofs(database: Database, limits: Parameters<ProofStoreOperations['sweepProofs']>[0]): Promise<number> {
  const { nowMs, bytesMax, rowsMax } = limits;
  let leftBytes = await lockBytes(database);
  let deletedBytes = 0;
  let deleted = 0;
  const oldest = 'select lookup, bytes, expires_at_ms from reasoning_proofs order by expires_at_ms limit ?';
  for (const row of await database.all(oldest, rowsMax)) {
    if (readInteger(row, 'expires_at_ms') > nowMs && leftBytes <= bytesMax) break;
    const bytes = readInteger(row, 'bytes');
    deleted += await database.run('delete from reasoning_proofs where lookup = ?', readText(row, 'lookup'));
    deletedBytes += bytes;
    leftBytes -= bytes;
  }
  await addBytes(database, -deletedBytes);
  return deleted;
}

async function addBytes(database: Database, bytes: number): Promise<void> {
  if (bytes !== 0) await database.run("update counters set value = value + ? where name = 'reasoning_proofs_bytes'", BigInt(bytes));
}

function decodeProof(row: SqlRow): SealedProof {
  return { lookup: readText(row, 'lookup'), sealed: readText(row, 'sealed'), expiresAtMs: readInteger(row, 'expires_at_ms') };
}
