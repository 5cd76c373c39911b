import type { Command } from 'commander';

import type { Accounts } from '../../accounts/create-accounts.ts';
import type { ApiKey } from '../../accounts/api-key.ts';
import { formatTags } from '../../accounts/call-tags.ts';
import type { ListedApiKey } from '../../accounts/key-store.ts';
import { parseInstant, parseLimits, type WrittenLimits } from '../../accounts/parse-limits.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { findKey, findKeys } from './find-keys.ts';
import { addLimitOptions, showLimits, writtenLimits } from './limit-options.ts';
import { addDisconnectOption, parseDisconnect } from './disconnect-option.ts';
import { readDuration } from './read-duration.ts';
import { addTagsOption, readTagsOption } from './tags-option.ts';
import { addRetentionOption, parseRetention, showRetention } from './retention-option.ts';
import { printTable, withAccounts } from './with-accounts.ts';

const time = (ms: number): string => new Date(ms).toISOString();

/** Columns that are only shown if a listed key has something in them. */
function ifAny<Column>(keys: readonly ApiKey[], has: (key: ApiKey) => boolean, column: Column): readonly Column[] {
  return keys.some(has) ? [column] : [];
}

const headings = ['NAME', 'ENDS IN', 'CREATED', 'LAST USED', 'DISCONNECT', 'STATE', 'KEPT', 'TRANSLATION'] as const;

function printKeys(keys: readonly ListedApiKey[]): void {
  const withTeam = <Column>(column: Column) => ifAny(keys, ({ team }) => team !== undefined, column);
  const withTags = <Column>(column: Column) => ifAny(keys, ({ tags }) => tags !== undefined, column);
  printTable(
    ['ID', 'USER', ...withTeam('TEAM'), ...headings, ...withTags('TAGS'), 'LIMITS'],
    keys.map((key) => [
      key.id,
      key.userName,
      ...withTeam(key.team?.name ?? '-'),
      key.name,
      key.hint,
      time(key.createdAtMs),
      key.lastUsedAtMs === undefined ? '-' : time(key.lastUsedAtMs),
      key.disconnectPolicy ?? 'default',
      stateOf(key),
      showRetention(key.responseRetentionDays),
      key.strictTranslation ? 'strict' : 'lenient',
      ...withTags(formatTags(key.tags) || '-'),
      showLimits(key.limits),
    ]),
  );
}

/** `rotating`: the old secret is still valid. */
function stateOf({ disabledAtMs, limits, previousOpensUntilMs }: ApiKey): string {
  if (disabledAtMs !== undefined) return 'disabled';
  const nowMs = systemClock.nowMs();
  if ((limits?.expiresAtMs ?? Infinity) <= nowMs) return 'expired';
  return (previousOpensUntilMs ?? 0) > nowMs ? 'rotating' : 'active';
}

type UpdateOptions = {
  readonly strict?: boolean;
  readonly retentionDays?: string;
  readonly disconnect?: string;
  readonly tags?: string;
} & WrittenLimits;

const strictMeaning = "refuses calls that another vendor's interface cannot carry whole";

/** Adds `weir keys update`, which changes the options of an existing key. */
function addUpdateCommand(keys: Command, environment: Environment): void {
  const update = keys
    .command('update')
    .description('changes the options of keys')
    .argument('<keys...>', 'ids, or user/name')
    .option('--strict', strictMeaning)
    .option('--no-strict', 'serves such calls, and reports the parts that were left out');
  addTagsOption(addDisconnectOption(addRetentionOption(update)));
  addLimitOptions(update).action(
    (references: readonly string[], { strict, retentionDays, disconnect, tags, ...written }: UpdateOptions) => {
      const change = parseLimits(writtenLimits(written), systemClock.nowMs());
      const isLimited = Object.keys(change).length > 0;
      const retention = retentionDays === undefined ? undefined : parseRetention(retentionDays);
      const onDisconnect = disconnect === undefined ? undefined : parseDisconnect(disconnect);
      const newTags = tags === undefined ? undefined : readTagsOption(tags);
      if ([strict, retention, onDisconnect, newTags].every((each) => each === undefined) && !isLimited)
        throw new StartError(
          'nothing to change: give --strict or --no-strict, --retention-days 7, --disconnect drain, --tags project=search, or a limit such as --rpm 60, or --rpm none',
        );
      return withAccounts(environment, async (accounts) => {
        const found = await findKeys(accounts, references);
        for (const { id } of found) {
          if (strict !== undefined) await accounts.setStrictTranslation(id, strict);
          if (retention !== undefined) await accounts.setResponseRetention(id, retention.days);
          if (onDisconnect !== undefined) await accounts.setDisconnectPolicy(id, onDisconnect.policy);
          if (newTags !== undefined) await accounts.setKeyTags(id, newTags);
          if (isLimited) await accounts.changeKeyLimits(id, change);
          const key = await findKey(accounts, id);
          const changed = [
            ...(strict === undefined ? [] : [`${key.strictTranslation ? 'strict' : 'lenient'} translation`]),
            ...(retention === undefined ? [] : [`responses kept: ${showRetention(key.responseRetentionDays)}`]),
            ...(onDisconnect === undefined ? [] : [`when clients disconnect: ${key.disconnectPolicy ?? 'default'}`]),
            ...(newTags === undefined ? [] : [`tags: ${formatTags(key.tags) || 'none'}`]),
            ...(isLimited ? [showLimits(key.limits) || 'no limits'] : []),
          ];
          console.error(`updated ${key.userName}/${key.name} (${key.id}): ${changed.join('; ')}`);
        }
      });
    },
  );
}

