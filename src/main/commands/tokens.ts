import type { Command } from 'commander';

import { createToken, deleteToken, listTokens, rotateToken } from '../../admin/resources/billing-tokens/billing-token-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { readDuration } from './read-duration.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { printTable } from './with-accounts.ts';

type ListedToken = NonNullable<typeof listTokens.types>['reply']['items'][number];
type CreateOptions = RemoteOption & { readonly name: string; readonly user?: string; readonly expires?: string };

/** Adds `weir tokens …`: the credentials of the monitor service. */
export function addTokenCommands(program: Command, environment: Environment): void {
  const tokens = program.command('tokens').description('billing tokens of the monitor service');
  addRemoteOption(tokens.command('create'))
    .description('creates a token and prints its secret, once')
    .requiredOption('--name <name>', 'its name')
    .option('--user <name>', "the token reads only this user's calls; without this option it reads all calls")
    .option('--expires <time>', 'how long the token is valid: 12h, 90d')
    .action(({ name, user, expires, ...place }: CreateOptions) => {
      const until = expires === undefined ? undefined : systemClock.nowMs() + readDuration('--expires', expires);
      const body = {
        name,
        ...(user === undefined ? {} : { user }),
        ...(until === undefined ? {} : { expires_at: new Date(until).toISOString() }),
      };
      return withService(environment, place, async (service) => console.log((await service.call(createToken, { body })).body.secret));
    });
  addRemoteOption(tokens.command('list'))
    .description('lists tokens')
    .option('--json', 'as JSON')
    .action(async ({ json, ...place }: RemoteOption & { readonly json?: boolean }) => {
      const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listTokens))).body;
      if (json === true) printItems(items);
      else printTable(['ID', 'NAME', 'SEES', 'CREATED', 'EXPIRES', 'LAST USED', 'OLD SECRET UNTIL'], items.map(describeToken));
    });
  addRemoteOption(tokens.command('rotate'))
    .description('creates a new secret of a token and prints it, once; the old secret stays valid for the overlap')
    .argument('<token>', 'id or name')
    .option('--overlap <time>', 'how long the old secret stays valid: 0, 90s, 30m, 12h, 7d', '24h')
    .action((reference: string, { overlap, ...place }: RemoteOption & { readonly overlap: string }) => {
      const overlap_s = readDuration('--overlap', overlap) / 1000;
      return withService(environment, place, async (service) => {
        const { id, name } = await findToken(service, reference);
        const { body } = await service.call(rotateToken, { params: { id }, body: { overlap_s } });
        console.log(body.secret);
        console.error(`the old secret of ${name} is valid until ${body.previous_until ?? 'now'}`);
      });
    });
  addRemoteOption(tokens.command('delete'))
    .description('removes a token; running monitors notice within about a second')
    .argument('<token>', 'id or name')
    .action((reference: string, place: RemoteOption) =>
      withService(environment, place, async (service) => {
        const { id, name } = await findToken(service, reference);
        await service.call(deleteToken, { params: { id } });
        console.error(`deleted ${name} (${id})`);
      }),
    );
}

function describeToken(token: ListedToken): readonly string[] {
  const { previous_until } = token;
  const isRotating = previous_until !== null && Date.parse(previous_until) > systemClock.nowMs();
  return [
    token.id,
    token.name,
    token.user ?? 'everything',
    token.created_at,
    token.expires_at ?? 'never',
    token.last_used_at ?? '-',
    isRotating ? previous_until : '-',
  ];
}

async function findToken(service: AdminService, reference: string): Promise<ListedToken> {
  const { items } = (await service.call(listTokens)).body;
  // The id is matched first, so that a token whose name is the id of another token cannot hide that token.
  const token = items.find(({ id }) => id === reference) ?? items.find(({ name }) => name === reference);
  if (token === undefined) throw new StartError(`there is no billing token "${reference}"; weir tokens list shows them`);
  return token;
}
