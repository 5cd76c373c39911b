import type { Command } from 'commander';

import { formatTags } from '../../accounts/call-tags.ts';
import { overlapMsMax } from '../../accounts/manage-keys.ts';
import { parseInstant, parseLimits, type WrittenLimits } from '../../accounts/parse-limits.ts';
import { decodeLimits, encodeLimitsChange } from '../../admin/contract/limits.ts';
import { createKey, deleteKey, listKeys, rotateKey, updateKey } from '../../admin/resources/keys/key-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { findKey, findKeys, type ListedKey } from './find-keys.ts';
import { addLimitOptions, showLimits, writtenLimits } from './limit-options.ts';
import { addDisconnectOption, parseDisconnect } from './disconnect-option.ts';
import { readDuration } from './read-duration.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { addTagsOption, readTagsOption } from './tags-option.ts';
import { addRetentionOption, parseRetention, showRetention } from './retention-option.ts';
import { printTable } from './with-accounts.ts';

/** Columns that are only shown if a listed key has something in them. */
function ifAny<Column>(keys: readonly ListedKey[], has: (key: ListedKey) => boolean, column: Column): readonly Column[] {
  return keys.some(has) ? [column] : [];
}

const headings = ['NAME', 'ENDS IN', 'CREATED', 'LAST USED', 'DISCONNECT', 'STATE', 'KEPT', 'TRANSLATION'] as const;
const tagsOf = ({ tags }: ListedKey): string => formatTags({ ...tags });

function printKeys(keys: readonly ListedKey[]): void {
  const withTeam = <Column>(column: Column) => ifAny(keys, ({ team }) => team !== null, column);
  const withTags = <Column>(column: Column) => ifAny(keys, (key) => tagsOf(key) !== '', column);
  printTable(
    ['ID', 'USER', ...withTeam('TEAM'), ...headings, ...withTags('TAGS'), 'LIMITS'],
    keys.map((key) => [
      key.id,
      key.user,
      ...withTeam(key.team ?? '-'),
      key.name,
      key.ends_in,
      key.created_at,
      key.last_used_at ?? '-',
      key.disconnect ?? 'default',
      stateOf(key),
      showRetention(key.response_retention_days ?? undefined),
      key.strict_translation ? 'strict' : 'lenient',
      ...withTags(tagsOf(key) || '-'),
      showLimits(decodeLimits(key.limits)),
    ]),
  );
}

/** `rotating`: the old secret is still valid. */
function stateOf({ state, previous_until }: ListedKey): string {
  const isRotating = previous_until !== null && Date.parse(previous_until) > systemClock.nowMs();
  return state === 'active' && isRotating ? 'rotating' : state;
}

type WrittenOptions = {
  readonly strict?: boolean;
  readonly retentionDays?: string;
  readonly disconnect?: string;
  readonly tags?: string;
} & WrittenLimits;

const strictMeaning = "refuses calls that another vendor's interface cannot carry whole";

