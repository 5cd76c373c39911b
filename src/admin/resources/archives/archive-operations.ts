import { type Static, Type } from 'typebox';

import type { ArchiveStore, CallArchive } from '../../../billing/archive/call-archive.ts';
import { usdDecimal } from '../../../billing/statistics/usd-decimal.ts';
import { instant, optionalInstant, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import { answerStarted, operationSchema, type OperationServices } from '../operations/operation-resource.ts';

export type ArchiveServices = OperationServices & {
  readonly archives: Pick<ArchiveStore, 'listArchives'>;
  /** Whether the configuration has `books.retention`. */
  readonly isRetaining: () => boolean;
};
type Context = AdminContext<ArchiveServices>;

/** The kinds of operations that archive old calls, and that read an archive again. */
export const archivingKind = 'archives.run';
export const archiveVerifyingKind = 'archives.verify';

const archiveSchema = record(
  {
    id: Type.String({ description: 'The name of its file without the ending.', examples: ['calls-2026-01'] }),
    from: Type.String(),
    until: Type.String({ description: 'Its calls were accepted before this.' }),
    state: Type.Enum(['verified', 'dropped'], {
      description: 'verified: the file is complete, and its rows are being dropped from the database. dropped: all are.',
    }),
    rows: Type.Integer(),
    rows_dropped: Type.Integer(),
    amount_usd: Type.String(),
    bytes: Type.Integer(),
    sha256: Type.String(),
    verified_at: Type.String(),
    dropped_at: Type.Union([Type.String(), Type.Null()]),
  },
  'A Parquet file with the rows of the calls of a month.',
);

const encode = (archive: CallArchive): Static<typeof archiveSchema> => ({
  id: archive.id,
  from: instant(archive.fromMs),
  until: instant(archive.untilMs),
  state: archive.state,
  rows: archive.sums.rows,
  rows_dropped: archive.dropped.rows,
  amount_usd: usdDecimal(archive.sums.amountNanoUsd),
  bytes: archive.bytes,
  sha256: archive.sha256,
  verified_at: instant(archive.verifiedAtMs),
  dropped_at: optionalInstant(archive.droppedAtMs),
});

/** An archive has the calls of all users, so somebody who may see only some sees none. */
const listFor = async ({ services, principal }: Context): Promise<readonly CallArchive[]> =>
  principal.users === 'all' ? await services.archives.listArchives() : [];

export const listArchives = operation({
  id: 'archives.list',
  method: 'GET',
  path: '/archives',
  summary: 'The files of calls that left the database, oldest first',
  access: 'credits:read',
  reply: record({ items: Type.Array(archiveSchema), as_of: Type.String() }),
  handle: async (_input, context: Context) => ({
    body: { items: (await listFor(context)).map(encode), as_of: instant(context.nowMs()) },
  }),
});

export const runArchiving = operation({
  id: 'archives.run',
  method: 'POST',
  path: '/archives',
  summary: 'Moves the calls of months that are not kept to files now; an operation, whose result names them',
  access: 'config:write',
  recentSignIn: true,
  status: 202,
  reply: operationSchema,
  handle: async (_input, { services, change }: Context) => {
    if (!services.isRetaining()) throw new AdminProblem('conflict', 'All calls are kept: set books.retention in the configuration first.');
    const started = { kind: archivingKind, permission: 'config:write', input: {}, change: change(), isAudited: true } as const;
    return answerStarted(await services.operations.start(started));
  },
});

export const verifyArchiveFile = operation({
  id: 'archives.verify',
  method: 'POST',
  path: '/archives/{id}/verify',
  summary: 'Reads a whole file again and compares it with what was verified; an operation, whose result has the problems',
  access: 'credits:read',
  status: 202,
  params: record({ id: Type.String({ maxLength: 64 }) }),
  reply: operationSchema,
  handle: async ({ params }, context: Context) => {
    const { services, change } = context;
    if (!(await listFor(context)).some(({ id }) => id === params.id)) throw notFound('archive of this id');
    const input = { archive_id: params.id };
    const started = { kind: archiveVerifyingKind, permission: 'credits:read', input, change: change(), isAudited: false } as const;
    return answerStarted(await services.operations.start(started));
  },
});

export const archiveOperations: readonly Operation<ArchiveServices>[] = [listArchives, runArchiving, verifyArchiveFile];
