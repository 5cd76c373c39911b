import { readFileSync } from 'node:fs';

import type { Command } from 'commander';

import { checkConfigText, getConfig, listConfigProblems, reloadConfig } from '../../admin/resources/config/config-operations.ts';
import { type Environment, StartError } from '../environment.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type JsonOptions = RemoteOption & { readonly json?: boolean };

/** Adds `weir config show`, `problems` and `reload`: the configuration as running gateways have it. */
export function addGatewayConfigCommands(config: Command, located: () => Environment): void {
  addRemoteOption(config.command('show'))
    .description('every value in force in a gateway, except upstreams and models, and where it comes from')
    .option('--node <id>', 'this gateway; weir nodes lists them')
    .option('--json', 'as JSON')
    .action((options: JsonOptions & { readonly node?: string }) => show(located(), options));
  addRemoteOption(config.command('problems'))
    .description('gateways that cannot use their present file, and files that differ; exits with 1 if there are any')
    .option('--json', 'as JSON')
    .action((options: JsonOptions) => printProblems(located(), options));
  addRemoteOption(config.command('reload'))
    .description('makes every gateway read its files and lists of models now; exits with 1 if one did not follow')
    .option('--json', 'as JSON')
    .action((options: JsonOptions) => reload(located(), options));
}

async function show(environment: Environment, { node, json, ...place }: JsonOptions & { readonly node?: string }): Promise<void> {
  const reading = withService(environment, { ...place, reads: true }, (service) =>
    service.call(getConfig, { query: node === undefined ? {} : { node } }),
  );
  const which = node === undefined ? 'no gateway runs' : `no gateway "${node}" runs; weir nodes lists those that do`;
  const { body } = await wordRefusal(reading, 'not_found', () => new StartError(which));
  if (json === true) return printItems(body.fields);
  printTable(
    ['FIELD', 'VALUE', 'FROM', 'CHANGE NEEDS'],
    body.fields.map(({ path, value, secret, from, variable, line, needs_restart }) => [
      inert(path),
      inert(secret === null ? JSON.stringify(value) : describeSecret(secret)),
      `${from}${variable === null ? '' : ` ${inert(variable)}`}${line === null ? '' : `, line ${line}`}`,
      needs_restart ? 'a restart' : '-',
    ]),
  );
}

function describeSecret({ set, ends_in: endsIn }: { readonly set: boolean; readonly ends_in: string | null }): string {
  return set ? `a secret${endsIn === null ? '' : ` that ends in ${endsIn}`}` : 'not set';
}

async function printProblems(environment: Environment, { json, ...place }: JsonOptions): Promise<void> {
  const { body } = await withService(environment, { ...place, reads: true }, (service) => service.call(listConfigProblems));
  if (body.problems.length > 0 || body.versions.length > 1) process.exitCode = 1;
  if (json === true) return printItems({ problems: body.problems, versions: body.versions });
  for (const { node, detail } of body.problems) console.log(`${node}: ${inert(detail)}`);
  for (const { version, nodes } of body.versions) console.log(`${version}: ${nodes.join(' ')}`);
  if (body.versions.length > 1) console.error('gateways have different files');
}

async function reload(environment: Environment, { json, ...place }: JsonOptions): Promise<void> {
  const { body } = await withService(environment, place, (service) => service.call(reloadConfig));
  if (body.nodes.some(({ has_followed: followed, config_in_force: isGood }) => !followed || !isGood)) process.exitCode = 1;
  if (json === true) return printItems(body.nodes);
  printTable(
    ['GATEWAY', 'HAS READ ITS FILE', 'FILE IN FORCE'],
    body.nodes.map(({ node, has_followed: followed, config_in_force: isGood }) => [node, followed ? 'yes' : 'no', isGood ? 'yes' : 'no']),
  );
}

/**
 * `weir config check --remote`: a console of that version checks the file in use here. Values that the file takes from
 * the environment are not sent. Exits with 1 if there is a problem.
 */
export async function checkConfigThere({ configPath, ...environment }: Environment, { remote }: RemoteOption): Promise<void> {
  if (configPath === undefined) throw new StartError('there is no configuration file here; name one by WEIR_CONFIG');
  const yaml = readFileSync(configPath, 'utf8');
  const place = remote === undefined ? {} : { remote };
  const { body } = await withService({ ...environment, configPath }, place, (service) => service.call(checkConfigText, { body: { yaml } }));
  if (body.is_valid) {
    console.log('The configuration is good for that console. Values that it takes from the environment were not checked.');
    return;
  }
  for (const { line, column, message } of body.problems) console.error(`${configPath}:${line}:${column} ${inert(message)}`);
  process.exitCode = 1;
}