/** Adds `weir keys …`. `create` prints nothing but the secret on standard output, so that a script can read it. */
export function addKeyCommands(program: Command, environment: Environment): void {
  const keys = program.command('keys').description('API keys; changes take effect in a running gateway within a second or two');
  const create = keys
    .command('create')
    .description('creates a key and prints its secret, once')
    .requiredOption('--user <name>', 'its owner; a new user is created')
    .requiredOption('--name <name>', "the key's name, which the statistics show")
    .option('--strict', strictMeaning);
  addTagsOption(addDisconnectOption(addRetentionOption(create)));
  addLimitOptions(create).action(
    async ({
      user,
      name,
      strict = false,
      retentionDays,
      disconnect,
      tags: writtenTags,
      ...written
    }: { user: string; name: string } & UpdateOptions) => {
      const limits = parseLimits(writtenLimits(written), systemClock.nowMs());
      const responseRetentionDays = retentionDays === undefined ? undefined : parseRetention(retentionDays).days;
      const disconnectPolicy = disconnect === undefined ? undefined : parseDisconnect(disconnect).policy;
      const tags = writtenTags === undefined ? {} : readTagsOption(writtenTags);
      const newKey = { userName: user, name, strictTranslation: strict, responseRetentionDays, disconnectPolicy, limits, tags };
      console.log(await withAccounts(environment, async (accounts) => (await accounts.createApiKey(newKey)).secret));
    },
  );
  addListCommand(keys, environment);
  addUpdateCommand(keys, environment);
  addRotateCommand(keys, environment);
  addStateCommands(keys, environment);
}

type ListOptions = {
  readonly team?: string;
  readonly user?: string;
  readonly unusedSince?: string;
  readonly expiresBefore?: string;
  readonly json?: boolean;
};

function addListCommand(keys: Command, environment: Environment): void {
  keys
    .command('list')
    .description('lists keys')
    .option('--user <name>', "only this user's")
    .option('--team <name>', 'only those of the users of this team')
    .option('--unused-since <when>', 'only those that were not used since: a day (2026-12-31), an instant, or a time ago (90d, 12h)')
    .option('--expires-before <when>', 'only those that expire before: a day (2026-12-31), an instant, or a time from now (30d, 12h)')
    .option('--json', 'as JSON')
    .action(async ({ user, team, unusedSince, expiresBefore, json }: ListOptions) => {
      const nowMs = systemClock.nowMs();
      const all = await withAccounts(environment, (accounts) =>
        accounts.listApiKeys({
          ...(user === undefined ? {} : { userName: user }),
          ...(unusedSince === undefined ? {} : { unusedSinceMs: parseInstant('--unused-since', unusedSince, { nowMs, isPast: true }) }),
          ...(expiresBefore === undefined ? {} : { expiresBeforeMs: parseInstant('--expires-before', expiresBefore, { nowMs }) }),
        }),
      );
      const listed = team === undefined ? all : all.filter((key) => key.team?.name === team.normalize('NFC'));
      if (json === true) console.log(JSON.stringify(listed, undefined, 2));
      else printKeys(listed);
    });
}

function addRotateCommand(keys: Command, environment: Environment): void {
  keys
    .command('rotate')
    .description('creates a new secret of a key and prints it, once; the old secret stays valid for the overlap')
    .argument('<key>', 'id, or user/name')
    .option('--overlap <time>', 'how long the old secret stays valid, at most 90d: 0, 90s, 30m, 12h, 7d', '24h')
    .action(async (reference: string, { overlap }: { overlap: string }) => {
      const overlapMs = readDuration('--overlap', overlap);
      await withAccounts(environment, async (accounts) => {
        const { id, userName, name } = await findKey(accounts, reference);
        const rotated = await accounts.rotateApiKey(id, overlapMs);
        if (rotated === undefined) throw new StartError(`the key ${userName}/${name} (${id}) was deleted meanwhile`);
        console.log(rotated.secret);
        const until = rotated.key.previousOpensUntilMs ?? systemClock.nowMs();
        console.error(
          overlapMs === 0
            ? `the old secret of ${userName}/${name} (${id}) has ended`
            : `the old secret of ${userName}/${name} (${id}) is valid until ${time(until)}`,
        );
      });
    });
}

/** Adds the commands that change many keys. They print a line for each, and fail if one of them failed. */
function addStateCommands(keys: Command, environment: Environment): void {
  const changes = [
    {
      name: 'disable',
      description: 'stops keys from opening new calls; running ones finish',
      change: (accounts: Accounts, id: string) => accounts.disableApiKey(id),
    },
    {
      name: 'enable',
      description: 'lets disabled keys open calls again',
      change: (accounts: Accounts, id: string) => accounts.enableApiKey(id),
    },
    {
      name: 'delete',
      description: 'removes keys permanently; their usage stays in the books',
      change: (accounts: Accounts, id: string) => accounts.deleteApiKey(id),
    },
  ];
  for (const { name, description, change } of changes) {
    keys
      .command(name)
      .description(description)
      .argument('<keys...>', 'ids, or user/name')
      .action((references: readonly string[]) =>
        withAccounts(environment, async (accounts) => {
          const found = await findKeys(accounts, references);
          for (const key of found) {
            await change(accounts, key.id);
            console.error(`${name}d ${key.userName}/${key.name} (${key.id})`);
          }
        }),
      );
  }
}
