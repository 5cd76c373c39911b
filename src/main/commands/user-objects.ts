import type { Command } from 'commander';

import { eraseUser } from '../../admin/resources/users/erase-user.ts';
import { exportUser } from '../../admin/resources/users/export-user.ts';
import { type Environment, StartError } from '../environment.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, type RemoteOption, withService } from './remote/with-service.ts';
import { printTexts, readTexts } from './usage/print-texts.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

const noUser = (name: string): StartError => new StartError(`there is no user "${name}"; weir users list shows them`);

/** Adds `weir export user`. */
export function addExportCommands(program: Command, environment: Environment): void {
  const exports = program.command('export').description('everything that is held about a user');
  addRemoteOption(exports.command('user'))
    .description('prints the keys, calls with receipts, stored objects, videos and captures of a user as JSON Lines')
    .argument('<name>', 'the user')
    .action((name: string, place: RemoteOption) =>
      withService(environment, { ...place, readsContent: true }, async (service) => {
        const printed = printTexts(process.stdout, readTexts(service.stream(exportUser, { params: { name } })));
        await wordRefusal(printed, 'not_found', () => noUser(name));
      }),
    );
}

type EraseOptions = RemoteOption & { readonly yes?: true };

/** Adds `weir erase user`. */
export function addEraseCommands(program: Command, environment: Environment): void {
  const erase = program.command('erase').description('deletes what is stored for a user; the books stay');
  addRemoteOption(erase.command('user'))
    .description('ends the keys of a user, deletes its stored objects, videos, captures and recorded content, and lists what stays and why')
    .argument('<name>', 'the user')
    .option('--yes', 'confirms that it cannot be undone')
    .action(async (name: string, { yes, ...place }: EraseOptions) => {
      if (yes !== true) throw new StartError(`this cannot be undone; weir export user ${name} shows what is there, --yes confirms`);
      await withService(environment, place, async (service) => {
        for (let before = Infinity; ;) {
          const asked = service.call(eraseUser, { params: { name }, body: { confirm: name } });
          const { deleted, left, remaining } = (await wordRefusal(asked, 'not_found', () => noUser(name))).body;
          console.log(`deleted of ${inert(name)}: ${describeCounts(deleted)}`);
          // Objects that remain twice, such as running videos, cannot be deleted yet.
          if (left > 0 && left < before) {
            before = left;
            continue;
          }
          printTable(
            ['STAYS', 'WHY'],
            remaining.map(({ what, why }) => [what, why]),
          );
          if (left > 0) throw new StartError(`${left} objects cannot be deleted yet, such as running videos: run this again later`);
          return;
        }
      });
    });
}

const describeCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
    .join(', ');