/** The options of a key as the body of a request; empty without any. */
function readOptions({ strict, retentionDays, disconnect, tags, ...written }: WrittenOptions) {
  const limits = encodeLimitsChange(parseLimits(writtenLimits(written), systemClock.nowMs()));
  return {
    ...(strict !== undefined && { strict_translation: strict }),
    ...(retentionDays !== undefined && { response_retention_days: parseRetention(retentionDays).days ?? null }),
    ...(disconnect !== undefined && { disconnect: parseDisconnect(disconnect).policy ?? null }),
    ...(tags !== undefined && { tags: { ...readTagsOption(tags) } }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

/** Adds `weir keys update`, which changes the options of an existing key. */
function addUpdateCommand(keys: Command, environment: Environment): void {
  const update = addRemoteOption(keys.command('update'))
    .description('changes the options of keys')
    .argument('<keys...>', 'ids, or user/name')
    .option('--strict', strictMeaning)
    .option('--no-strict', 'serves such calls, and reports the parts that were left out');
  addTagsOption(addDisconnectOption(addRetentionOption(update)));
  addLimitOptions(update).action((references: readonly string[], options: WrittenOptions & RemoteOption) => {
    const body = readOptions(options);
    if (Object.keys(body).length === 0)
      throw new StartError(
        'nothing to change: give --strict or --no-strict, --retention-days 7, --disconnect drain, --tags project=search, or a limit such as --rpm 60, or --rpm none',
      );
    return withService(environment, options, async (service) => {
      for (const { id } of await findKeys(service, references)) {
        const { body: key } = await service.call(updateKey, { params: { id }, body });
        const changed = [
          ...(body.strict_translation === undefined ? [] : [`${key.strict_translation ? 'strict' : 'lenient'} translation`]),
          ...(body.response_retention_days === undefined
            ? []
            : [`responses kept: ${showRetention(key.response_retention_days ?? undefined)}`]),
          ...(body.disconnect === undefined ? [] : [`when clients disconnect: ${key.disconnect ?? 'default'}`]),
          ...(body.tags === undefined ? [] : [`tags: ${tagsOf(key) || 'none'}`]),
          ...(body.limits === undefined ? [] : [showLimits(decodeLimits(key.limits)) || 'no limits']),
        ];
        console.error(`updated ${key.user}/${key.name} (${key.id}): ${changed.join('; ')}`);
      }
    });
  });
}

type CreateOptions = WrittenOptions & RemoteOption & { readonly user: string; readonly name: string };

/** Adds `weir keys …`. `create` prints nothing but the secret on standard output, so that a script can read it. */
export function addKeyCommands(program: Command, environment: Environment): void {
  const keys = program.command('keys').description('API keys; changes take effect in a running gateway within a second or two');
  const create = addRemoteOption(keys.command('create'))
    .description('creates a key and prints its secret, once')
    .requiredOption('--user <name>', 'its owner; a new user is created')
    .requiredOption('--name <name>', "the key's name, which the statistics show")
    .option('--strict', strictMeaning);
  addTagsOption(addDisconnectOption(addRetentionOption(create)));
  addLimitOptions(create).action(({ user, name, ...options }: CreateOptions) => {
    const body = { user, name, ...readOptions(options) };
    return withService(environment, options, async (service) => console.log((await service.call(createKey, { body })).body.secret));
  });
  addListCommand(keys, environment);
  addUpdateCommand(keys, environment);
  addRotateCommand(keys, environment);
  addStateCommands(keys, environment);
}

type ListOptions = RemoteOption & {
  readonly team?: string;
  readonly user?: string;
  readonly unusedSince?: string;
  readonly expiresBefore?: string;
  readonly json?: boolean;
};

function addListCommand(keys: Command, environment: Environment): void {
  addRemoteOption(keys.command('list'))
    .description('lists keys, newest first')
    .option('--user <name>', "only this user's")
    .option('--team <name>', 'only those of the users of this team')
    .option('--unused-since <when>', 'only those that were not used since: a day (2026-12-31), an instant, or a time ago (90d, 12h)')
    .option('--expires-before <when>', 'only those that expire before: a day (2026-12-31), an instant, or a time from now (30d, 12h)')
    .option('--json', 'as JSON')
    .action(async ({ user, team, unusedSince, expiresBefore, json, ...place }: ListOptions) => {
      const nowMs = systemClock.nowMs();
      const instant = (option: string, text: string, isPast?: true): string =>
        new Date(parseInstant(option, text, { nowMs, ...(isPast && { isPast }) })).toISOString();
      const query = {
        ...(user !== undefined && { user }),
        ...(unusedSince !== undefined && { unused_since: instant('--unused-since', unusedSince, true) }),
        ...(expiresBefore !== undefined && { expires_before: instant('--expires-before', expiresBefore) }),
      };
      const all = await withService(environment, { ...place, reads: true }, (service) => listAll(service, listKeys, query));
      const listed = team === undefined ? all : all.filter((key) => key.team === team.normalize('NFC'));
      if (json === true) printItems(listed);
      else printKeys(listed);
    });
}

type RotateOptions = RemoteOption & { readonly overlap: string };

function addRotateCommand(keys: Command, environment: Environment): void {
  addRemoteOption(keys.command('rotate'))
    .description('creates a new secret of a key and prints it, once; the old secret stays valid for the overlap')
    .argument('<key>', 'id, or user/name')
    .option('--overlap <time>', 'how long the old secret stays valid, at most 90d: 0, 90s, 30m, 12h, 7d', '24h')
    .action((reference: string, { overlap, ...place }: RotateOptions) => {
      const overlap_s = readDuration('--overlap', overlap, overlapMsMax) / 1000;
      return withService(environment, place, async (service) => {
        const { id, user, name } = await findKey(service, reference);
        const { body } = await service.call(rotateKey, { params: { id }, body: { overlap_s } });
        console.log(body.secret);
        const end = overlap_s === 0 || body.previous_until === null ? 'has ended' : `is valid until ${body.previous_until}`;
        console.error(`the old secret of ${user}/${name} (${id}) ${end}`);
      });
    });
}

/** Adds the commands that change many keys. They print a line for each, and fail if one of them failed. */
function addStateCommands(keys: Command, environment: Environment): void {
  const disable = (isDisabled: boolean) => (service: AdminService, id: string) =>
    service.call(updateKey, { params: { id }, body: { disabled: isDisabled } });
  const changes = [
    { name: 'disable', description: 'stops keys from opening new calls; running ones finish', change: disable(true) },
    { name: 'enable', description: 'lets disabled keys open calls again', change: disable(false) },
    {
      name: 'delete',
      description: 'removes keys permanently; their usage stays in the books',
      change: (service: AdminService, id: string) => service.call(deleteKey, { params: { id } }),
    },
  ];
  for (const { name, description, change } of changes) {
    addRemoteOption(keys.command(name))
      .description(description)
      .argument('<keys...>', 'ids, or user/name')
      .action((references: readonly string[], place: RemoteOption) =>
        withService(environment, place, async (service) => {
          for (const key of await findKeys(service, references)) {
            await change(service, key.id);
            console.error(`${name}d ${key.user}/${key.name} (${key.id})`);
          }
        }),
      );
  }
}
