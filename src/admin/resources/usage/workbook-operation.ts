import { Type } from 'typebox';

import type { AuditStore } from '../../../audit/audit-entry.ts';
import { billFileName } from '../../../billing/statistics/bill-file-name.ts';
import { type StatisticsRequest, type StatisticsScope, StatisticsUnavailableError } from '../../../billing/statistics/statistics.ts';
import { workbookType } from '../../../billing/workbook/write-table.ts';
import { record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext } from '../../operation.ts';
import { permissionProblem } from '../../permission-problem.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import { takeAll } from '../../take-all.ts';
import { recordsQuery, readRequest, refuse, scopeOf } from './records-operation.ts';

/** Makes the monitor's workbooks, beside the event loop. */
type Workbooks = {
  /**
   * Resolves when the first bytes can be written. Bytes are made no faster than they are read. A failure rejects, so
   * that no part looks like the whole.
   * @throws StatisticsRefusedError, StatisticsUnavailableError
   */
  readonly open: (
    query: {
      readonly form: 'excel';
      readonly request: StatisticsRequest;
      readonly scope: StatisticsScope;
      readonly exportOptions: { readonly detail: boolean; readonly totals: boolean };
    },
    signal: AbortSignal,
  ) => Promise<AsyncIterator<Uint8Array<ArrayBuffer>>>;
};

export type WorkbookServices = {
  readonly workbooks: Workbooks;
  readonly audit: Pick<AuditStore, 'recordAction'>;
  readonly about: { readonly timeZone: string };
};
type Context = AdminContext<WorkbookServices>;

/** The workbook of the statistics, as `/bill/excel` of the monitor answers it. */
export const downloadWorkbook = operation({
  id: 'usage.workbook',
  method: 'GET',
  path: '/usage/workbook',
  summary: 'The records of the statistics as a workbook with totals: that of POST /bill/excel of the monitor',
  access: 'usage:read',
  query: record({
    ...recordsQuery,
    detail: Type.Optional(
      Type.Enum(['true', 'false'], { description: 'With every call, on sheets of its own; needs calls:read. Default: false.' }),
    ),
  }),
  streams: [workbookType],
  handle: async ({ query }, { services, principal, signal, change }: Context) => {
    const detail = query.detail === 'true';
    if (detail && !principal.permissions.has('calls:read')) throw permissionProblem(principal, 'calls:read', 'Single calls need');
    const request = readRequest(query);
    const scope = oneUser(scopeOf(query.user, principal.users));
    const pieces = await services.workbooks
      .open({ form: 'excel', request, scope, exportOptions: { detail, totals: true } }, signal)
      .catch(unavailable)
      .catch(refuse);
    const asked = { action: 'usage.export', subject: 'export:workbook', after: JSON.stringify(query) };
    await services.audit.recordAction(asked, change());
    return { stream: takeAll(pieces), contentType: workbookType, fileName: billFileName(request, services.about.timeZone, 'bill', 'xlsx') };
  },
});

/** @throws AdminProblem for no user and for several: a workbook has the calls of one, or of all */
function oneUser(users: ReturnType<typeof scopeOf>): StatisticsScope {
  if (users === 'all') return {};
  const [userName, another] = users;
  if (userName === undefined) throw notFound('user of this name');
  if (another === undefined) return { userName };
  const detail = `Name one user in the parameter user: ${users.join(', ')}.`;
  throw new AdminProblem('invalid_request', detail, { errors: [{ parameter: 'user', code: 'one', detail }] });
}

function unavailable(error: unknown): never {
  if (error instanceof StatisticsUnavailableError) throw new AdminProblem('unavailable', error.message, { cause: error });
  throw error;
}
