import { type Static, type TObject, type TSchema, Type } from 'typebox';

import { silentAfterMs } from '../../control/nodes/node-state.ts';
import { instant, record } from '../contract/values.ts';
import { type Definition, operation } from '../define-operation.ts';
import { isStream, type Operation } from '../operation.ts';
import { shareAnswer } from '../share-answers.ts';
import type { ControlServices } from './nodes/live-nodes.ts';

const freshMembers = {
  as_of: Type.String({ description: 'When the books were read.' }),
  pending_calls: Type.Integer({
    description:
      'Finished calls that the answer does not have yet: those in the journals of running gateways, as they last reported, and those that are booked and not in lists yet.',
  }),
};

const freshSchema = record(freshMembers);
/** How fresh an answer from the books is. */
export type Freshness = Static<typeof freshSchema>;

/** Many pages ask at the same moment. */
const keptMs = 250;

/** Finished calls in the journals of running gateways. A gateway reports within a second when it has none any more. */
async function countInJournals({ control }: ControlServices, nowMs: number): Promise<number> {
  const count = async (): Promise<number> => {
    const nodes = await control.listControlReports(nowMs - silentAfterMs);
    return nodes.reduce((sum, { report }) => sum + report.journalPending, 0);
  };
  return await shareAnswer(control, 'calls in journals', count, () => keptMs);
}

/**
 * An operation whose answer comes from the books, and says how fresh it is: `as_of` and `pending_calls`. The calls that
 * the operation itself counts as pending (booked, and not in lists yet) are added to those in journals.
 */
export function booksOperation<
  Services,
  Params extends TObject = TObject<{}>,
  Query extends TObject = TObject<{}>,
  Body extends TSchema = TSchema,
  Reply extends TObject = TObject,
>(
  definition: Definition<Services, Params, Query, Body, Reply> & { readonly reply: Reply },
): Operation<Services & ControlServices, Static<Params>, Static<Query>, Static<Body>, Static<Reply> & Freshness> {
  const { run, schemas, types: _types, ...shape } = operation<Services, Params, Query, Body, Reply>(definition);
  const { properties, description } = definition.reply as { readonly properties: Record<string, TSchema>; readonly description?: string };
  return {
    ...shape,
    schemas: { ...schemas, reply: record({ ...properties, ...freshMembers }, description) },
    run: async (input, context) => {
      const atMs = context.nowMs();
      // Counted first: a change that was made must not fail afterwards.
      const inJournals = await countInJournals(context.services, atMs);
      const answer = await run(input, context);
      if (isStream(answer)) return answer;
      const own: Partial<Freshness> = answer.body;
      const fresh = { as_of: own.as_of ?? instant(atMs), pending_calls: (own.pending_calls ?? 0) + inJournals };
      return { ...answer, body: { ...answer.body, ...fresh } };
    },
  };
}
