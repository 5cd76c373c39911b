import type { Command } from 'commander';

import type { AdminToken } from '../../accounts/people/admin-token.ts';
import { type AdminTokens, localMaker } from '../../accounts/people/admin-tokens.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { commandAuthor } from './name-actor.ts';
import { readDuration } from './read-duration.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';
import { showTime, withPeople } from './with-people.ts';

type CreateOptions = {
  readonly name: string;
  readonly permission?: readonly string[];
  readonly user?: readonly string[];
  readonly expires: string;
};

/** Adds `weir admin-tokens …`: the credentials of programs that use the admin API. */
export function addAdminTokenCommands(program: Command, environment: Environment): void {
  const tokens = program.command('admin-tokens').description('tokens with which programs use the admin API');
  tokens
    .command('create')
    .description('creates a token and prints its secret, once')
    .requiredOption('--name <name>', 'its name')
    .option('--permission <name...>', 'its permissions: usage:read, keys:write; without this option all that need no recent sign-in')
    .option('--user <name...>', 'only the data of these users; without this option of all')
    .option('--expires <time>', 'how long it is valid: 12h, 90d', '90d')
    .action(async ({ name, permission, user, expires }: CreateOptions) => {
      const token = {
        name,
        ...(permission !== undefined && { permissions: permission }),
        ...(user !== undefined && { users: user }),
        lastsMs: readDuration('--expires', expires),
      };
      const { secret } = await withPeople(environment, (each) => each.tokens.create(token, localMaker, commandAuthor()));
      console.log(secret);
    });
  tokens
    .command('list')
    .description('lists tokens')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const listed = await withPeople(environment, (each) => each.tokens.list());
      if (json === true) console.log(JSON.stringify(listed, undefined, 2));
      else printTable(['ID', 'NAME', 'ENDS IN', 'PERMISSIONS', 'USERS', 'EXPIRES', 'LAST USED', 'OLD SECRET UNTIL'], listed.map(cells));
    });
  tokens
    .command('rotate')
    .description('creates a new secret of a token and prints it, once; the old secret stays valid for the overlap')
    .argument('<token>', 'id or name')
    .option('--overlap <time>', 'how long the old secret stays valid: 0, 90s, 30m, 12h, 7d', '24h')
    .action((reference: string, { overlap }: { overlap: string }) => {
      const overlapMs = readDuration('--overlap', overlap);
      return withPeople(environment, async (each) => {
        const { id, name } = await findToken(each.tokens, reference);
        const rotated = await each.tokens.rotate({ id }, overlapMs, commandAuthor());
        if (rotated === undefined) throw unknownToken(reference);
        console.log(rotated.secret);
        console.error(`the old secret of ${inert(name)} is valid until ${showTime(rotated.token.previousOpensUntilMs)}`);
      });
    });
  tokens
    .command('delete')
    .description('removes a token, which ends at once')
    .argument('<token>', 'id or name')
    .action((reference: string) =>
      withPeople(environment, async (each) => {
        const { id, name } = await findToken(each.tokens, reference);
        await each.tokens.remove({ id }, commandAuthor());
        console.error(`deleted ${inert(name)} (${id})`);
      }),
    );
}

function cells(token: AdminToken): readonly string[] {
  const { previousOpensUntilMs = 0 } = token;
  return [
    token.id,
    inert(token.name),
    token.hint,
    String(token.permissions.length),
    token.users === 'all' ? 'all' : token.users.map(inert).join(', '),
    showTime(token.expiresAtMs),
    showTime(token.lastUsedAtMs),
    previousOpensUntilMs > systemClock.nowMs() ? showTime(previousOpensUntilMs) : '-',
  ];
}

async function findToken(tokens: AdminTokens, reference: string): Promise<AdminToken> {
  const listed = await tokens.list();
  // The id is matched first, so that a token whose name is the id of another token cannot hide that token.
  const token = listed.find(({ id }) => id === reference) ?? listed.find(({ name }) => name === reference.normalize('NFC'));
  if (token === undefined) throw unknownToken(reference);
  return token;
}

function unknownToken(reference: string): StartError {
  return new StartError(`there is no admin token "${reference}"; weir admin-tokens list shows them`);
}
