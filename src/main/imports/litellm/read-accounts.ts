import { type AccessLimits, listEntriesMax, modelCharactersMax, rateLimitsMax } from '../../../accounts/access-limits.ts';
import { usdOf } from '../decimals.ts';
import { ImportError } from '../import-plan.ts';
import type { AccountPlan } from '../plan-accounts.ts';
import type { ConfigPlan } from '../plan-config.ts';
import { type Fields, fieldsOf, isFields, jsonOf, limitOf, listOf, numberOf, textOf, textsOf } from '../read-fields.ts';

type Notes = Pick<ConfigPlan, 'changed' | 'leftOut'>;
/** A row of a table with the budget that it refers to. */
type Budgeted = { readonly row: Fields; readonly what: string; readonly budgets: ReadonlyMap<unknown, Fields> };

/**
 * Reads teams, users and keys: rows of LiteLLM's tables as JSON, `{"teams": [...], "users": [...], "keys": [...],
 * "budgets": [...]}`. Keys keep their secrets, because LiteLLM stores the SHA-256 digest of each.
 * @throws ImportError if the text is another file
 */
export function readLiteLlmAccounts(text: string, plan: AccountPlan, notes: Notes): void {
  const file = parseRows(text);
  const budgets = new Map(listOf(file['budgets']).map((row) => [row['budget_id'], row]));
  const teams = new Map<unknown, string>();
  for (const row of listOf(file['teams'])) {
    const wish = textOf(row['team_alias']) ?? textOf(row['team_id']) ?? 'team';
    const limits = readLimits({ row, what: `team ${wish}`, budgets }, notes);
    teams.set(row['team_id'], plan.addTeam(wish, limits));
    if (row['blocked'] === true) notes.leftOut(`team ${wish}`, 'it is blocked in LiteLLM; disable its keys');
  }
  const people = new Map(listOf(file['users']).map((row) => [row['user_id'], row]));
  for (const row of listOf(file['keys'])) readKey(row, { teams, people, budgets, plan, notes });
}

function parseRows(text: string): Fields {
  try {
    const file: unknown = JSON.parse(text);
    if (isFields(file) && (Array.isArray(file['keys']) || Array.isArray(file['teams']))) return file;
  } catch {
    // The message below says what the file should be.
  }
  throw new ImportError('the file of accounts must be JSON with the lists "keys", "teams", "users" and "budgets"');
}

type Around = {
  readonly teams: ReadonlyMap<unknown, string>;
  readonly people: ReadonlyMap<unknown, Fields>;
  readonly budgets: ReadonlyMap<unknown, Fields>;
  readonly plan: AccountPlan;
  readonly notes: Notes;
};

/** Members of a key that mean something only in LiteLLM, if they are not empty. */
const ownSettings = ['aliases', 'config', 'permissions', 'allowed_routes', 'allowed_cache_controls', 'model_max_budget', 'router_settings'];

function readKey(row: Fields, { teams, people, budgets, plan, notes }: Around): void {
  const digest = textOf(row['token']);
  const alias = textOf(row['key_alias']) ?? textOf(row['key_name']) ?? 'key';
  if (digest === undefined || !/^[0-9a-f]{64}$/.test(digest)) {
    notes.leftOut(`key ${alias}`, 'it has no token that is a SHA-256 digest');
    return;
  }
  const team = teams.get(row['team_id']);
  const person = people.get(row['user_id']);
  const wish = textOf(person?.['user_email']) ?? textOf(person?.['user_alias']) ?? textOf(row['user_id']) ?? team ?? 'litellm';
  const shared = person === undefined ? {} : readLimits({ row: person, what: `user ${wish}`, budgets }, notes);
  const user = plan.addUser(wish, { ...(team !== undefined && { team }), limits: shared });
  const isClosed = textsOf(row['models']).includes('no-default-models');
  const expires = Date.parse(textOf(row['expires']) ?? '');
  const limits = {
    ...readLimits({ row, what: `key ${alias}`, budgets }, notes),
    ...(Number.isNaN(expires) ? {} : { expiresAtMs: expires }),
  };
  const endsIn = (/^sk-\.\.\.(.{1,4})$/.exec(textOf(row['key_name']) ?? '') ?? [])[1] ?? '';
  const isDisabled = row['blocked'] === true || isClosed;
  const name = plan.addKey({ user, name: alias, secret: { sha256: digest, endsIn }, limits, isDisabled });
  if (name !== alias) notes.changed(`key ${alias}`, `its name is ${user}/${name}`);
  if (isClosed) notes.changed(`key ${alias}`, 'it may call no model; it is disabled');
  const unread = ownSettings.filter((member) => isFilled(jsonOf(row[member])));
  if (unread.length > 0) notes.leftOut(`key ${alias}`, unread.join(', '));
}

const isFilled = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Object.keys(fieldsOf(value)).length > 0);

/** Names of LiteLLM that mean every model. */
const everything = new Set(['all-proxy-models', 'all-team-models', '*']);

function readLimits({ row, what, budgets }: Budgeted, notes: Notes): AccessLimits {
  const budget = budgets.get(row['budget_id']);
  const from = (member: string): unknown => row[member] ?? budget?.[member];
  const requestsPerMinute = limitOf(from('rpm_limit'), rateLimitsMax.requestsPerMinute);
  const tokensPerMinute = limitOf(from('tpm_limit'), rateLimitsMax.tokensPerMinute);
  const concurrency = limitOf(from('max_parallel_requests'), rateLimitsMax.concurrency);
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(concurrency !== undefined && { concurrency }),
    ...readModels(textsOf(row['models']), what, notes),
    ...readBudget(numberOf(from('max_budget')), textOf(from('budget_duration')), numberOf(row['spend']) ?? 0, what, notes),
  };
}

function readModels(written: readonly string[], what: string, notes: Notes): Pick<AccessLimits, 'models'> {
  const named = written.filter((model) => model !== 'no-default-models');
  if (named.length === 0 || named.some((model) => everything.has(model))) return {};
  const models = named.filter((model) => model.length <= modelCharactersMax && !/\*./.test(model)).slice(0, listEntriesMax);
  if (models.length < named.length) notes.leftOut(what, `${named.length - models.length} of its ${named.length} models`);
  return models.length === 0 ? {} : { models };
}

/** A budget that renews itself becomes the limit of a day or month, the rest of any other budget a limit in total. */
function readBudget(most: number | undefined, duration: string | undefined, spent: number, what: string, notes: Notes): AccessLimits {
  if (most === undefined || most < 0) return {};
  if (duration === undefined) {
    const left = usdOf(Math.max(0, most - spent));
    notes.changed(what, `of a budget of ${most} USD, ${left} are left: that is its limit in total`);
    return { spendTotal: left };
  }
  const period = /^(?:1d|24h|86400s|daily)$/.test(duration) ? 'day' : /^(?:1mo|30d|31d|28d|monthly)$/.test(duration) ? 'month' : undefined;
  if (period === undefined) {
    notes.leftOut(what, `a budget of ${most} USD each ${duration}; Weir has limits of a day, a month and in total`);
    return {};
  }
  notes.changed(what, `a budget of ${most} USD each ${duration} is a limit of the ${period} (UTC), which begins unused`);
  return period === 'day' ? { spendPerDay: usdOf(most) } : { spendPerMonth: usdOf(most) };
}
