import { type Static, Type } from 'typebox';

import type { Accounts } from '../../../accounts/create-accounts.ts';
import type { CreditBooks } from '../../../billing/credits/credit-books.ts';
import type { PotOwner } from '../../../billing/credits/pots.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import type { AccessLimitsChange } from '../../../accounts/access-limits.ts';
import type { User } from '../../../accounts/api-key.ts';
import type { Team } from '../../../accounts/team.ts';
import type { AuditStore } from '../../../audit/audit-entry.ts';
import type { ChangeAuthor } from '../../../audit/change-author.ts';
import { contentModeSchema } from '../../contract/content.ts';
import { decodeLimitsChange, encodeLimits, limitsChangeSchema, limitsSchema } from '../../contract/limits.ts';
import { instant, moneySchema, nullable, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import type { ControlServices } from '../nodes/live-nodes.ts';
import { booksOperation } from '../books-operation.ts';

export type TeamServices = ControlServices & {
  /** Accounts whose changes have this author. */
  readonly accountsBy: (author: ChangeAuthor) => Accounts;
  readonly audit: Pick<AuditStore, 'subjectVersion'>;
  readonly credits: Pick<CreditBooks, 'readBalances'>;
};
type Context = AdminContext<TeamServices>;

const prepaidSchema = Type.Boolean({
  description: 'Calls are paid from the balance, unless a level below is prepaid, and refused if it does not cover them.',
});
const teamSchema = record(
  {
    id: Type.String(),
    name: Type.String(),
    created_at: Type.String(),
    users: Type.Array(Type.String(), { description: 'The users that are in it.' }),
    content: contentModeSchema('for nothing, unless a key says something else'),
    prepaid: prepaidSchema,
    limits: limitsSchema,
    balance: nullable({ ...moneySchema, description: 'Only of a single team.' }),
  },
  'A team of users. Its limits are shared by all keys of all its users.',
);
const organizationSchema = record(
  { prepaid: prepaidSchema, limits: limitsSchema, balance: moneySchema },
  'All users. Its limits are shared by all keys.',
);

const encodeTeam = (
  { id, name, createdAtMs, content, limits }: Team,
  users: readonly User[],
  balanceNanoUsd?: bigint,
): Static<typeof teamSchema> => ({
  id,
  name,
  created_at: instant(createdAtMs),
  users: users.filter(({ team }) => team === name).map((user) => user.name),
  content: content ?? null,
  prepaid: limits?.prepaid === true,
  limits: encodeLimits(limits),
  balance: balanceNanoUsd === undefined ? null : formatMoney(balanceNanoUsd),
});

async function readBalance({ services }: Context, owner: PotOwner): Promise<bigint> {
  return (await services.credits.readBalances({ owner, limit: 1 }))[0]?.balanceNanoUsd ?? 0n;
}

type Written = { readonly limits?: Static<typeof limitsChangeSchema>; readonly prepaid?: boolean };

/** The change of limits that a body asks for. */
function readChange({ limits = {}, prepaid }: Written): AccessLimitsChange {
  return { ...decodeLimitsChange(limits), ...(prepaid !== undefined && { prepaid: prepaid ? (true as const) : null }) };
}

const changeMembers = { prepaid: Type.Optional(Type.Boolean()), limits: Type.Optional(limitsChangeSchema) };
const nameParams = record({ name: Type.String({ maxLength: 256 }) });
const subject = ({ name = '' }: Readonly<Record<string, string>>): string => `team:${name.normalize('NFC')}`;
const organizationSubject = (): string => 'organization';

/** Teams are seen by callers that see all users: a team's limits disclose the spending of others. */
function assertSeesAll({ principal }: Context): void {
  if (principal.users !== 'all') throw notFound('team of this name');
}

async function find(context: Context, name: string): Promise<Answer<Static<typeof teamSchema>>> {
  assertSeesAll(context);
  const version = await context.services.audit.subjectVersion(subject({ name }));
  const accounts = context.services.accountsBy(context.principal.author);
  const team = await accounts.findTeam(name);
  if (team === undefined) throw notFound('team of this name');
  return { body: encodeTeam(team, await accounts.listUsers(), await readBalance(context, { level: 'team', teamId: team.id })), version };
}

export const listTeams = booksOperation({
  id: 'teams.list',
  method: 'GET',
  path: '/teams',
  summary: 'All teams, oldest first',
  access: 'keys:read',
  reply: pageSchema(teamSchema),
  handle: async (_input, { services, principal, nowMs }: Context) => {
    const accounts = services.accountsBy(principal.author);
    const [teams, users] = principal.users === 'all' ? await Promise.all([accounts.listTeams(), accounts.listUsers()]) : [[], []];
    return { body: { items: teams.map((team) => encodeTeam(team, users)), next_cursor: null, as_of: instant(nowMs()) } };
  },
});

const getTeam = booksOperation({
  id: 'teams.get',
  method: 'GET',
  path: '/teams/{name}',
  summary: 'One team, with its balance',
  access: 'keys:read',
  params: nameParams,
  reply: teamSchema,
  handle: ({ params }, context: Context) => find(context, params.name),
});

export const createTeam = booksOperation({
  id: 'teams.create',
  method: 'POST',
  path: '/teams',
  summary: 'Makes a team',
  access: 'limits:write',
  status: 201,
  body: request({ name: Type.String({ minLength: 1, maxLength: 256 }), ...changeMembers }),
  reply: teamSchema,
  handle: async ({ body }, context: Context) => {
    const limits = readChange(body);
    const team = await context.services.accountsBy(context.change()).createTeam({ name: body.name, limits });
    return { ...(await find(context, team.name)), location: `/teams/${encodeURIComponent(team.name)}` };
  },
});

export const updateTeam = booksOperation({
  id: 'teams.update',
  method: 'PATCH',
  path: '/teams/{name}',
  summary: 'Changes the limits that all users of a team share, whether its balance pays, and how much of its calls is recorded',
  access: 'limits:write',
  subject,
  params: nameParams,
  body: request({ ...changeMembers, content: Type.Optional(contentModeSchema('for nothing')) }),
  reply: teamSchema,
  handle: async ({ params, body }, context: Context) => {
    await find(context, params.name);
    const { content, ...others } = body;
    const edit = { limits: readChange(others), ...(content !== undefined && { content }) };
    if (!(await context.services.accountsBy(context.change()).changeTeam(params.name, edit))) throw notFound('team of this name');
    return await find(context, params.name);
  },
});

export const deleteTeam = operation({
  id: 'teams.delete',
  method: 'DELETE',
  path: '/teams/{name}',
  summary: 'Removes a team without users; its calls keep its name',
  access: 'limits:write',
  status: 204,
  subject,
  params: nameParams,
  handle: async ({ params }, context: Context): Promise<Answer<undefined>> => {
    await find(context, params.name);
    if (!(await context.services.accountsBy(context.change()).deleteTeam(params.name))) throw notFound('team of this name');
    return { body: undefined };
  },
});

async function findOrganization(context: Context): Promise<Answer<Static<typeof organizationSchema>>> {
  const { services, principal } = context;
  const version = await services.audit.subjectVersion(organizationSubject());
  const { limits } = await services.accountsBy(principal.author).readOrganization();
  const balance = formatMoney(await readBalance(context, { level: 'organization' }));
  return { body: { prepaid: limits?.prepaid === true, limits: encodeLimits(limits), balance }, version };
}

export const getOrganization = booksOperation({
  id: 'organization.get',
  method: 'GET',
  path: '/organization',
  summary: 'The limits that all keys share, and the balance',
  access: 'limits:write',
  reply: organizationSchema,
  handle: (_input, context: Context) => findOrganization(context),
});

export const updateOrganization = booksOperation({
  id: 'organization.update',
  method: 'PATCH',
  path: '/organization',
  summary: 'Changes the limits that all keys share, and whether the balance of the organization pays',
  access: 'limits:write',
  subject: organizationSubject,
  body: request(changeMembers),
  reply: organizationSchema,
  handle: async ({ body }, context: Context) => {
    await context.services.accountsBy(context.change()).changeOrganizationLimits(readChange(body));
    return await findOrganization(context);
  },
});

export const teamOperations: readonly Operation<TeamServices>[] = [
  listTeams,
  createTeam,
  getTeam,
  updateTeam,
  deleteTeam,
  getOrganization,
  updateOrganization,
];
