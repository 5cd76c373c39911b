import { type AccessLimits, type AccessLimitsChange, changeLimits } from '../../accounts/access-limits.ts';
import type { User } from '../../accounts/api-key.ts';
import type { TeamEdit, TeamStore } from '../../accounts/team-store.ts';
import type { Team } from '../../accounts/team.ts';
import type { Change } from '../../audit/change-author.ts';
import { decodeContentMode, newKeysVersion } from './api-key-row.ts';
import { appendAudit, appendDifference } from './audit-operations.ts';
import { containsText } from './contains-text.ts';
import type { Database } from './database.ts';
import { namesIn } from './names-in.ts';
import { when } from './scoped-list.ts';
import type { UserQuery } from '../../accounts/user-query.ts';
import { decodeLimits } from './decode-limits.ts';
import { readBalance } from './pot-balances.ts';
import { readInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const selectUsers = `select users.id as id, users.name as name, users.created_at_ms as created_at_ms, users.limits as limits,
    teams.name as team_name
  from users left join teams on teams.id = users.team_id`;
const selectTeams = 'select id, name, created_at_ms, limits, content from teams where deleted_at_ms is null';

/** The SQL of teams and the organization. */
export function createTeamOperations(database: Database): TeamStore {
  return {
    insertTeam: (team, change) => database.transact((transaction) => insertTeam(transaction, team, change)),
    listTeams: async () => (await database.all(`${selectTeams} order by created_at_ms, id`)).map(decodeTeam),
    changeTeam: (teamName, edit, change) => database.transact((transaction) => changeTeam(transaction, teamName, edit, change)),
    deleteTeam: (teamName, change) => database.transact((transaction) => deleteTeam(transaction, teamName, change)),
    setUserTeam: (userName, teamName, change) => database.transact((transaction) => setUserTeam(transaction, userName, teamName, change)),
    readOrganization: async () => {
      const limits = await readOrganizationLimits(database);
      return limits === undefined ? {} : { limits };
    },
    changeOrganizationLimits: (limits, change) => database.transact((transaction) => changeOrganizationLimits(transaction, limits, change)),
  };
}

/** All users, oldest first. */
export async function readUsers(database: Database): Promise<readonly User[]> {
  return (await database.all(`${selectUsers} order by users.created_at_ms, users.id`)).map(decodeUser);
}

/** Some users, oldest first. See AccountsStore. */
export async function queryUsers(database: Database, query: UserQuery): Promise<readonly User[]> {
  const { users, name, text, teamName, after, limit } = query;
  if (users !== 'all' && users.length === 0) return [];
  const conditions = [
    users === 'all' ? undefined : namesIn('users.name', users),
    when('users.name = ?', name),
    text === undefined ? undefined : containsText(['users.name'], text),
    when('teams.name = ?', teamName),
    after === undefined ? undefined : { sql: '(users.created_at_ms, users.id) > (?, ?)', parameters: [after.createdAtMs, after.id] },
  ].filter((condition) => condition !== undefined);
  const where = conditions.length === 0 ? '' : `where ${conditions.map(({ sql }) => sql).join(' and ')}`;
  const parameters = conditions.flatMap((condition) => condition.parameters);
  const sql = `${selectUsers} ${where} order by users.created_at_ms, users.id limit ?`;
  return (await database.all(sql, ...parameters, limit)).map(decodeUser);
}

export async function readUser(database: Database, name: string): Promise<User | undefined> {
  const row = await database.first(`${selectUsers} where users.name = ?`, name);
  return row === undefined ? undefined : decodeUser(row);
}

function decodeUser(row: SqlRow): User {
  const limits = decodeLimits(row, 'limits');
  const team = readOptionalText(row, 'team_name');
  return {
    id: readText(row, 'id'),
    name: readText(row, 'name'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    ...(limits === undefined ? {} : { limits }),
    ...(team === undefined ? {} : { team }),
  };
}

/** Reads, changes and writes limits, within a transaction, so that concurrent changes never undo each other. */
export async function changeLimitsOf(
  transaction: Database,
  row: { readonly table: 'users' | 'api_keys' | 'teams' | 'organization'; readonly where: string },
  value: string | number,
  change: AccessLimitsChange,
): Promise<number> {
  const before = await transaction.first(`select limits from ${row.table} where ${row.where}`, value);
  if (before === undefined) return 0;
  const limits = changeLimits(decodeLimits(before, 'limits'), change);
  return await transaction.run(`update ${row.table} set limits = ?, expires_at_ms = ? where ${row.where}`, ...limitValues(limits), value);
}

/** Limits as their columns have them. The expiry has a column of its own, so that lists can select by it. */
export function limitValues(limits: AccessLimits | undefined): readonly [string | null, number | null] {
  return [limits === undefined ? null : JSON.stringify(limits), limits?.expiresAtMs ?? null];
}

async function insertTeam(transaction: Database, team: Team, change: Change): Promise<boolean> {
  const sql = 'insert into teams (id, name, created_at_ms, limits, expires_at_ms) values (?, ?, ?, ?, ?) on conflict do nothing';
  if ((await transaction.run(sql, team.id, team.name, team.createdAtMs, ...limitValues(team.limits))) === 0) return false;
  await appendAudit(transaction, change, { action: 'teams.create', subject: `team:${team.name}`, after: JSON.stringify(team) });
  return true;
}

async function readTeam(database: Database, name: string): Promise<Team | undefined> {
  const row = await database.first(`${selectTeams} and name = ?`, name);
  return row === undefined ? undefined : decodeTeam(row);
}

function decodeTeam(row: SqlRow): Team {
  const limits = decodeLimits(row, 'limits');
  const content = decodeContentMode(row, 'content');
  const team = { id: readText(row, 'id'), name: readText(row, 'name'), createdAtMs: readInteger(row, 'created_at_ms') };
  return { ...team, ...(limits === undefined ? {} : { limits }), ...(content === undefined ? {} : { content }) };
}

async function changeTeam(transaction: Database, teamName: string, { limits, content }: TeamEdit, change: Change): Promise<boolean> {
  const before = await readTeam(transaction, teamName);
  if (before === undefined) return false;
  if (limits !== undefined) await changeLimitsOf(transaction, { table: 'teams', where: 'id = ?' }, before.id, limits);
  if (content !== undefined) await transaction.run('update teams set content = ? where id = ?', content, before.id);
  await newKeysVersion(transaction);
  const texts = { before: JSON.stringify(before), after: JSON.stringify(await readTeam(transaction, teamName)) };
  await appendDifference(transaction, { change, action: 'teams.update' }, `team:${teamName}`, texts);
  return true;
}

async function deleteTeam(transaction: Database, teamName: string, change: Change): ReturnType<TeamStore['deleteTeam']> {
  const before = await readTeam(transaction, teamName);
  if (before === undefined) return 'missing';
  if ((await transaction.first('select id from users where team_id = ? limit 1', before.id)) !== undefined) return 'in-use';
  if ((await readBalance(transaction, { level: 'team', teamId: before.id })) !== 0n) return 'has-balance';
  await transaction.run('update teams set deleted_at_ms = ? where id = ?', change.atMs, before.id);
  await appendAudit(transaction, change, { action: 'teams.delete', subject: `team:${teamName}`, before: JSON.stringify(before) });
  return 'deleted';
}

async function setUserTeam(
  transaction: Database,
  userName: string,
  teamName: string | undefined,
  change: Change,
): ReturnType<TeamStore['setUserTeam']> {
  const before = await readUser(transaction, userName);
  if (before === undefined) return 'no-user';
  const team = teamName === undefined ? undefined : await readTeam(transaction, teamName);
  if (teamName !== undefined && team === undefined) return 'no-team';
  await transaction.run('update users set team_id = ? where id = ?', team?.id ?? null, before.id);
  await newKeysVersion(transaction);
  const texts = { before: JSON.stringify(before), after: JSON.stringify(await readUser(transaction, userName)) };
  await appendDifference(transaction, { change, action: 'users.update' }, `user:${userName}`, texts);
  return 'changed';
}

async function readOrganizationLimits(database: Database): Promise<AccessLimits | undefined> {
  const row = await database.first('select limits from organization where id = 1');
  return row === undefined ? undefined : decodeLimits(row, 'limits');
}

async function changeOrganizationLimits(transaction: Database, limits: AccessLimitsChange, change: Change): Promise<void> {
  const before = await readOrganizationLimits(transaction);
  await changeLimitsOf(transaction, { table: 'organization', where: 'id = ?' }, 1, limits);
  await newKeysVersion(transaction);
  const texts = { before: JSON.stringify(before ?? {}), after: JSON.stringify((await readOrganizationLimits(transaction)) ?? {}) };
  await appendDifference(transaction, { change, action: 'organization.update' }, 'organization', texts);
}
