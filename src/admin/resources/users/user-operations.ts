import { type Static, Type } from 'typebox';

import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import type { User } from '../../../accounts/api-key.ts';
import { findUserNamed } from '../../../accounts/user-query.ts';
import { generateId } from '../../../accounts/api-key-format.ts';
import { parseName } from '../../../accounts/parse-name.ts';
import type { AuditStore } from '../../../audit/audit-entry.ts';
import type { CreditBooks } from '../../../billing/credits/credit-books.ts';
import type { CallFactsStore } from '../../../billing/calls/call-facts-store.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import type { UsageStore } from '../../../billing/usage/usage-store.ts';
import { decodeLimitsChange, encodeLimits, limitsChangeSchema, limitsSchema } from '../../contract/limits.ts';
import { instant, moneySchema, nullable, pageQuery, pageRowsDefault, pageSchema, record, request } from '../../contract/values.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { AdminProblem, invalidField, notFound } from '../../problem.ts';
import { cutPage } from '../cut-page.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import type { ControlServices } from '../nodes/live-nodes.ts';
import { booksOperation } from '../books-operation.ts';
import { readActivity } from './user-activity.ts';

export type UserServices = ControlServices &
  ListServices & {
    readonly accounts: Pick<AccountsStore, 'queryUsers' | 'listTeams' | 'ensureUser' | 'changeUserLimits' | 'setUserTeam' | 'countApiKeys'>;
    readonly audit: Pick<AuditStore, 'subjectVersion'>;
    readonly credits: Pick<CreditBooks, 'readBalances'>;
    readonly usage: UsageStore;
    readonly calls: Pick<CallFactsStore, 'scanCalls'>;
    /** The zone of statistics. */
    readonly about: { readonly timeZone: string };
    readonly random: (bytes: number) => Uint8Array;
  };
type Context = AdminContext<UserServices>;

const userMembers = {
  name: Type.String(),
  created_at: Type.String(),
  team: nullable(Type.String()),
  prepaid: Type.Boolean({ description: 'Calls are paid from the balance, and refused if it does not cover them.' }),
  limits: limitsSchema,
  balance: nullable({ ...moneySchema, description: 'Only of a single user.' }),
};
const userSchema = record(userMembers, 'A user owns keys and pays. Users are never deleted, because the books name them.');
const amounts = record({ amount: moneySchema, calls: Type.Integer() });
const activeUserSchema = record({
  ...userMembers,
  month: { ...amounts, description: 'Since the beginning of the month in the zone of statistics.' },
  last_day: { ...amounts, description: 'The last 24 hours.' },
  burn_per_day: { ...moneySchema, description: 'The mean of the last seven days, rounded down to the nano-USD.' },
  keys: record({ all: Type.Integer(), enabled: Type.Integer() }),
  last_call_at: nullable(Type.String({ description: 'When the last call was accepted that is booked; null if there is none.' })),
  as_of: Type.String({ description: 'When the books were read.' }),
});

function encodeUser({ name, createdAtMs, limits, team }: User, balanceNanoUsd: bigint | undefined): Static<typeof userSchema> {
  return {
    name,
    created_at: instant(createdAtMs),
    team: team ?? null,
    prepaid: limits?.prepaid === true,
    limits: encodeLimits(limits),
    balance: balanceNanoUsd === undefined ? null : formatMoney(balanceNanoUsd),
  };
}

const nameParams = record({ name: Type.String({ maxLength: 256 }) });
const subject = ({ name = '' }: Readonly<Record<string, string>>): string => `user:${name.normalize('NFC')}`;

/** A user that the caller may see, with its version. @throws AdminProblem `not_found` */
async function find({ services, principal }: Context, name: string): Promise<Answer<Static<typeof userSchema>>> {
  const userName = name.normalize('NFC');
  const version = await services.audit.subjectVersion(subject({ name }));
  const user = await findUserNamed(services.accounts, principal.users, userName);
  if (user === undefined) throw notFound('user of this name');
  const [row] = await services.credits.readBalances({ owner: { level: 'user', userName }, limit: 1 });
  return { body: encodeUser(user, row?.balanceNanoUsd ?? 0n), version };
}

const positionSchema = Type.Object({ createdAtMs: Type.Integer(), id: Type.String() });
/** More users than any list has. */
const all = 2 ** 31 - 1;

