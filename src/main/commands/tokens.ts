import type { Command } from 'commander';

import type { BillingToken } from '../../accounts/api-key.ts';
import type { Accounts } from '../../accounts/create-accounts.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { readDuration } from './read-duration.ts';
import { printTable, withAccounts } from './with-accounts.ts';

/** Adds `weir tokens …`: the credentials of the monitor service. */
export function addTokenCommands(program: Command, environment: Environment): void {
  const tokens = program.command('tokens').description('billing tokens of the monitor service');
  tokens
    .command('create')
    .description('creates a token and prints its secret, once')
    .requiredOption('--name <name>', 'its name')
    .option('--user <name>', "the token reads only this user's calls; without this option it reads all calls")
    .option('--expires <time>', 'how long the token is valid: 12h, 90d')
    .action(async ({ name, user, expires }: { name: string; user?: string; expires?: string }) => {
      const newToken = {
        name,
        ...(user === undefined ? {} : { userName: user }),
        ...(expires === undefined ? {} : { expiresAtMs: systemClock.nowMs() + readDuration('--expires', expires) }),
      };
      console.log(await withAccounts(environment, async (accounts) => (await accounts.createBillingToken(newToken)).secret));
    });
  tokens
    .command('list')
    .description('lists tokens')
    .action(async () => {
      const listed = await withAccounts(environment, (accounts) => accounts.listBillingTokens());
      printTable(['ID', 'NAME', 'SEES', 'CREATED', 'EXPIRES', 'LAST USED', 'OLD SECRET UNTIL'], listed.map(describeToken));
    });
  tokens
    .command('rotate')
    .description('creates a new secret of a token and prints it, once; the old secret stays valid for the overlap')
    .argument('<token>', 'id or name')
    .option('--overlap <time>', 'how long the old secret stays valid: 0, 90s, 30m, 12h, 7d', '24h')
    .action(async (reference: string, { overlap }: { overlap: string }) => {
      const overlapMs = readDuration('--overlap', overlap);
      await withAccounts(environment, async (accounts) => {
        const token = await findToken(accounts, reference);
        const rotated = await accounts.rotateBillingToken(token.id, overlapMs);
        if (rotated === undefined) throw unknownToken(reference);
        console.log(rotated.secret);
        console.error(`the old secret of ${token.name} is valid until ${time(rotated.token.previousOpensUntilMs)}`);
      });
    });
  tokens
    .command('delete')
    .description('removes a token; running monitors notice within about a second')
    .argument('<token>', 'id or name')
    .action((reference: string) =>
      withAccounts(environment, async (accounts) => {
        const token = await findToken(accounts, reference);
        await accounts.deleteBillingToken(token.id);
        console.error(`deleted ${token.name} (${token.id})`);
      }),
    );
}

function describeToken(token: BillingToken): readonly string[] {
  const { previousOpensUntilMs } = token;
  const overlaps = previousOpensUntilMs !== undefined && previousOpensUntilMs > systemClock.nowMs();
  return [
    token.id,
    token.name,
    token.userName ?? 'everything',
    time(token.createdAtMs),
    token.expiresAtMs === undefined ? 'never' : time(token.expiresAtMs),
    time(token.lastUsedAtMs),
    overlaps ? time(previousOpensUntilMs) : '-',
  ];
}

async function findToken(accounts: Accounts, reference: string): Promise<BillingToken> {
  const listed = await accounts.listBillingTokens();
  // The id is matched first, so that a token whose name is the id of another token cannot hide that token.
  const token = listed.find(({ id }) => id === reference) ?? listed.find(({ name }) => name === reference);
  if (token === undefined) throw unknownToken(reference);
  return token;
}

function unknownToken(reference: string): StartError {
  return new StartError(`there is no billing token "${reference}"; weir tokens list shows them`);
}

function time(ms: number | undefined): string {
  return ms === undefined ? '-' : new Date(ms).toISOString();
}
