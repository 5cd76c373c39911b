import { type Static, Type } from 'typebox';

import { type LongOperation, operationStates } from '../../../control/operations/long-operation.ts';
import type { Principal } from '../../../accounts/people/principal.ts';
import type { Operations } from '../../../control/operations/create-operations.ts';
import { instant, nullable, optionalInstant, pageQuery, pageRowsDefault, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import { answerEvents, type ServerEvent } from '../../event-stream.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';

export type OperationServices = ListServices & {
  readonly operations: Operations;
  /** Aborts when the console ends: streams end then. */
  readonly ending: AbortSignal;
};
type Context = AdminContext<OperationServices>;

export const operationSchema = record(
  {
    id: Type.String({ examples: ['op_01k9x2m4vq3f7c8d5e6h1j0abc'] }),
    kind: Type.String({ description: 'The work, as `<resource>.<verb>`.', examples: ['upstreams.check'] }),
    state: Type.Enum(operationStates),
    is_cancelling: Type.Boolean({ description: 'Whether somebody has asked for its end.' }),
    actor: Type.String({ description: 'The person or program that began it.' }),
    input: Type.Unknown(),
    progress: nullable(
      record({
        done: Type.Number(),
        total: nullable(Type.Number()),
        unit: Type.String({ description: 'The things that are counted.' }),
        partial: Type.Unknown({ description: 'The part of the result that is known; null if none is.' }),
      }),
    ),
    result: Type.Unknown({ description: 'Null until it has ended. A cancelled operation has the part that was finished.' }),
    problem: nullable(record({ code: Type.String(), detail: Type.String() })),
    attempts: Type.Integer({ description: 'More than 1 if a process ended meanwhile and another started it from the beginning.' }),
    created_at: Type.String(),
    started_at: nullable(Type.String()),
    ended_at: nullable(Type.String({ description: 'Results are kept for 7 days.' })),
  },
  'Work that takes longer than a request.',
);

function encodeOperation(operation: LongOperation): Static<typeof operationSchema> {
  const { id, kind, state, isCancelling, actor, input, progress, result, problem, attempts } = operation;
  return {
    id,
    kind,
    state,
    is_cancelling: isCancelling,
    actor,
    input: input ?? null,
    progress:
      progress === undefined
        ? null
        : { done: progress.done, total: progress.total ?? null, unit: progress.unit, partial: progress.partial ?? null },
    result: result ?? null,
    problem: problem ?? null,
    attempts,
    created_at: instant(operation.createdAtMs),
    started_at: optionalInstant(operation.startedAtMs),
    ended_at: optionalInstant(operation.endedAtMs),
  };
}

/** The answer 202 of a request that began an operation. */
export function answerStarted(started: LongOperation) {
  return { body: encodeOperation(started), location: `/operations/${started.id}` };
}

/** Whether a caller may see an operation. One about some users only is seen by the person who began it. */
function maySee({ permissions, users, author }: Principal, { permission, actor }: LongOperation): boolean {
  return permissions.has(permission) && (users === 'all' || actor === author.actor);
}

/** An operation that the caller may see. @throws AdminProblem `not_found` */
async function find({ services, principal }: Context, id: string): Promise<LongOperation> {
  const found = await services.operations.find(id);
  if (found === undefined || !maySee(principal, found)) throw notFound('operation of this id');
  return found;
}

/**
 * Operations that the caller may see and that run or ended a short time ago, with their versions. Input, result and the
 * partial result are left out, because they can be large.
 */
export async function listRecentOperations(
  { services, principal }: AdminContext<Pick<OperationServices, 'operations'>>,
  endedWithinMs: number,
): Promise<readonly { readonly version: number; readonly item: Readonly<Record<string, unknown>> & { readonly id: string } }[]> {
  return (await services.operations.listRecent(endedWithinMs))
    .filter((each) => maySee(principal, each))
    .map((each) => {
      const { input: _input, result: _result, progress, ...item } = encodeOperation(each);
      const { partial: _partial, ...counted } = progress ?? { partial: null };
      return { version: each.version, item: { ...item, progress: progress === null ? null : counted } };
    });
}

const positionSchema = Type.Object({ createdAtMs: Type.Number(), id: Type.String() });

export const listOperations = operation({
  id: 'operations.list',
  method: 'GET',
  path: '/operations',
  summary: 'Long work of the last days that the caller may see, newest first',
  access: 'signed-in',
  query: record({
    kind: Type.Optional(Type.String({ maxLength: 64, description: 'Work of this kind: prices.stage.' })),
    state: Type.Optional(Type.Array(Type.Enum(operationStates), { maxItems: operationStates.length, description: 'Repeat it for "or".' })),
    ...pageQuery,
  }),
  reply: pageSchema(operationSchema),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { limit = pageRowsDefault, cursor, kind, state } = query;
    const permissions = [...principal.permissions].toSorted();
    const seen = { permissions, ...(principal.users !== 'all' && { actor: principal.author.actor }) };
    const question = { list: 'operations', ...seen, kind, state };
    const rows = await services.operations.list({
      ...seen,
      ...(kind !== undefined && { kind }),
      ...(state !== undefined && { states: state }),
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
      limit: limit + 1,
    });
    const { shown, next_cursor } = cutPage(rows, limit, (last) =>
      services.cursors.write(question, { createdAtMs: last.createdAtMs, id: last.id }),
    );
    return { body: { items: shown.map(encodeOperation), next_cursor, as_of: instant(nowMs()) } };
  },
});

const params = record({ id: Type.String({ maxLength: 64 }) });

export const getOperation = operation({
  id: 'operations.get',
  method: 'GET',
  path: '/operations/{id}',
  summary: 'The state, progress and result of long work',
  access: 'signed-in',
  params,
  reply: operationSchema,
  handle: async (input, context: Context) => ({ body: encodeOperation(await find(context, input.params.id)) }),
});

const followOperation = operation({
  id: 'operations.events',
  method: 'GET',
  path: '/operations/{id}/events',
  summary: 'The operation now and after each change, until it has ended',
  access: 'signed-in',
  params,
  query: record({
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'The id of the last event that was received, as Last-Event-ID.' })),
  }),
  streams: ['text/event-stream'],
  handle: async (input, context: Context) => {
    const { services, signal, lastEventId } = context;
    const { id } = await find(context, input.params.id);
    const sent = Number(lastEventId);
    const after = input.query.after ?? (Number.isSafeInteger(sent) ? sent : 0);
    async function* events(): AsyncGenerator<ServerEvent> {
      const ending = AbortSignal.any([signal, services.ending]);
      for await (const changed of services.operations.follow(id, ending, after))
        yield { id: String(changed.version), event: 'operation', data: encodeOperation(changed) };
    }
    return answerEvents(events(), services.ending);
  },
});

export const cancelOperation = operation({
  id: 'operations.cancel',
  method: 'DELETE',
  path: '/operations/{id}',
  summary: 'Asks for the end of long work; the finished part stays its result',
  access: 'signed-in',
  status: 202,
  params,
  reply: operationSchema,
  handle: async (input, context: Context) => {
    const { id } = await find(context, input.params.id);
    const cancelled = await context.services.operations.cancel(id, context.change());
    if (cancelled === undefined) throw notFound('operation of this id');
    return { body: encodeOperation(cancelled) };
  },
});

export const operationOperations: readonly Operation<OperationServices>[] = [
  listOperations,
  getOperation,
  followOperation,
  cancelOperation,
];
