import type { Command } from 'commander';

import { contentModeOf, type ContentMode, contentModes, isContentMode } from '../../accounts/content-mode.ts';
import { eraseContent } from '../../content/erase-content.ts';
import { systemClock } from '../../platform/clock.ts';
import { readConfigNaming } from '../config/find-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { findKeys } from './find-keys.ts';
import { commandAuthor } from './name-actor.ts';
import { noTeam } from './teams.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable, readStore, withAccounts, withStore } from './with-accounts.ts';

type JsonOption = { readonly json?: boolean };

/** Adds `weir content …`: the recording of prompts and replies, and its deletion. */
export function addContentCommands(program: Command, environment: Environment): void {
  const content = program.command('content').description('the recording of prompts and replies, and its deletion');
  content
    .command('list')
    .description('lists keys and teams with a choice, and what it leads to')
    .option('--json', 'as JSON')
    .action(({ json }: JsonOption) => listChoices(environment, json === true));
  content
    .command('set')
    .description('sets how much of the calls of keys or of a team is recorded, up to content.ceiling of the configuration')
    .argument('<mode>', `${contentModes.join(', ')}, or default: a key follows its team, and of a team nothing is recorded`)
    .option('--key <keys...>', 'ids of keys, or user/name')
    .option('--team <name>', 'a team')
    .action((mode: string, options: { readonly key?: readonly string[]; readonly team?: string }) => setMode(environment, mode, options));
  content
    .command('erase')
    .description("deletes a user's recorded content in spools, buckets and folders; a collector keeps what it has received")
    .requiredOption('--user <name>', 'the user')
    .option('--before <instant>', 'only of calls before it, such as 2026-12-31T00:00:00Z; default: until now')
    .action((options: { readonly user: string; readonly before?: string }) => erase(environment, options));
  content
    .command('erasures')
    .description('lists orders to delete content, and how many objects gateways have not deleted yet')
    .option('--json', 'as JSON')
    .action(({ json }: JsonOption) => listErasures(environment, json === true));
}

async function listChoices(environment: Environment, json: boolean): Promise<void> {
  const ceiling = readConfigNaming('content', environment)?.content?.ceiling ?? 'off';
  const { keys, teams } = await readStore(environment, async (store) => ({
    keys: await store.listApiKeys(),
    teams: await store.listTeams(),
  }));
  const rows = [
    ...teams.flatMap(({ name, content }) =>
      content === undefined ? [] : [{ kind: 'team', name, chosen: content, recorded: contentModeOf({ content }, ceiling) }],
    ),
    ...keys
      .filter(({ content, team }) => content !== undefined || team?.content !== undefined)
      .map((key) => ({
        kind: 'key',
        name: `${key.userName}/${key.name}`,
        chosen: key.content ?? 'default',
        recorded: contentModeOf(key, ceiling),
      })),
  ];
  if (json) return console.log(JSON.stringify({ ceiling, choices: rows }, undefined, 2));
  console.log(`ceiling: ${ceiling}`);
  if (rows.length > 0)
    printTable(
      ['KIND', 'NAME', 'CHOSEN', 'RECORDED'],
      rows.map(({ kind, name, chosen, recorded }) => [kind, inert(name), chosen, recorded]),
    );
}

async function setMode(
  environment: Environment,
  word: string,
  { key: references, team }: { readonly key?: readonly string[]; readonly team?: string },
): Promise<void> {
  const mode = readMode(word);
  if ((references === undefined) === (team === undefined)) throw new StartError('give either --key or --team');
  await withAccounts(environment, async (accounts) => {
    if (team !== undefined && !(await accounts.setTeamContent(team, mode))) throw noTeam(team);
    const keys = references === undefined ? [] : await findKeys(accounts, references);
    for (const { id } of keys) await accounts.setKeyContent(id, mode);
    for (const name of team === undefined ? keys.map((key) => `${key.userName}/${key.name}`) : [team])
      console.error(`content of ${name}: ${mode ?? 'default'}`);
  });
  const ceiling = readConfigNaming('content', environment)?.content?.ceiling ?? 'off';
  if (mode !== undefined && contentModeOf({ content: mode }, ceiling) !== mode)
    console.error(`the configuration limits this to ${ceiling}; see content.ceiling`);
}

function readMode(word: string): ContentMode | undefined {
  if (word === 'default') return undefined;
  if (isContentMode(word)) return word;
  throw new StartError(`the mode must be one of ${contentModes.join(', ')} or default; got "${word.slice(0, 100)}"`);
}

async function erase(environment: Environment, { user, before }: { readonly user: string; readonly before?: string }): Promise<void> {
  const beforeMs = before === undefined ? undefined : Date.parse(before);
  if (Number.isNaN(beforeMs))
    throw new StartError(`--before must be an instant such as 2026-12-31T00:00:00Z; got "${(before ?? '').slice(0, 100)}"`);
  const change = { ...commandAuthor(), atMs: systemClock.nowMs() };
  const erasure = await withStore(environment, (store) => eraseContent(store, { userName: user, beforeMs }, change));
  if (erasure === undefined) throw new StartError(`there is no user "${user}"; weir users list shows them`);
  const { objectsLeft, beforeMs: moment } = erasure;
  console.error(
    `erased: content of ${erasure.user} before ${new Date(moment).toISOString()}; running gateways delete ${objectsLeft} objects`,
  );
}

async function listErasures(environment: Environment, json: boolean): Promise<void> {
  const erasures = (await readStore(environment, (store) => store.listErasures())).map(({ user, beforeMs, orderedAtMs, objectsLeft }) => ({
    user,
    before: new Date(beforeMs).toISOString(),
    ordered: new Date(orderedAtMs).toISOString(),
    objectsLeft,
  }));
  if (json) return console.log(JSON.stringify(erasures, undefined, 2));
  printTable(
    ['USER', 'BEFORE', 'ORDERED', 'OBJECTS LEFT'],
    erasures.map(({ user, before, ordered, objectsLeft }) => [inert(user), before, ordered, String(objectsLeft)]),
  );
}