export const listUsers = booksOperation({
  id: 'users.list',
  method: 'GET',
  path: '/users',
  summary: 'The users that the caller may see, oldest first: all of them, or pages if a limit is given',
  access: 'keys:read',
  query: record({
    q: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'A part of the name, in whatever case.' })),
    team: Type.Optional(Type.String({ maxLength: 256 })),
    ...pageQuery,
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'The most users of a page; all users unless given.' })),
  }),
  reply: pageSchema(userSchema),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { q, team, cursor, limit = cursor === undefined ? all : pageRowsDefault } = query;
    const question = { list: 'users', users: principal.users, q, team };
    const users = await services.accounts.queryUsers({
      users: principal.users,
      ...(q !== undefined && { text: q.normalize('NFC') }),
      ...(team !== undefined && { teamName: team.normalize('NFC') }),
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
      limit: limit + 1,
    });
    const { shown, next_cursor } = cutPage(users, limit, ({ createdAtMs, id }) => services.cursors.write(question, { createdAtMs, id }));
    return { body: { items: shown.map((user) => encodeUser(user, undefined)), next_cursor, as_of: instant(nowMs()) } };
  },
});

export const getUser = booksOperation({
  id: 'users.get',
  method: 'GET',
  path: '/users/{name}',
  summary: 'One user, with its balance, what it spends, its keys and its last call',
  access: 'keys:read',
  params: nameParams,
  reply: activeUserSchema,
  handle: async ({ params }, context: Context) => {
    const { body, version } = await find(context, params.name);
    const atMs = context.nowMs();
    const activity = await readActivity(context.services, body.name, atMs);
    return { body: { ...body, ...activity, as_of: instant(atMs) }, ...(version !== undefined && { version }) };
  },
});

export const createUser = booksOperation({
  id: 'users.create',
  method: 'POST',
  path: '/users',
  summary: 'Makes a user',
  access: 'limits:write',
  status: 201,
  body: request({
    name: Type.String({ minLength: 1, maxLength: 256 }),
    team: Type.Optional(Type.String({ maxLength: 256 })),
    prepaid: Type.Optional(Type.Boolean()),
    limits: Type.Optional(limitsChangeSchema),
  }),
  reply: userSchema,
  handle: async ({ body }, context: Context) => {
    const { services, change, nowMs } = context;
    const name = parseName('user name', body.name);
    const limits = { ...decodeLimitsChange(body.limits ?? {}), ...(body.prepaid === true && { prepaid: true as const }) };
    const team = body.team?.normalize('NFC');
    if (team !== undefined && !(await services.accounts.listTeams()).some((each) => each.name === team)) throw unknownTeam(team);
    const user = { id: generateId(16, services.random), name, createdAtMs: nowMs() };
    const stored = await services.accounts.ensureUser(user, change());
    if (stored.id !== user.id) throw new AdminProblem('name_taken', `There is already a user named ${name}.`);
    if (Object.keys(limits).length > 0) await services.accounts.changeUserLimits(name, limits, change());
    if (team !== undefined) await moveUser(context, name, team);
    return { ...(await find(context, name)), location: `/users/${encodeURIComponent(name)}` };
  },
});

export const updateUser = booksOperation({
  id: 'users.update',
  method: 'PATCH',
  path: '/users/{name}',
  summary: 'Changes the team of a user, and the limits that all its keys share',
  access: 'limits:write',
  subject,
  params: nameParams,
  body: request({
    team: Type.Optional(nullable(Type.String({ maxLength: 256, description: 'Null: no team.' }))),
    prepaid: Type.Optional(Type.Boolean()),
    limits: Type.Optional(limitsChangeSchema),
  }),
  reply: userSchema,
  handle: async ({ params, body }, context: Context) => {
    await find(context, params.name);
    const prepaid = body.prepaid === undefined ? {} : { prepaid: body.prepaid ? (true as const) : null };
    const limits = { ...decodeLimitsChange(body.limits ?? {}), ...prepaid };
    const userName = params.name.normalize('NFC');
    const { services, change, principal, nowMs } = context;
    const { team } = body;
    if (team !== undefined) await moveUser(context, userName, team);
    // The move was the change that the caller's version was compared with.
    const author = team !== undefined ? { ...principal.author, atMs: nowMs() } : change();
    if (Object.keys(limits).length > 0 && !(await services.accounts.changeUserLimits(userName, limits, author)))
      throw notFound('user of this name');
    return await find(context, params.name);
  },
});

async function moveUser({ services, change }: Context, userName: string, team: string | null): Promise<void> {
  const moved = await services.accounts.setUserTeam(userName, team?.normalize('NFC') ?? undefined, change());
  if (moved === 'no-user') throw notFound('user of this name');
  if (moved === 'no-team') throw unknownTeam(String(team));
}

const unknownTeam = (team: string): AdminProblem => invalidField('/team', 'unknown', `There is no team named ${team}.`);

export const userOperations: readonly Operation<UserServices>[] = [listUsers, createUser, getUser, updateUser];
