import { type AuditEntry, type AuditHead, type AuditStore, firstHead, isNextEntry } from './audit-entry.ts';

/** The result of checking the whole chain. `brokenAt` is the sequence of the first row that does not fit. */
export type AuditVerdict = { readonly rows: number; readonly head: AuditHead; readonly brokenAt?: number };

const pageRows = 1000;

/**
 * All rows, oldest first.
 * @param until the sequence of the last row to read
 */
export async function* readAuditLog(store: Pick<AuditStore, 'readAudit'>, until: number): AsyncGenerator<AuditEntry> {
  for (let after = 0; after < until;) {
    const page = await store.readAudit(after, Math.min(pageRows, until - after));
    if (page.length === 0) return;
    yield* page;
    after = page.at(-1)?.sequence ?? until;
  }
}

/**
 * Recomputes the chain from its first row to the head that the store has now. Rows that are appended meanwhile are left
 * for the next check.
 * @param known the head of an earlier check, whose rows must still be there. Without it, a chain that was cut or
 * recomputed together with its head fits itself.
 */
export async function verifyAudit(store: Pick<AuditStore, 'readAudit' | 'auditHead'>, known: AuditHead = firstHead): Promise<AuditVerdict> {
  const head = await store.auditHead();
  let last = firstHead;
  for await (const entry of readAuditLog(store, head.sequence)) {
    const isOther = entry.sequence === known.sequence && entry.hash !== known.hash;
    if (isOther || !isNextEntry(last, entry)) return { rows: last.sequence, head, brokenAt: last.sequence + 1 };
    last = { sequence: entry.sequence, hash: entry.hash };
  }
  // Rows at the end are missing, or the head was changed.
  if (last.sequence !== head.sequence || last.hash !== head.hash || last.sequence < known.sequence)
    return { rows: last.sequence, head, brokenAt: last.sequence + 1 };
  return { rows: last.sequence, head };
}
