import type { Command } from 'commander';

import { type Environment, StartError } from '../environment.ts';
import { printTable, withAccounts } from './with-accounts.ts';

/** Adds `weir tokens …`: the credentials of the monitor service. */
export function addTokenCommands(program: Command, environment: Environment): void {
  const tokens = program.command('tokens').description('billing tokens of the monitor service');
  tokens
    .command('create')
    .description('creates a token and prints its secret, once')
    .requiredOption('--name <name>', 'its name')
    .option('--user <name>', "lets it see only this user's calls; without it, it sees all")
    .action(async ({ name, user }: { name: string; user?: string }) => {
      console.log(
        await withAccounts(
          environment,
          async (accounts) => (await accounts.createBillingToken(user === undefined ? { name } : { name, userName: user })).secret,
        ),
      );
    });
  tokens
    .command('list')
    .description('lists tokens')
    .action(async () => {
      const listed = await withAccounts(environment, (accounts) => accounts.listBillingTokens());
      printTable(
        ['ID', 'NAME', 'SEES', 'CREATED'],
        listed.map((token) => [token.id, token.name, token.userName ?? 'everything', new Date(token.createdAtMs).toISOString()]),
      );
    });
  tokens
    .command('delete')
    .description('removes a token')
    .argument('<token>', 'id or name')
    .action((reference: string) =>
      withAccounts(environment, async (accounts) => {
        const token = (await accounts.listBillingTokens()).find(({ id, name }) => id === reference || name === reference);
        if (token === undefined) throw new StartError(`there is no billing token "${reference}"; weir tokens list shows them`);
        await accounts.deleteBillingToken(token.id);
        console.error(`deleted ${token.name} (${token.id})`);
      }),
    );
}
