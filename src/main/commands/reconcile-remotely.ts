import { AdminProblem } from '../../admin/problem.ts';
import { createReconciliation } from '../../admin/resources/reconciliations/create-reconciliation.ts';
import { getReconciliation, listReconciledCalls } from '../../admin/resources/reconciliations/reconciliation-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import type { CallEnd } from '../../billing/ledger/call-entry.ts';
import type { ListedCall } from '../../billing/reconciliation/cell-calls.ts';
import type { ReconciledCell } from '../../billing/reconciliation/reconciliation.ts';
import { type Environment, StartError } from '../environment.ts';
import type { DescribedCosts } from './describe-costs.ts';
import type { Compared } from './describe-reconciliation.ts';
import { awaitOperation, interruption } from './remote/await-operation.ts';
import { type RemoteOption, withService } from './remote/with-service.ts';

/** A comparison, and the calls of its cells, oldest first. */
export type RemoteReconciliation = {
  readonly compared:
    | ({ readonly kind: 'usage'; readonly cells: readonly ReconciledCell[] } & Compared)
    | ({ readonly kind: 'costs' } & DescribedCosts);
  readonly callsOf: (cell: ReconciledCell) => AsyncGenerator<ListedCall>;
};

type Asked = NonNullable<typeof createReconciliation.types>['body'];

/**
 * Sends an export to a console, which compares it with its ledger.
 * @throws StartError if the comparison fails; AdminProblem if the console refuses it
 */
export async function reconcileRemotely({
  environment,
  remote,
  file,
  asked,
}: {
  readonly environment: Environment;
  readonly remote: RemoteOption['remote'];
  readonly file: { readonly name: string; readonly content: Blob };
  readonly asked: { readonly [Name in keyof Asked]: Asked[Name] | undefined } & { readonly vendor: string };
}): Promise<RemoteReconciliation> {
  return await withService(environment, remote === undefined ? {} : { remote }, async (service) => {
    const sent = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)) as Asked;
    const begun = (await service.call(createReconciliation, { body: sent, file })).body;
    const { reconciliation_id: id } = begun.input as { readonly reconciliation_id: string };
    const { state } = await awaitOperation(service, begun, { signal: interruption() });
    if (state !== 'done') throw new StartError(`the comparison is ${state}`);
    const { body } = await service.call(getReconciliation, { params: { id } });
    return readComparison(service, body);
  });
}

type Comparison = NonNullable<typeof getReconciliation.types>['reply'];

/** A comparison of the API as commands print it. @throws AdminProblem `conflict` if it has no result */
export function readComparison(service: AdminService, body: Comparison): RemoteReconciliation {
  return { compared: readResult(body), callsOf: (cell) => callsOf(service, body.id, cell) };
}

function readResult(body: Comparison): RemoteReconciliation['compared'] {
  const { result, time_zone: timeZone, from, to } = body;
  if (result === null) throw new AdminProblem('conflict', 'The comparison has no result.');
  const about = { timeZone, startMs: Date.parse(from), endMs: Date.parse(to), unread: result.unread };
  if (result.cells !== null) {
    const cells = result.cells.map(({ model, day, usage, signs }) => ({
      model,
      day,
      signs,
      usage: usage.map(({ class: usageClass, ours, theirs, difference }) => ({ usageClass, ours, theirs, difference })),
    }));
    return { kind: 'usage', ...about, cells, leftOut: result.left_out ?? {} };
  }
  const costs = (result.costs ?? []).map(({ day, model, item, ours, theirs, difference }) => ({
    day,
    model,
    item,
    listNanoUsd: BigInt(ours.nano_usd),
    theirNanoUsd: BigInt(theirs.nano_usd),
    differenceNanoUsd: BigInt(difference.nano_usd),
  }));
  const charged = (result.charged ?? []).map(({ day, model, charged: amount }) => ({
    day,
    model,
    chargedNanoUsd: BigInt(amount.nano_usd),
  }));
  return { kind: 'costs', ...about, costs, charged };
}

async function* callsOf(service: AdminService, id: string, { model, day }: ReconciledCell): AsyncGenerator<ListedCall> {
  for (let cursor: string | undefined; ;) {
    const query = { model, day, limit: 500, ...(cursor !== undefined && { cursor }) };
    const { items, next_cursor } = (await service.call(listReconciledCalls, { params: { id }, query })).body;
    for (const call of items)
      yield {
        callId: call.call_id,
        acceptedAtMs: Date.parse(call.accepted_at),
        userName: call.user,
        upstream: call.upstream,
        ...(call.upstream_request_id !== null && { upstreamRequestId: call.upstream_request_id }),
        counts: call.usage,
        // The console has the ends of its version.
        end: call.end as CallEnd,
        signs: call.signs,
        explains: call.explains_difference,
        failedAttempts: call.failed_attempts,
      };
    if (next_cursor === null) return;
    cursor = next_cursor;
  }
}
