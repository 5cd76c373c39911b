import { type Static, Type } from 'typebox';

import type { AuditStore } from '../../../audit/audit-entry.ts';
import type { StatementSpan } from '../../../billing/credits/credit-books.ts';
import { exportStatement } from '../../../billing/credits/export-statement.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { workbookType } from '../../../billing/workbook/write-table.ts';
import { instant, instantQuery, moneySchema, nullable, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { invalidField } from '../../problem.ts';
import { type CreditServices, findOrganization, type FindOwner, findTeam, findUser, nameOwner } from './find-owner.ts';
import { booksOperation, type Freshness } from '../books-operation.ts';
import { encodeTransaction, transactionKinds, transactionSchema } from './transaction-schema.ts';

export type StatementServices = CreditServices & { readonly audit: Pick<AuditStore, 'recordAction'> };
type Context = AdminContext<StatementServices>;

const spanQuery = { from: instantQuery('Postings at or after it.'), to: instantQuery('Postings before it.') };

const statementSchema = record(
  {
    level: Type.Enum(['organization', 'team', 'user']),
    user: nullable(Type.String()),
    team: nullable(Type.String()),
    from: Type.String(),
    to: Type.String(),
    opening: { ...moneySchema, description: 'The balance before the first posting.' },
    closing: { ...moneySchema, description: 'Opening and all sums together.' },
    sums: Type.Array(record({ kind: Type.Enum(transactionKinds), count: Type.Integer(), amount: moneySchema })),
    usage: Type.Array(record({ day: Type.String(), amount: moneySchema }), {
      description: 'By the day (UTC) on which the calls were accepted. Calls of the last day may be posted in the next span.',
    }),
    postings: Type.Array(transactionSchema, { description: 'All but usage, oldest first.' }),
    is_whole: Type.Boolean({ description: 'Whether `postings` has all of them; the sums always do.' }),
    as_of: Type.String(),
  },
  'What happened to an account in a span of time.',
);

/** @throws AdminProblem `invalid_request` */
function readSpan(query: { readonly from: string; readonly to: string }): Omit<StatementSpan, 'owner'> {
  const [fromMs, toMs] = [Date.parse(query.from), Date.parse(query.to)];
  if (toMs > fromMs) return { fromMs, toMs };
  throw invalidField('to', 'order', `The parameter to must be later than from (${query.from}); got ${query.to}.`);
}

type Span = { readonly from: string; readonly to: string };
type Owned<Reply> = Operation<StatementServices, { readonly name?: string }, Span, unknown, Reply>;

/** The statement of an account, and its workbook. */
export type StatementOperations = {
  readonly read: Owned<Static<typeof statementSchema> & Freshness>;
  readonly export: Owned<unknown>;
};

/** The statement of the accounts of a kind of owner, and its workbook. @param path of the owner */
function statementsOf(owner: {
  readonly id: string;
  readonly path: string;
  readonly whose: string;
  readonly find: FindOwner;
}): StatementOperations {
  const params = owner.path.includes('{name}') ? { params: record({ name: Type.String({ maxLength: 256 }) }) } : {};
  const nameOf = (given: object): string => ('name' in given && typeof given.name === 'string' ? given.name : '');
  const shared = { method: 'GET', access: 'credits:read', ...params } as const;
  return {
    read: booksOperation({
      ...shared,
      id: owner.id,
      path: `${owner.path}/statement`,
      summary: `The statement of the account of ${owner.whose}: opening, payments, usage by day, closing`,
      query: record(spanQuery),
      reply: statementSchema,
      handle: async ({ params: given, query }, context: Context) => {
        const span = readSpan(query);
        const found = await owner.find(context, nameOf(given));
        const { openingNanoUsd, closingNanoUsd, sums, usage, postings } = await context.services.credits.readStatement({
          owner: found,
          ...span,
        });
        const expected = sums.reduce((count, sum) => (sum.kind === 'usage' ? count : count + sum.count), 0);
        return {
          body: {
            ...(await nameOwner(context.services, found)),
            from: instant(span.fromMs),
            to: instant(span.toMs),
            opening: formatMoney(openingNanoUsd),
            closing: formatMoney(closingNanoUsd),
            sums: sums.map(({ kind, count, amountNanoUsd }) => ({ kind, count, amount: formatMoney(amountNanoUsd) })),
            usage: usage.map(({ day, amountNanoUsd }) => ({ day, amount: formatMoney(amountNanoUsd) })),
            postings: postings.map(encodeTransaction),
            is_whole: postings.length === expected,
            as_of: instant(context.nowMs()),
          },
        };
      },
    }),
    export: operation({
      ...shared,
      id: `${owner.id}_export`,
      path: `${owner.path}/statement/export`,
      summary: `The statement of the account of ${owner.whose} as a workbook`,
      query: record(spanQuery),
      streams: [workbookType],
      handle: async ({ params: given, query }, context: Context) => {
        const span = readSpan(query);
        const found = await owner.find(context, nameOf(given));
        const statement = await context.services.credits.readStatement({ owner: found, ...span });
        const { user, team } = await nameOwner(context.services, found);
        const name = user ?? team ?? 'organization';
        const asked = { action: 'credits.statement_export', subject: 'export:statement', after: JSON.stringify({ owner: name, ...query }) };
        await context.services.audit.recordAction(asked, context.change());
        const stream = exportStatement(statement, span, { title: `Statement of ${name}`, nowMs: context.nowMs() });
        // A month's statements of several accounts are saved in one folder.
        const fileName = `statement-${name.replaceAll(/[^\w.-]+/g, '_')}-${query.from.slice(0, 10)}.xlsx`;
        return { stream, contentType: workbookType, fileName };
      },
    }),
  };
}

export const userStatement = statementsOf({ id: 'credits.statement', path: '/users/{name}', whose: 'a user', find: findUser });
export const teamStatement = statementsOf({ id: 'credits.team_statement', path: '/teams/{name}', whose: 'a team', find: findTeam });
export const organizationStatement = statementsOf({
  id: 'credits.organization_statement',
  path: '/organization',
  whose: 'the organization',
  find: findOrganization,
});

export const statementOperations: readonly Operation<StatementServices>[] = [userStatement, teamStatement, organizationStatement].flatMap(
  (statement) => [statement.read, statement.export],
);
