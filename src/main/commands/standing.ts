import type { Command } from 'commander';

import { getStanding, listEveryStanding } from '../../admin/resources/standing/standing-operations.ts';
import { type Environment, StartError } from '../environment.ts';
import { findKey } from './find-keys.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type Options = RemoteOption & { readonly key?: string; readonly model?: string; readonly json?: boolean };
type Standing = NonNullable<typeof getStanding.types>['reply'];

/** Adds `weir credits standing`: each limit of a user or a key, what of it is used, and when it is free again. */
export function addStandingCommand(credits: Command, environment: Environment): void {
  addRemoteOption(credits.command('standing'))
    .description('each limit of a user, its team and the organization, how much of it is used, and when it is free again')
    .argument('<user>')
    .option('--key <name>', 'with the limits of this key of the user')
    .option('--model <name>', 'and whether this model may be called')
    .option('--json', 'as JSON')
    .action(async (user: string, options: Options) => {
      const standing = await read(environment, user, options);
      if (options.json === true) return printItems(standing);
      printTable(['LEVEL', 'LIMIT', 'MOST', 'USED', 'RESERVED', 'LEFT', 'FREE AT'], rowsOf(standing));
      if (standing.rates.length > 0 && standing.gateways.silent > 0)
        console.log(`${standing.gateways.silent} of the gateways did not say what is used of the limits of rates`);
      if (standing.model !== null) console.log(describeModel(standing.model));
    });
}

/** Adds `weir credits standings`: every spend limit and every balance that pays. */
export function addStandingsCommand(credits: Command, environment: Environment): void {
  addRemoteOption(credits.command('standings'))
    .description('every spend limit, and every balance that pays: the nearest to its end first')
    .option('--limit <n>', 'how many, at most 1000', '100')
    .option('--json', 'as JSON')
    .action(async ({ limit, json, ...place }: RemoteOption & { readonly limit: string; readonly json?: boolean }) => {
      const rows = Number(limit);
      if (!Number.isInteger(rows) || rows < 1 || rows > 1000)
        throw new StartError(`--limit must be an integer from 1 to 1000; got "${limit.slice(0, 40)}"`);
      const { body } = await withService(environment, { ...place, reads: true }, (service) =>
        service.call(listEveryStanding, { query: { limit: rows } }),
      );
      if (json === true) return printItems(body.items);
      printTable(
        ['LEVEL', 'OWNER', 'LIMIT', 'MOST', 'USED', 'RESERVED', 'LEFT', 'FREE AT'],
        body.items.map(({ user, team, key, ...money }) => {
          const [level = '', ...cells] = moneyRow(money);
          const owner = key === null ? (user ?? team ?? '-') : `${user ?? ''}/${key.name}`;
          return [level, inert(owner), ...cells];
        }),
      );
      if (body.total > body.items.length) console.error(`${body.items.length} of ${body.total} are listed`);
    });
}

async function read(environment: Environment, user: string, { key, model, ...place }: Options): Promise<Standing> {
  return await withService(environment, place, async (service) => {
    const unknown = (): StartError =>
      new StartError(`there is no user "${user}"; weir users list shows them, and weir keys create makes them`);
    // The user is asked for first, so that a wrong name is not taken for a missing key.
    const { body } = await wordRefusal(
      service.call(getStanding, { query: { user, ...(model !== undefined && { model }), ...(key !== undefined && { wait_ms: 0 }) } }),
      'not_found',
      unknown,
    );
    if (key === undefined) return body;
    const noKey = (): StartError => new StartError(`${body.user} has no key named "${key}"`);
    const { id } = await findKey(service, `${body.user}/${key}`).catch((error: unknown) => {
      throw error instanceof StartError ? noKey() : error;
    });
    const query = { user, key_id: id, ...(model !== undefined && { model }) };
    return (await wordRefusal(service.call(getStanding, { query }), 'not_found', noKey)).body;
  });
}

/** A dash where nothing is known. */
function moneyRow({ level, of, limit, spent, reserved, left, resets_at }: Standing['money'][number]): readonly string[] {
  return [
    level,
    of === 'balance' ? 'balance' : `USD, ${of}`,
    ...[limit, spent, reserved, left].map((amount) => amount?.usd ?? '-'),
    resets_at ?? '-',
  ];
}

function rowsOf({ money, rates, expires }: Standing): readonly (readonly string[])[] {
  return [
    ...money.map(moneyRow),
    ...rates.map(({ level, of, limit, used, free_at }) => {
      const left = used === null ? '-' : String(Math.max(0, limit - used));
      return [
        level,
        of === 'concurrency' ? 'calls at a time' : `${of} a minute`,
        String(limit),
        String(used ?? '-'),
        '-',
        left,
        free_at ?? '-',
      ];
    }),
    ...(expires === null ? [] : [[expires.level, 'expires', expires.at, '-', '-', '-', '-']]),
  ];
}

function describeModel({ name, refused_by }: NonNullable<Standing['model']>): string {
  return refused_by === null ? `${name} may be called` : `${name} may not be called: the ${refused_by} does not allow it`;
}
