import { type Static, Type } from 'typebox';

import type { AuditEntry, AuditFilter, AuditStore } from '../../../audit/audit-entry.ts';
import { auditWays } from '../../../audit/change-author.ts';
import { readAuditLog, verifyAudit } from '../../../audit/verify-audit.ts';
import { instant, instantQuery, nullable, pageQuery, pageRowsDefault, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';

export type AuditServices = ListServices & { readonly audit: AuditStore };

const state = nullable(Type.Unknown({ description: 'The object without secrets.' }));

const entrySchema = record(
  {
    sequence: Type.Integer({ minimum: 1, description: 'From 1, without gaps.' }),
    at: Type.String(),
    actor: Type.String({ description: 'Kind and name: `person:ann`, `token:ci`, `cli:root`.' }),
    via: Type.Enum(auditWays),
    action: Type.String({ examples: ['keys.create'] }),
    subject: Type.String({ examples: ['key:k3jd82ls0a'] }),
    before: state,
    after: state,
    note: nullable(Type.String()),
    address: nullable(Type.String()),
    request_id: nullable(Type.String()),
    hash: Type.String({ description: 'SHA-256 of this row and the hash of the row before it.' }),
  },
  'One change by an operator.',
);

function encodeEntry({ sequence, atMs, actor, via, action, subject, before, after, note, address, requestId, hash }: AuditEntry) {
  const read = (text: string | undefined): unknown => (text === undefined ? null : JSON.parse(text));
  return {
    sequence,
    at: instant(atMs),
    actor,
    via,
    action,
    subject,
    before: read(before),
    after: read(after),
    note: note ?? null,
    address: address ?? null,
    request_id: requestId ?? null,
    hash,
  };
}

const filterQuery = {
  actor: Type.Optional(Type.String({ maxLength: 200 })),
  via: Type.Optional(Type.Enum(auditWays)),
  action: Type.Optional(Type.String({ maxLength: 100 })),
  subject: Type.Optional(Type.String({ maxLength: 300 })),
  from: Type.Optional(instantQuery('Included.')),
  to: Type.Optional(instantQuery('Not included.')),
};
const filterSchema = record(filterQuery);

function readFilter({ from, to, ...fields }: Static<typeof filterSchema>): Omit<AuditFilter, 'limit'> {
  return {
    ...fields,
    ...(from !== undefined && { fromMs: Date.parse(from) }),
    ...(to !== undefined && { toMs: Date.parse(to) }),
  };
}

export const listAudit = operation({
  id: 'audit.list',
  method: 'GET',
  path: '/audit',
  summary: 'The changes by operators, newest first',
  access: 'audit:read',
  query: record({ ...filterQuery, ...pageQuery }),
  reply: pageSchema(entrySchema),
  handle: async ({ query }, { services, nowMs }: { services: AuditServices; nowMs: () => number }) => {
    const { limit = pageRowsDefault, cursor, ...fields } = query;
    const question = { list: 'audit', ...fields };
    const before = cursor === undefined ? undefined : readPosition(Type.Integer(), services.cursors.read(question, cursor));
    const rows = await services.audit.listAudit({ ...readFilter(fields), ...(before !== undefined && { before }), limit: limit + 1 });
    const { shown, next_cursor } = cutPage(rows, limit, (last) => services.cursors.write(question, last.sequence));
    return { body: { items: shown.map(encodeEntry), next_cursor, as_of: instant(nowMs()) } };
  },
});

const getAuditEntry = operation({
  id: 'audit.get',
  method: 'GET',
  path: '/audit/{sequence}',
  summary: 'One change by an operator',
  access: 'audit:read',
  params: record({ sequence: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) }),
  reply: entrySchema,
  handle: async ({ params }, { services }: { services: AuditServices }) => {
    const [found] = await services.audit.readAudit(Number(params.sequence) - 1, 1);
    if (found === undefined || found.sequence !== Number(params.sequence)) throw notFound('row of this number');
    return { body: encodeEntry(found) };
  },
});

const exportedAtOnce = 1000;

/** The rows of a filter, newest first. */
async function* readRows(audit: AuditStore, filter: Omit<AuditFilter, 'limit'>): AsyncGenerator<AuditEntry> {
  for (let before: number | undefined; ;) {
    const page = await audit.listAudit({ ...filter, ...(before !== undefined && { before }), limit: exportedAtOnce });
    yield* page;
    before = page.at(-1)?.sequence;
    if (before === undefined || page.length < exportedAtOnce) return;
  }
}

export const exportAudit = operation({
  id: 'audit.export',
  method: 'GET',
  path: '/audit/export',
  summary: 'The log as JSON Lines: whole and oldest first, so that it can be verified; or the rows of a filter, newest first',
  access: 'audit:read',
  query: filterSchema,
  streams: ['application/jsonl'],
  handle: async ({ query }, { services }: { services: AuditServices }) => {
    const { sequence } = await services.audit.auditHead();
    const rows = Object.keys(query).length === 0 ? readAuditLog(services.audit, sequence) : readRows(services.audit, readFilter(query));
    async function* lines(): AsyncGenerator<string> {
      for await (const entry of rows) yield `${JSON.stringify(encodeEntry(entry))}\n`;
    }
    return { stream: lines(), contentType: 'application/jsonl', fileName: 'audit.jsonl' };
  },
});

export const verifyLog = operation({
  id: 'audit.verify',
  method: 'POST',
  path: '/audit/verifications',
  summary: 'Recomputes the chain of hashes, and compares it with the end of an earlier verification',
  access: 'audit:read',
  query: record({
    known_rows: Type.Optional(Type.Integer({ minimum: 1, description: '`rows` of an earlier verification.' })),
    known_head: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: '`head` of the same verification.' })),
  }),
  reply: record({
    rows: Type.Integer({ description: 'The rows that were checked and fit.' }),
    head: nullable(Type.String({ description: 'The hash of the last row; null if the log is empty.' })),
    broken_at: nullable(Type.Integer({ description: 'The first row that was changed, removed or inserted.' })),
  }),
  handle: async ({ query: { known_rows: sequence, known_head: hash } }, { services }: { services: AuditServices }) => {
    if ((sequence === undefined) !== (hash === undefined))
      throw new AdminProblem('invalid_request', 'Give both query parameters known_rows and known_head, or neither.');
    const known = sequence === undefined || hash === undefined ? undefined : { sequence, hash };
    const { rows, head, brokenAt } = await verifyAudit(services.audit, known);
    return { body: { rows, head: head.hash === '' ? null : head.hash, broken_at: brokenAt ?? null } };
  },
});

export const auditOperations: readonly Operation<AuditServices>[] = [listAudit, exportAudit, getAuditEntry, verifyLog];
