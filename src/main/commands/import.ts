import { writeFileSync } from 'node:fs';

import type { Command } from 'commander';

import { applyPlan, type Applied } from '../imports/apply-plan.ts';
import { ImportError, type ImportPlan } from '../imports/import-plan.ts';
import { planLiteLlm, planOneApi, planOpenRouter, planPortkey } from '../imports/read-sources.ts';
import { writeConfig } from '../imports/write-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';

type ImportOptions = RemoteOption & { readonly out?: string; readonly apply?: boolean; readonly json?: boolean };

/** Adds `weir import …`: the models, keys and accounts of another gateway become those of Weir. */
export function addImportCommands(program: Command, environment: Environment): void {
  const imports = program.command('import').description('moves models, keys, users, teams and balances here from another gateway');
  const add = (name: string, description: string, argument: string): Command =>
    addRemoteOption(imports.command(name))
      .description(`${description}; without --out and --apply it only says what it would do`)
      .argument('<file>', argument)
      .option('--out <file>', 'writes upstreams and models to a new file in the form of weir.yaml')
      .option('--apply', 'makes teams, users, keys and balances; what exists stays as it is')
      .option('--json', 'prints the plan as JSON, without secrets');
  const run = (options: ImportOptions, plan: () => ImportPlan): Promise<void> => runImport(environment, options, plan);

  add('litellm', 'reads a LiteLLM proxy', 'its config.yaml')
    .option('--accounts <file>', 'teams, users, keys and budgets of its database as JSON')
    .action((file: string, { accounts, ...options }: ImportOptions & { readonly accounts?: string }) =>
      run(options, () => planLiteLlm(file, accounts)),
    );
  for (const kind of ['new-api', 'one-api'] as const)
    add(kind, `reads ${kind}`, 'its SQLite database, or its tables as JSON').action((file: string, options: ImportOptions) =>
      run(options, () => planOneApi(kind, file)),
    );
  const model = ['--model <name>', 'the name of the model that clients call here'] as const;
  add('portkey', 'reads a config of Portkey', 'the config as JSON')
    .requiredOption(...model)
    .action((file: string, { model: name, ...options }: ImportOptions & { readonly model: string }) =>
      run(options, () => planPortkey(file, name)),
    );
  add('openrouter', 'reads a preset or the routing parameters of OpenRouter', 'the parameters as JSON')
    .requiredOption(...model)
    .action((file: string, { model: name, ...options }: ImportOptions & { readonly model: string }) =>
      run(options, () => planOpenRouter(file, name)),
    );
}

async function runImport(environment: Environment, { out, apply = false, json = false, remote }: ImportOptions, read: () => ImportPlan) {
  const plan = planOf(read);
  if (out !== undefined) writeNew(out, writeConfig(plan.config));
  const place = remote === undefined ? {} : { remote };
  const applied = apply ? await withService(environment, place, (service) => applyPlan(plan, service)) : undefined;
  if (json) printItems({ ...describePlan(plan), ...(applied !== undefined && { applied }) });
  else for (const line of wordPlan(plan, { out, applied })) console.log(line);
  if (applied?.some(({ outcome }) => outcome === 'refused') === true) process.exitCode = 1;
}

function planOf(read: () => ImportPlan): ImportPlan {
  try {
    return read();
  } catch (error) {
    if (error instanceof ImportError) throw new StartError(error.message);
    throw error;
  }
}

/** The file may have credentials: only its owner may read it. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new StartError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A plan without credentials and secrets. */
function describePlan({ config, teams, users, keys, notes, variables }: ImportPlan) {
  return {
    upstreams: Object.entries(config.upstreams ?? {}).map(([name, { apiKey, apiKeys, ...upstream }]) => ({
      name,
      ...upstream,
      credentials: apiKeys?.length ?? (apiKey === undefined ? 0 : 1),
    })),
    models: config.models ?? {},
    teams,
    users,
    keys: keys.map(({ secret: _secret, isDisabled, ...key }) => ({ ...key, disabled: isDisabled })),
    notes,
    variables,
  };
}

type Outcome = { readonly out: string | undefined; readonly applied: readonly Applied[] | undefined };

function wordPlan(plan: ImportPlan, { out, applied }: Outcome): readonly string[] {
  const { config, teams, users, keys, notes, variables } = plan;
  const counted = (what: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${what} (${names.length}): ${shorten(names)}`];
  const noted = (kind: string): string[] => {
    const lines = notes.filter((note) => note.kind === kind).map(({ what, why }) => `  ${what}: ${why}`);
    return lines.length === 0 ? [] : [`${kind}:`, ...lines];
  };
  return [
    ...counted('upstreams', Object.keys(config.upstreams ?? {})),
    ...counted('models', Object.keys(config.models ?? {})),
    ...counted(
      'teams',
      teams.map(({ name }) => name),
    ),
    ...counted(
      'users',
      users.map(({ name }) => name),
    ),
    ...counted(
      'keys',
      keys.map(({ user, name, isDisabled }) => `${user}/${name}${isDisabled ? ' (disabled)' : ''}`),
    ),
    ...noted('changed'),
    ...noted('left out'),
    ...(variables.length === 0 ? [] : [`variables that the configuration needs: ${variables.join(', ')}`]),
    ...wordOutcome(plan, { out, applied }),
  ];
}

const namesMax = 20;
const shorten = (names: readonly string[]): string =>
  names.length <= namesMax ? names.join(', ') : `${names.slice(0, namesMax).join(', ')} and ${names.length - namesMax} more`;

function wordOutcome({ teams, users, keys }: ImportPlan, { out, applied }: Outcome): readonly string[] {
  const accounts = teams.length + users.length + keys.length;
  const written = out === undefined ? [] : [`wrote ${out}; check it with: WEIR_CONFIG=${out} weir config check`];
  if (applied === undefined)
    return [
      ...written,
      ...(out === undefined ? ['nothing was written: --out <file> writes the configuration'] : []),
      ...(accounts > 0 ? ['no account was made: --apply makes them'] : []),
    ];
  const made = applied.filter(({ outcome }) => outcome === 'made').length;
  const rest = applied.filter(({ outcome }) => outcome !== 'made');
  return [
    ...written,
    `made ${made} of ${applied.length} teams, users and keys`,
    ...rest.map(({ kind, name, outcome, detail }) => `  ${kind} ${name} ${outcome}${detail === undefined ? '' : `: ${detail}`}`),
  ];
}
