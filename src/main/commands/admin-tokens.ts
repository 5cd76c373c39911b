import type { Command } from 'commander';

import { isPermission, type Permission, permissions } from '../../accounts/people/permissions.ts';
import { createToken, deleteToken, listTokens, rotateToken } from '../../admin/resources/admin-tokens/admin-token-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { readDuration } from './read-duration.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type ListedToken = NonNullable<typeof listTokens.types>['reply']['items'][number];

type CreateOptions = RemoteOption & {
  readonly name: string;
  readonly permission?: readonly string[];
  readonly user?: readonly string[];
  readonly expires: string;
};

/** Adds `weir admin-tokens …`: the credentials of programs that use the admin API. */
export function addAdminTokenCommands(program: Command, environment: Environment): void {
  const tokens = program.command('admin-tokens').description('tokens with which programs use the admin API');
  addRemoteOption(tokens.command('create'))
    .description('creates a token and prints its secret, once')
    .requiredOption('--name <name>', 'its name')
    .option('--permission <name...>', 'its permissions: usage:read, keys:write; without this option all that need no recent sign-in')
    .option('--user <name...>', 'only the data of these users; without this option of all')
    .option('--expires <time>', 'how long it is valid: 12h, 90d', '90d')
    .action(({ name, permission, user, expires, ...place }: CreateOptions) => {
      const body = {
        name,
        ...(permission !== undefined && { permissions: permission.map(readPermission) }),
        ...(user !== undefined && { users: [...user] }),
        lasts_s: readLifetime(expires),
      };
      // A person gives only permissions that the person has.
      const readsContent = body.permissions?.includes('content:read') === true;
      return withService(environment, { ...place, readsContent }, async (service) =>
        console.log((await service.call(createToken, { body })).body.secret),
      );
    });
  addRemoteOption(tokens.command('list'))
    .description('lists tokens')
    .option('--json', 'as JSON')
    .action(async ({ json, ...place }: RemoteOption & { json?: boolean }) => {
      const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listTokens))).body;
      if (json === true) printItems(items);
      else printTable(['ID', 'NAME', 'ENDS IN', 'PERMISSIONS', 'USERS', 'EXPIRES', 'LAST USED', 'OLD SECRET UNTIL'], items.map(cells));
    });
  addRemoteOption(tokens.command('rotate'))
    .description('creates a new secret of a token and prints it, once; the old secret stays valid for the overlap')
    .argument('<token>', 'id or name')
    .option('--overlap <time>', 'how long the old secret stays valid: 0, 90s, 30m, 12h, 7d', '24h')
    .action((reference: string, { overlap, ...place }: RemoteOption & { overlap: string }) => {
      const overlap_s = readDuration('--overlap', overlap) / 1000;
      return withService(environment, place, async (service) => {
        const { id, name } = await findToken(service, reference);
        const { body } = await service.call(rotateToken, { params: { id }, body: { overlap_s } });
        console.log(body.secret);
        console.error(`the old secret of ${inert(name)} is valid until ${body.previous_until ?? 'now'}`);
      });
    });
  addRemoteOption(tokens.command('delete'))
    .description('removes a token, which ends at once')
    .argument('<token>', 'id or name')
    .action((reference: string, place: RemoteOption) =>
      withService(environment, place, async (service) => {
        const { id, name } = await findToken(service, reference);
        await service.call(deleteToken, { params: { id } });
        console.error(`deleted ${inert(name)} (${id})`);
      }),
    );
}

/** @throws StartError that names all permissions */
export function readPermission(text: string): Permission {
  if (isPermission(text)) return text;
  throw new StartError(`"${text.slice(0, 64)}" is not a permission; these are: ${permissions.join(', ')}`);
}

/** The seconds of `--expires`, at least a minute. @throws StartError */
export function readLifetime(text: string): number {
  const seconds = readDuration('--expires', text) / 1000;
  if (seconds < 60) throw new StartError(`--expires must be at least a minute, such as 12h or 90d; got "${text}"`);
  return seconds;
}

function cells(token: ListedToken): readonly string[] {
  const isRotating = token.previous_until !== null && Date.parse(token.previous_until) > systemClock.nowMs();
  return [
    token.id,
    inert(token.name),
    token.ends_in,
    String(token.permissions.length),
    token.users === null ? 'all' : token.users.map(inert).join(', '),
    token.expires_at,
    token.last_used_at ?? '-',
    isRotating ? String(token.previous_until) : '-',
  ];
}

async function findToken(service: AdminService, reference: string): Promise<ListedToken> {
  const { items } = (await service.call(listTokens)).body;
  // The id is matched first, so that a token whose name is the id of another token cannot hide that token.
  const token = items.find(({ id }) => id === reference) ?? items.find(({ name }) => name === reference.normalize('NFC'));
  if (token === undefined) throw new StartError(`there is no admin token "${reference}"; weir admin-tokens list shows them`);
  return token;
}
