import { Type } from 'typebox';

import type { PriceDraftStore } from '../../../billing/price-books/price-draft.ts';
import { dayOf, isDay } from '../../../billing/rating/list-prices.ts';
import { comparisonGroupings } from '../../../billing/staging/price-comparison.ts';
import type { StagingInput } from '../../../billing/staging/stage-draft.ts';
import { record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { invalidField, notFound } from '../../problem.ts';
import { answerStarted, operationSchema, type OperationServices } from '../operations/operation-resource.ts';

export type StageServices = OperationServices & { readonly priceDrafts: Pick<PriceDraftStore, 'findPriceDraft'> };

/** The kind of operations that price calls again with a draft. */
export const stagingKind = 'prices.stage';

export const stageDraft = operation({
  id: 'price_drafts.stage',
  method: 'POST',
  path: '/price_drafts/{id}/stage',
  summary: 'Prices the calls of the last days as if the draft held; an operation, whose result has the sums and differences',
  access: 'prices:stage',
  status: 202,
  params: record({ id: Type.String({ maxLength: 64 }) }),
  body: request({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3660, description: 'Calls of so many days before now; 30 unless given.' })),
    by: Type.Optional(Type.Enum(comparisonGroupings, { description: 'What the sums are for; user unless given.' })),
    from: Type.Optional(
      Type.String({ maxLength: 10, description: 'Calls are priced as if accepted on this day (UTC); today unless given.' }),
    ),
  }),
  reply: operationSchema,
  handle: async ({ params, body }, { services, change, nowMs }: AdminContext<StageServices>) => {
    if ((await services.priceDrafts.findPriceDraft(params.id)) === undefined) throw notFound('draft of prices of this id');
    const from = body.from ?? dayOf(nowMs());
    if (!isDay(from)) throw invalidField('/from', 'day', 'The field from must be a day such as 2026-12-31.');
    const input: StagingInput = { draft_id: params.id, days: body.days ?? 30, by: body.by ?? 'user', from };
    const started = { kind: stagingKind, permission: 'prices:stage', input, change: change(), isAudited: false } as const;
    return answerStarted(await services.operations.start(started));
  },
});

export const stageOperations: readonly Operation<StageServices>[] = [stageDraft];
