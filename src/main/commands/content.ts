import type { Command } from 'commander';

import { contentModeOf, type ContentMode, contentModes, isContentMode } from '../../accounts/content-mode.ts';
import { erase, listChoices, listErasures } from '../../admin/resources/content/content-operations.ts';
import { updateKey } from '../../admin/resources/keys/key-operations.ts';
import { updateTeam } from '../../admin/resources/teams/team-operations.ts';
import { type Environment, StartError } from '../environment.ts';
import { findKeys } from './find-keys.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { noTeam } from './shared-limits.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type JsonOption = { readonly json?: boolean };
type SetOptions = RemoteOption & { readonly key?: readonly string[]; readonly team?: string };
type EraseOptions = RemoteOption & { readonly user: string; readonly before?: string };

/** Adds `weir content …`: the recording of prompts and replies, and its deletion. */
export function addContentCommands(program: Command, environment: Environment): void {
  const content = program.command('content').description('the recording of prompts and replies, and its deletion');
  addRemoteOption(content.command('list'))
    .description('lists keys and teams with a choice, and what it leads to')
    .option('--json', 'as JSON')
    .action((options: JsonOption & RemoteOption) => printChoices(environment, options));
  addRemoteOption(content.command('set'))
    .description('sets how much of the calls of keys or of a team is recorded, up to content.ceiling of the configuration')
    .argument('<mode>', `${contentModes.join(', ')}, or default: a key follows its team, and of a team nothing is recorded`)
    .option('--key <keys...>', 'ids of keys, or user/name')
    .option('--team <name>', 'a team')
    .action((mode: string, options: SetOptions) => setMode(environment, mode, options));
  addRemoteOption(content.command('erase'))
    .description("deletes a user's recorded content in spools, buckets and folders; a collector keeps what it has received")
    .requiredOption('--user <name>', 'the user')
    .option('--before <instant>', 'only of calls before it, such as 2026-12-31T00:00:00Z; default: until now')
    .action((options: EraseOptions) => orderErasure(environment, options));
  addRemoteOption(content.command('erasures'))
    .description('lists orders to delete content, and how many objects gateways have not deleted yet')
    .option('--json', 'as JSON')
    .action((options: JsonOption & RemoteOption) => printErasures(environment, options));
}

async function printChoices(environment: Environment, { json, ...place }: JsonOption & RemoteOption): Promise<void> {
  const { ceiling, items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listChoices))).body;
  if (json === true) return printItems({ ceiling, items });
  console.log(`ceiling: ${ceiling}`);
  if (items.length > 0)
    printTable(
      ['KIND', 'NAME', 'CHOSEN', 'RECORDED'],
      items.map(({ kind, name, chosen, recorded }) => [kind, inert(name), chosen, recorded]),
    );
}

async function setMode(environment: Environment, word: string, { key: references, team, ...place }: SetOptions): Promise<void> {
  const mode = readMode(word);
  const content = mode ?? null;
  if ((references === undefined) === (team === undefined)) throw new StartError('give either --key or --team');
  await withService(environment, place, async (service) => {
    if (team !== undefined)
      await wordRefusal(service.call(updateTeam, { params: { name: team }, body: { content } }), 'not_found', () => noTeam(team));
    const keys = references === undefined ? [] : await findKeys(service, references);
    for (const { id } of keys) await service.call(updateKey, { params: { id }, body: { content } });
    for (const name of team === undefined ? keys.map((key) => `${key.user}/${key.name}`) : [team])
      console.error(`content of ${name}: ${mode ?? 'default'}`);
    if (mode === undefined) return;
    const { ceiling } = (await service.call(listChoices)).body;
    if (contentModeOf({ content: mode }, ceiling) !== mode)
      console.error(`the configuration limits this to ${ceiling}; see content.ceiling`);
  });
}

function readMode(word: string): ContentMode | undefined {
  if (word === 'default') return undefined;
  if (isContentMode(word)) return word;
  throw new StartError(`the mode must be one of ${contentModes.join(', ')} or default; got "${word.slice(0, 100)}"`);
}

async function orderErasure(environment: Environment, { user, before, ...place }: EraseOptions): Promise<void> {
  const beforeMs = before === undefined ? undefined : Date.parse(before);
  if (Number.isNaN(beforeMs))
    throw new StartError(`--before must be an instant such as 2026-12-31T00:00:00Z; got "${(before ?? '').slice(0, 100)}"`);
  const body = { user, ...(beforeMs !== undefined && { before: new Date(beforeMs).toISOString() }) };
  await withService(environment, place, async (service) => {
    const unknown = () => new StartError(`there is no user "${user}"; weir users list shows them`);
    const { body: erasure } = await wordRefusal(service.call(erase, { body }), 'not_found', unknown);
    const { objects_left, before: moment } = erasure;
    console.error(`erased: content of ${erasure.user} before ${moment}; running gateways delete ${objects_left} objects`);
  });
}

async function printErasures(environment: Environment, { json, ...place }: JsonOption & RemoteOption): Promise<void> {
  const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listErasures))).body;
  if (json === true) return printItems(items);
  printTable(
    ['USER', 'BEFORE', 'ORDERED', 'OBJECTS LEFT'],
    items.map(({ user, before, ordered_at, objects_left }) => [inert(user), before, ordered_at, String(objects_left)]),
  );
}
