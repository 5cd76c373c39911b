import type { Command } from 'commander';

import type { Accounts } from '../../accounts/create-accounts.ts';
import type { ApiKey } from '../../accounts/api-key.ts';
import { parseLimits, type WrittenLimits } from '../../accounts/parse-limits.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { addLimitOptions, showLimits, writtenLimits } from './limit-options.ts';
import { addDisconnectOption, parseDisconnect } from './disconnect-option.ts';
import { addRetentionOption, parseRetention, showRetention } from './retention-option.ts';
import { printTable, withAccounts } from './with-accounts.ts';

/** Finds a key by its id, or by its owner and name: `bob/ci`. */
async function findKey(accounts: Accounts, reference: string): Promise<ApiKey> {
  const slash = reference.indexOf('/');
  const key = await accounts.findApiKey(
    slash === -1 ? { id: reference } : { userName: reference.slice(0, slash), name: reference.slice(slash + 1) },
  );
  if (key === undefined) throw new StartError(`there is no key "${reference}"; name it by id or as user/name (weir keys list shows both)`);
  return key;
}

function printKeys(keys: readonly ApiKey[]): void {
  printTable(
    ['ID', 'USER', 'NAME', 'ENDS IN', 'CREATED', 'DISCONNECT', 'STATE', 'KEPT', 'TRANSLATION', 'LIMITS'],
    keys.map((key) => [
      key.id,
      key.userName,
      key.name,
      key.hint,
      new Date(key.createdAtMs).toISOString(),
      key.disconnectPolicy ?? 'default',
      stateOf(key),
      showRetention(key.responseRetentionDays),
      key.strictTranslation ? 'strict' : 'lenient',
      showLimits(key.limits),
    ]),
  );
}

function stateOf({ disabledAtMs, limits }: ApiKey): string {
  if (disabledAtMs !== undefined) return 'disabled';
  return (limits?.expiresAtMs ?? Infinity) <= systemClock.nowMs() ? 'expired' : 'active';
}

type UpdateOptions = { readonly strict?: boolean; readonly retentionDays?: string; readonly disconnect?: string } & WrittenLimits;

const strictMeaning = "refuses calls that another vendor's interface cannot carry whole";

/** Adds `weir keys update`, which changes the options of an existing key. */
function addUpdateCommand(keys: Command, environment: Environment): void {
  const update = keys
    .command('update')
    .description("changes a key's options")
    .argument('<key>', 'id, or user/name')
    .option('--strict', strictMeaning)
    .option('--no-strict', 'serves such calls, and reports the parts that were left out');
  addDisconnectOption(addRetentionOption(update));
  addLimitOptions(update).action((reference: string, { strict, retentionDays, disconnect, ...written }: UpdateOptions) => {
    const change = parseLimits(writtenLimits(written), systemClock.nowMs());
    const isLimited = Object.keys(change).length > 0;
    const retention = retentionDays === undefined ? undefined : parseRetention(retentionDays);
    const onDisconnect = disconnect === undefined ? undefined : parseDisconnect(disconnect);
    if (strict === undefined && retention === undefined && onDisconnect === undefined && !isLimited)
      throw new StartError(
        'nothing to change: give --strict or --no-strict, --retention-days 7, --disconnect drain, or a limit such as --rpm 60, or --rpm none',
      );
    return withAccounts(environment, async (accounts) => {
      const { id } = await findKey(accounts, reference);
      if (strict !== undefined) await accounts.setStrictTranslation(id, strict);
      if (retention !== undefined) await accounts.setResponseRetention(id, retention.days);
      if (onDisconnect !== undefined) await accounts.setDisconnectPolicy(id, onDisconnect.policy);
      if (isLimited) await accounts.changeKeyLimits(id, change);
      const key = await findKey(accounts, id);
      const changed = [
        ...(strict === undefined ? [] : [`${key.strictTranslation ? 'strict' : 'lenient'} translation`]),
        ...(retention === undefined ? [] : [`responses kept: ${showRetention(key.responseRetentionDays)}`]),
        ...(onDisconnect === undefined ? [] : [`when clients disconnect: ${key.disconnectPolicy ?? 'default'}`]),
        ...(isLimited ? [showLimits(key.limits) || 'no limits'] : []),
      ];
      console.error(`updated ${key.userName}/${key.name} (${key.id}): ${changed.join('; ')}`);
    });
  });
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
  addDisconnectOption(addRetentionOption(create));
  addLimitOptions(create).action(
    async ({ user, name, strict = false, retentionDays, disconnect, ...written }: { user: string; name: string } & UpdateOptions) => {
      const limits = parseLimits(writtenLimits(written), systemClock.nowMs());
      const responseRetentionDays = retentionDays === undefined ? undefined : parseRetention(retentionDays).days;
      const disconnectPolicy = disconnect === undefined ? undefined : parseDisconnect(disconnect).policy;
      const newKey = { userName: user, name, strictTranslation: strict, responseRetentionDays, disconnectPolicy, limits };
      console.log(await withAccounts(environment, async (accounts) => (await accounts.createApiKey(newKey)).secret));
    },
  );
  keys
    .command('list')
    .description('lists keys')
    .option('--user <name>', "only this user's")
    .option('--json', 'as JSON')
    .action(async ({ user, json }: { user?: string; json?: boolean }) => {
      const listed = await withAccounts(environment, (accounts) => accounts.listApiKeys(user === undefined ? {} : { userName: user }));
      if (json === true) console.log(JSON.stringify(listed, undefined, 2));
      else printKeys(listed);
    });
  addUpdateCommand(keys, environment);
  const changes = [
    {
      name: 'disable',
      description: 'stops a key from opening new calls; running ones finish',
      change: (accounts: Accounts, id: string) => accounts.disableApiKey(id),
    },
    {
      name: 'enable',
      description: 'lets a disabled key open calls again',
      change: (accounts: Accounts, id: string) => accounts.enableApiKey(id),
    },
    {
      name: 'delete',
      description: 'removes a key permanently; its usage stays in the books',
      change: (accounts: Accounts, id: string) => accounts.deleteApiKey(id),
    },
  ];
  for (const { name, description, change } of changes) {
    keys
      .command(name)
      .description(description)
      .argument('<key>', 'id, or user/name')
      .action((reference: string) =>
        withAccounts(environment, async (accounts) => {
          const key = await findKey(accounts, reference);
          await change(accounts, key.id);
          console.error(`${name}d ${key.userName}/${key.name} (${key.id})`);
        }),
      );
  }
}
