import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Command } from 'commander';

import { operations } from '../../../admin/resources/registry.ts';
import { readEnvironment } from '../../environment.ts';
import { addCommands } from '../add-commands.ts';

const thisMachine = 'concerns the database itself, also one that no console serves';

/** Commands without `--remote`, and why. */
const localCommands: Readonly<Record<string, string>> = {
  'alerts secret': 'makes a random secret, which is stored nowhere',
  backup: thisMachine,
  'database roles': thisMachine,
  health: 'asks a program on this machine',
  login: 'signs this machine in to a console',
  logout: 'ends a sign-in of this machine',
  migrate: thisMachine,
  'prices check': 'checks a local file, or the files of the local configuration',
  'prices import': 'converts a local file',
  'receipt verify': 'needs no database',
  restore: thisMachine,
  'upgrade check': thisMachine,
};

const pageAddress = 'a view is the address of a page of the console';

/** Operations that no command runs, and why. */
const withoutCommand: Readonly<Record<string, string>> = {
  'usage.export': 'usage --csv and --json write the same rows from usage.query',
  'usage.workbook': 'POST /bill/excel of the monitor is the same file; usage --csv writes its records',
  'saved_views.list': pageAddress,
  'saved_views.get': pageAddress,
  'saved_views.create': pageAddress,
  'saved_views.update': pageAddress,
  'saved_views.delete': pageAddress,
  'keys.batch': 'keys update, disable and enable take several keys',
  'playground.keys': 'the playground belongs to a session of a browser',
  'playground.models': 'the playground belongs to a session of a browser',
  'playground.wires': 'captures show prints them',
  'playground.create_key': 'the playground belongs to a session of a browser',
  'playground.end_key': 'the playground belongs to a session of a browser',
  'playground.capture': 'captures create keeps the wires of any key',
  'playground.relay_get': 'a program calls the gateway itself',
  'playground.relay_post': 'a program calls the gateway itself',
  'playground.relay_delete': 'a program calls the gateway itself',
  'playground.socket': 'a program calls the gateway itself',
  'playground.snippet': 'a page of the console shows the lines',
  'price_drafts.list': 'prices publish takes a file instead of a draft',
  'price_drafts.get': 'prices publish takes a file instead of a draft',
  'price_drafts.diff': 'prices diff compares a file instead of a draft',
  'price_drafts.publish': 'prices publish takes a file instead of a draft',
  'price_drafts.update': 'prices publish takes a file instead of a draft',
  'price_drafts.quote': 'prices stage prices real calls',
  'prices.quote': 'a page of the console asks; a key has POST /v1/quote for whole requests',
  'receipts.verify': 'receipt verify recomputes a receipt where it is read',
  'sessions.list': 'people sessions lists those of any person',
  'sessions.end': 'people sign-out ends those of any person',
  'session.create': 'a browser signs in',
  'session.ways': 'a page of the console asks',
  'session.delete': 'a browser signs out',
  'session.confirm': 'tokens have no sign-in to confirm',
  'session.set_password': 'a person sets it in a browser',
  'people.get': 'people list has the same members',
  'teams.get': 'teams list has the same members',
  'targets.get': 'targets list has the same members',
  'audit.get': 'audit list --json has the same members',
  'price_books.get': 'prices history and prices export have the same',
  'calls.get': 'receipt has the same for one call',
  'calls.histogram': 'a page draws it; usage --by has the same by time',
  'calls.download': 'calls export sends the same',
  'videos.receipt': 'receipt takes the id of a video',
  'videos.events': 'videos show tells the present state',
  'operations.events': 'operations show tells the present state; commands that begin work follow it',
  'overview.get': 'a page of the console; usage, alerts and nodes have its parts',
  'attention.list': 'alerts list has the same problems',
  search: 'a field of the console; each list has filters',
  'events.stream': 'pages follow it; lists have the same rows',
};

/** Commands that do something themselves and also have subcommands. */
const both = new Set(['receipt', 'usage']);

async function findCommands(): Promise<ReadonlyMap<string, Command>> {
  const found = new Map<string, Command>();
  const program = new Command('weir');
  await addCommands(program, readEnvironment({}), undefined);
  const walk = (parent: Command, path: string): void => {
    for (const command of parent.commands) {
      const name = `${path}${command.name()}`;
      if (command.commands.length === 0 || both.has(name)) found.set(name, command);
      walk(command, `${name} `);
    }
  };
  walk(program, '');
  return found;
}

test('every command that reads or changes data has --remote, or a reason why not', async () => {
  const commands = await findCommands();
  const local = [...commands].filter(([, { options }]) => !options.some(({ long }) => long === '--remote')).map(([name]) => name);
  assert.deepEqual(local.toSorted(), Object.keys(localCommands).toSorted());
});

test('every listing command prints JSON', async () => {
  // These print nothing else.
  const printsJson = /^(?:(?:captures|models|operations|upstreams) show|stored \S+ show)$/;
  for (const [name, { options }] of await findCommands())
    if (
      !printsJson.test(name) &&
      /(?: (?:list|history|balance|leases|messages|erasures|layers|problems|sessions|show|standings?|statement|storage|verifications)|^(?:nodes|refusals|usage))$/.test(
        name,
      ) &&
      !name.startsWith('prices')
    )
      assert.ok(
        options.some(({ long }) => long === '--json'),
        name,
      );
});

test('everything that the API can do is done by a command, or has a reason why not', async () => {
  const mainFolder = join(import.meta.dirname, '../..');
  const resourceFolder = join(import.meta.dirname, '../../../admin/resources');
  const used = new Set<string>();
  for (const file of globSync('{commands,imports}/**/*.ts', { cwd: mainFolder, exclude: ['**/*.test.ts'] })) {
    const source = readFileSync(join(mainFolder, file), 'utf8');
    for (const [, names = '', path = ''] of source.matchAll(/import \{([^}]+)\} from '[./]+\/admin\/resources\/([\w/-]+\.ts)'/g)) {
      const resource = (await import(join(resourceFolder, path))) as Readonly<Record<string, unknown>>;
      for (const name of names.split(',').map((each) => each.trim())) for (const id of idsOf(resource[name])) used.add(id);
    }
  }
  const missing = operations.filter(({ id }) => !used.has(id) && !(id in withoutCommand)).map(({ id }) => id);
  assert.deepEqual(missing, []);
  for (const id of Object.keys(withoutCommand)) assert.ok(operations.some((operation) => operation.id === id) && !used.has(id), id);
});

/** The ids of an operation, or of the operations of an account. */
function idsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return 'id' in value && typeof value.id === 'string' ? [value.id] : Object.values(value).flatMap(idsOf);
}
