import { type Static, Type } from 'typebox';

import type { UserScope } from '../../../accounts/people/principal.ts';
import { type BookVerification, problemsKept } from '../../../billing/credits/book-verification.ts';
import { type BookProblem, verifyStart } from '../../../billing/credits/credit-books.ts';
import { accountIdOf } from '../../../billing/credits/pots.ts';
import { instant, nullable, pageQuery, pageRowsDefault, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { Operation } from '../../operation.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';
import type { CreditContext, CreditServices } from './find-owner.ts';

const verifyRows = 1000;

const verificationSchema = record(
  {
    id: Type.String({ description: '`node:<id>` is the last whole pass of a gateway, which adds up the books all the time.' }),
    author: Type.String({ description: 'The person or program that began it, or `node:<id>`.' }),
    started_at: Type.String(),
    ended_at: Type.String(),
    checked: Type.Integer({ description: 'Rows of the books.' }),
    adds_up: Type.Boolean(),
    problem_count: Type.Integer({ description: 'Of the accounts that the caller may see.' }),
    problems: Type.Array(
      record({ account: nullable(Type.String({ description: '`user:<name>`, `team:<id>` or `organization:1`.' })), what: Type.String() }),
      { description: `At most ${problemsKept}.` },
    ),
  },
  'A verification of all books: every balance and sum was computed again.',
);

/** @param problemCount of all accounts */
function encode({ problems, problemCount, ...about }: BookVerification, users: UserScope): Static<typeof verificationSchema> {
  const visible = problems.filter(
    ({ accountId }) => users === 'all' || users.some((userName) => accountId === accountIdOf({ level: 'user', userName })),
  );
  return {
    id: about.id,
    author: about.author,
    started_at: instant(about.startedAtMs),
    ended_at: instant(about.endedAtMs),
    checked: about.checked,
    adds_up: problemCount === 0,
    problem_count: users === 'all' ? problemCount : visible.length,
    problems: visible.slice(0, problemsKept).map(({ accountId, what }) => ({ account: accountId ?? null, what })),
  };
}

export const verifyBooks = operation({
  id: 'credits.verify',
  method: 'POST',
  path: '/credits/verifications',
  summary: 'Recomputes all balances and sums, and keeps the result',
  access: 'credits:read',
  reply: verificationSchema,
  handle: async (_input, { services, principal, signal, nowMs }: CreditContext) => {
    const startedAtMs = nowMs();
    let checked = 0;
    const problems: BookProblem[] = [];
    for (let cursor = verifyStart; ;) {
      signal.throwIfAborted();
      const slice = await services.credits.verifyBooks({ cursor, limit: verifyRows });
      checked += slice.checked;
      problems.push(...slice.problems);
      if (slice.next === undefined) break;
      cursor = slice.next;
    }
    const counted = { checked, problemCount: problems.length, problems };
    const verification = { id: services.newId('ver'), author: principal.author.actor, startedAtMs, endedAtMs: nowMs(), ...counted };
    await services.keepVerification?.(verification);
    return { body: encode(verification, principal.users) };
  },
});

const positionSchema = Type.Object({ endedAtMs: Type.Number(), id: Type.String() });

export const listVerifications = operation({
  id: 'credits.verifications',
  method: 'GET',
  path: '/credits/verifications',
  summary: 'When the books were verified and whether they added up: the last pass of each gateway, and those that somebody began',
  access: 'credits:read',
  query: record(pageQuery),
  reply: pageSchema(verificationSchema),
  handle: async ({ query }, { services, principal, nowMs }: CreditContext) => {
    const { limit = pageRowsDefault, cursor } = query;
    const question = { list: 'verifications', users: principal.users };
    const rows = await services.credits.listVerifications({
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
      limit: limit + 1,
    });
    const { shown, next_cursor } = cutPage(rows, limit, (last) =>
      services.cursors.write(question, { endedAtMs: last.endedAtMs, id: last.id }),
    );
    return { body: { items: shown.map((row) => encode(row, principal.users)), next_cursor, as_of: instant(nowMs()) } };
  },
});

export const verificationOperations: readonly Operation<CreditServices>[] = [verifyBooks, listVerifications];
