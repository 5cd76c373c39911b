import { createHash } from 'node:crypto';

import type { AuditWay, Change } from './change-author.ts';

/** What a change did. Before and after are JSON texts without secrets; absent if the subject did not exist. */
export type AuditedAction = {
  /** Plural noun and verb: `keys.create`. */
  readonly action: string;
  /** Kind and identity of what was changed: `key:k3jd82ls0a`, `user:bob`. */
  readonly subject: string;
  readonly before?: string;
  readonly after?: string;
};

/** One row of the audit log. */
export type AuditEntry = Omit<Change, 'expectedVersion'> &
  AuditedAction & {
    /** From 1, without gaps. */
    readonly sequence: number;
    /** SHA-256 in hexadecimal digits of this row and the hash of the row before it. */
    readonly hash: string;
  };

/** The end of the chain: the next row gets the next sequence and is bound to this hash. */
export type AuditHead = { readonly sequence: number; readonly hash: string };

/** The head of an empty log. */
export const firstHead: AuditHead = { sequence: 0, hash: '' };

/** The hash of a row. The fields are a JSON array, so that no two rows have the same text. */
function hashRow(previousHash: string, sequence: number, row: Change & AuditedAction): string {
  const optional = [row.before, row.after, row.note, row.address, row.requestId].map((field) => field ?? null);
  const fields = [previousHash, sequence, row.atMs, row.actor, row.via, row.action, row.subject, ...optional];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/** Appends a change to the chain. */
export function chainEntry(head: AuditHead, change: Change, action: AuditedAction): AuditEntry {
  const sequence = head.sequence + 1;
  const { expectedVersion: _seen, ...author } = change;
  const row = { ...author, ...action };
  return { ...row, sequence, hash: hashRow(head.hash, sequence, row) };
}

/** Whether an entry is the one that was appended to this head. */
export function isNextEntry(head: AuditHead, entry: AuditEntry): boolean {
  return entry.sequence === head.sequence + 1 && entry.hash === hashRow(head.hash, entry.sequence, entry);
}

/** Which rows to list, newest first. Times are Unix milliseconds; `fromMs` is included and `toMs` is not. */
export type AuditFilter = {
  readonly actor?: string;
  readonly via?: AuditWay;
  readonly action?: string;
  readonly subject?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Only rows before this sequence. */
  readonly before?: number;
  readonly limit: number;
};

/** What the audit log needs from a store. Rows of changes are appended by the methods that make the changes. */
export type AuditStore = {
  /** Newest first. */
  readonly listAudit: (filter: AuditFilter) => Promise<readonly AuditEntry[]>;
  /** At most `limit` rows after a sequence, oldest first. */
  readonly readAudit: (after: number, limit: number) => Promise<readonly AuditEntry[]>;
  readonly auditHead: () => Promise<AuditHead>;
  /** Appends a row for an action that changes nothing in the store: a refused sign-in, an export. */
  readonly recordAction: (action: AuditedAction, change: Change) => Promise<void>;
  /** The sequence of the last row about a subject, which serves as its version; 0 if there is none. */
  readonly subjectVersion: (subject: string) => Promise<number>;
};
