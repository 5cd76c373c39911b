import { type AccessLimits, listEntriesMax } from '../../../accounts/access-limits.ts';
import { parseNetwork } from '../../../platform/http/address-list.ts';
import { usdOf } from '../decimals.ts';
import { ImportError, type PlannedUpstream } from '../import-plan.ts';
import type { AccountPlan } from '../plan-accounts.ts';
import type { ConfigPlan } from '../plan-config.ts';
import { type Fields, fieldsOf, isFields, jsonOf, listOf, numberOf, textOf } from '../read-fields.ts';
import { planService } from '../services.ts';
import { addressOfChannel, type OneApiKind, serviceOfChannel } from './channel-types.ts';

/** Rows of the tables that are read, as the database or a JSON file has them. */
export type OneApiTables = {
  readonly channels: readonly Fields[];
  readonly tokens: readonly Fields[];
  readonly users: readonly Fields[];
  readonly options: readonly Fields[];
};

/** Tables from JSON: `{"channels": [...], "tokens": [...], "users": [...], "options": [...]}`. @throws ImportError */
export function parseTables(text: string): OneApiTables {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new ImportError(`the file is neither a SQLite database nor JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isFields(file) || !Array.isArray(file['channels'])) throw new ImportError('the file has no list "channels"');
  return {
    channels: listOf(file['channels']),
    tokens: listOf(file['tokens']),
    users: listOf(file['users']),
    options: listOf(file['options']),
  };
}

/** Channels become upstreams and models, groups teams, and users and tokens keep the rest of their quota. */
export function readOneApi(kind: OneApiKind, tables: OneApiTables, config: ConfigPlan, accounts: AccountPlan): void {
  const groups = readChannels(kind, tables.channels, config);
  const teams = planGroups(groups, tables.users, accounts);
  const unitsPerUsd = numberOf(tables.options.find(({ key }) => key === 'QuotaPerUnit')?.['value']) ?? unitsPerUsdDefault;
  const users = new Map<unknown, { readonly name: string; readonly isDisabled: boolean }>();
  for (const row of tables.users) {
    if (numberOf(row['status']) === deletedStatus || isDeleted(row)) continue;
    users.set(row['id'], planUser(row, { kind, teams, unitsPerUsd, accounts }));
  }
  for (const row of tables.tokens) {
    const user = users.get(row['user_id']);
    if (isDeleted(row)) continue;
    if (user === undefined) config.leftOut(`token ${textOf(row['name']) ?? ''}`.trim(), 'its user does not exist');
    else planToken(row, user, { unitsPerUsd, accounts, config });
  }
}

/** Both programs: 500,000 units of quota are a USD unless the option QuotaPerUnit says something else. */
const unitsPerUsdDefault = 500_000;
const enabledStatus = 1;
const deletedStatus = 3;

const isDeleted = (row: Fields): boolean => row['deleted_at'] !== undefined && row['deleted_at'] !== null;

const splitList = (value: unknown, separator: RegExp | string): readonly string[] =>
  (textOf(value) ?? '')
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** The upstreams of each group. */
type Groups = ReadonlyMap<string, ReadonlySet<string>>;

function readChannels(kind: OneApiKind, channels: readonly Fields[], plan: ConfigPlan): Groups {
  const groups = new Map<string, Set<string>>();
  for (const channel of channels) {
    const name = textOf(channel['name']) ?? `channel ${String(channel['id'])}`;
    const planned = planChannel(kind, channel);
    if (typeof planned === 'string') {
      plan.leftOut(`channel ${name}`, planned);
      continue;
    }
    const upstream = plan.addUpstream(name, planned);
    addModels(channel, upstream, plan);
    for (const group of splitList(channel['group'], ',')) groups.set(group, (groups.get(group) ?? new Set()).add(upstream));
    const unread = overrides.filter((member) => Object.keys(fieldsOf(jsonOf(channel[member]))).length > 0);
    if (unread.length > 0) plan.leftOut(`channel ${name}`, unread.join(', '));
  }
  return groups;
}

const overrides = ['param_override', 'header_override', 'setting', 'status_code_mapping'];

function planChannel(kind: OneApiKind, channel: Fields): PlannedUpstream | string {
  const type = numberOf(channel['type']) ?? 0;
  if (numberOf(channel['status']) !== enabledStatus) return 'it is disabled';
  const service = serviceOfChannel(kind, type);
  if (service === undefined) return `Weir has no upstream for its type ${type}`;
  const planned = planService(service, addressOfChannel(service, textOf(channel['base_url'])));
  if (typeof planned === 'string') return planned;
  const keys = splitList(channel['key'], '\n').map((key) => key.replaceAll('${', () => '$${'));
  if (keys.length === 0) return planned;
  return keys.length === 1 ? { ...planned, apiKey: String(keys[0]) } : { ...planned, apiKeys: keys.slice(0, 64) };
}

/** A higher priority comes first in both programs, a lower one in Weir. */
function addModels(channel: Fields, upstream: string, plan: ConfigPlan): void {
  const mapping = fieldsOf(jsonOf(channel['model_mapping']));
  const priority = numberOf(channel['priority']) ?? 0;
  const weight = Math.max(1, Math.floor(numberOf(channel['weight']) ?? 1));
  for (const name of splitList(channel['models'], ',')) {
    if (/\*./.test(name)) {
      plan.leftOut(`model ${name}`, 'a name with * before its end');
      continue;
    }
    const model = textOf(mapping[name]);
    plan.addTarget(name, { upstream, ...(model !== undefined && model !== name && { model }), priority: -priority, weight });
  }
}

/** A group whose users may not use every channel becomes a team that is limited to its upstreams. */
function planGroups(groups: Groups, users: readonly Fields[], accounts: AccountPlan): ReadonlyMap<string, string> {
  const all = new Set([...groups.values()].flatMap((upstreams) => [...upstreams]));
  const teams = new Map<string, string>();
  for (const group of new Set(users.map((row) => textOf(row['group']) ?? 'default'))) {
    const upstreams = [...(groups.get(group) ?? [])];
    if (upstreams.length > 0 && upstreams.length < all.size && upstreams.length <= listEntriesMax)
      teams.set(group, accounts.addTeam(group, { upstreams }));
  }
  return teams;
}

type UserParts = {
  readonly kind: OneApiKind;
  readonly teams: ReadonlyMap<string, string>;
  readonly unitsPerUsd: number;
  readonly accounts: AccountPlan;
};

/** Users pay from what is left of their quota. */
function planUser(row: Fields, { kind, teams, unitsPerUsd, accounts }: UserParts): { readonly name: string; readonly isDisabled: boolean } {
  const id = String(row['id']);
  const team = teams.get(textOf(row['group']) ?? 'default');
  const usd = usdOf(Math.max(0, numberOf(row['quota']) ?? 0) / unitsPerUsd);
  const name = accounts.addUser(textOf(row['username']) ?? `user ${id}`, {
    ...(team !== undefined && { team }),
    limits: { prepaid: true },
    ...(usd !== '0' && { balance: { usd, reference: `${kind} user ${id}` } }),
  });
  return { name, isDisabled: numberOf(row['status']) !== enabledStatus };
}

type TokenParts = { readonly unitsPerUsd: number; readonly accounts: AccountPlan; readonly config: ConfigPlan };

function planToken(row: Fields, user: { readonly name: string; readonly isDisabled: boolean }, parts: TokenParts): void {
  const wish = textOf(row['name']) ?? `token ${String(row['id'])}`;
  const key = textOf(row['key'])?.trim();
  if (key === undefined) {
    parts.config.leftOut(`token ${wish}`, 'its key is not in the file');
    return;
  }
  const name = parts.accounts.addKey({
    user: user.name,
    name: wish,
    // The programs keep keys without the prefix that clients send.
    secret: { plain: key.startsWith('sk-') ? key : `sk-${key}` },
    limits: limitsOfToken(row, wish, parts),
    isDisabled: user.isDisabled || numberOf(row['status']) !== enabledStatus,
  });
  if (name !== wish) parts.config.changed(`token ${wish}`, `its name is ${user.name}/${name}`);
}

function limitsOfToken(row: Fields, wish: string, { unitsPerUsd, config }: TokenParts): AccessLimits {
  const expires = numberOf(row['expired_time']) ?? -1;
  const isUnlimited = row['unlimited_quota'] === true || numberOf(row['unlimited_quota']) === 1;
  const hasModels =
    row['model_limits_enabled'] === undefined || row['model_limits_enabled'] === true || numberOf(row['model_limits_enabled']) === 1;
  const models = hasModels ? splitList(row['model_limits'] ?? row['models'], ',').slice(0, listEntriesMax) : [];
  const written = splitList(row['allow_ips'] ?? row['subnet'], /[\n,]/);
  const addresses = written.filter((address) => parseNetwork(address) !== undefined).slice(0, listEntriesMax);
  if (addresses.length < written.length) config.leftOut(`token ${wish}`, `${written.length - addresses.length} of its addresses`);
  return {
    ...(expires > 0 && { expiresAtMs: expires * 1000 }),
    ...(!isUnlimited && { spendTotal: usdOf(Math.max(0, numberOf(row['remain_quota']) ?? 0) / unitsPerUsd) }),
    ...(models.length > 0 && { models }),
    ...(addresses.length > 0 && { addresses }),
  };
}
