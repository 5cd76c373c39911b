import type { AuditEntry } from './audit-entry.ts';

/** A row as exports and sinks show it: its time in ISO 8601, and before and after as JSON values. */
export function describeEntry({ atMs, before, after, ...entry }: AuditEntry): object {
  const read = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
  return { ...entry, at: new Date(atMs).toISOString(), before: read(before), after: read(after) };
}
