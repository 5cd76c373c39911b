import type { Command } from 'commander';

import { isRole, type Role, roles } from '../../accounts/people/permissions.ts';
import type { PersonEdit } from '../../accounts/people/person.ts';
import {
  createPerson,
  deletePerson,
  endSessions,
  listPeople,
  listSessions,
  updatePerson,
} from '../../admin/resources/people/people-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { type Environment, StartError } from '../environment.ts';
import { findPerson, type ListedPerson } from './remote/find-person.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type UpdateOptions = RemoteOption & {
  readonly name?: string;
  readonly role?: string;
  readonly user?: readonly string[];
  readonly email?: string;
  readonly disable?: boolean;
  readonly enable?: boolean;
};

const roleText = `its role: ${roles.join(', ')}`;

/** Adds `weir people …`: the people who administer Weir. */
export function addPeopleCommands(program: Command, environment: Environment): void {
  const people = program.command('people').description('the people who administer Weir; a running console notices changes at once');
  addRemoteOption(people.command('create'))
    .description('makes a person; weir console link --person lets it in')
    .argument('<name>', 'its name, to sign in with')
    .requiredOption('--role <role>', roleText)
    .option('--user <name...>', 'users that it owns, for the role owner')
    .option('--email <address>', 'a label')
    .action((name: string, { role, user = [], email, ...place }: CreateOptions) => {
      const person = { name, role: readRole(role), users: [...user], ...(email !== undefined && { email }) };
      return withService(environment, place, async (service) => {
        const { body } = await service.call(createPerson, { body: person });
        console.error(`made ${describe(body)}`);
        console.log(body.id);
      });
    });
  addRemoteOption(people.command('list'))
    .description('lists people')
    .option('--json', 'as JSON')
    .action(async ({ json, ...place }: RemoteOption & { readonly json?: boolean }) => {
      const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listPeople))).body;
      if (json === true) printItems(items);
      else printTable(['ID', 'NAME', 'ROLE', 'USERS', 'SIGNS IN BY', 'CREATED', 'STATE'], items.map(cells));
    });
  addUpdateCommand(people, environment);
  const onOne = (name: string, description: string, work: (service: AdminService, person: ListedPerson) => Promise<void>): void => {
    addRemoteOption(people.command(name))
      .description(description)
      .argument('<person>', 'id or name')
      .action((reference: string, place: RemoteOption) =>
        withService(environment, place, async (service) => work(service, await findPerson(service, reference))),
      );
  };
  onOne('sign-out', 'ends all sessions of a person', async (service, { id, name }) => {
    const { ended } = (await service.call(endSessions, { params: { id } })).body;
    console.error(`ended ${ended} ${ended === 1 ? 'session' : 'sessions'} of ${inert(name)}`);
  });
  addRemoteOption(people.command('sessions'))
    .description('the sessions of a person, newest first')
    .argument('<person>', 'id or name')
    .option('--json', 'as JSON')
    .action(async (reference: string, { json, ...place }: RemoteOption & { readonly json?: boolean }) => {
      const { items } = await withService(environment, { ...place, reads: true }, async (service) => {
        const { id } = await findPerson(service, reference);
        return (await service.call(listSessions, { params: { id } })).body;
      });
      if (json === true) return printItems(items);
      printTable(
        ['SIGNED IN', 'BY', 'LAST USED', 'EXPIRES', 'ADDRESS', 'PROGRAM'],
        items.map((each) => [
          each.signed_in_at,
          each.way,
          each.used_at,
          each.expires_at,
          inert(each.address ?? '-'),
          inert(each.user_agent ?? '-'),
        ]),
      );
    });
  onOne('delete', 'removes a person, and the sessions and admin tokens of the person', async (service, person) => {
    await service.call(deletePerson, { params: { id: person.id } });
    console.error(`deleted ${describe(person)}`);
  });
}

type CreateOptions = RemoteOption & { readonly role: string; readonly user?: readonly string[]; readonly email?: string };

function addUpdateCommand(people: Command, environment: Environment): void {
  addRemoteOption(people.command('update'))
    .description('changes a person; a new role, and disabling, end its sessions')
    .argument('<person>', 'id or name')
    .option('--name <name>', 'its new name')
    .option('--role <role>', roleText)
    .option('--user <name...>', 'all users that it owns; "none" for no users')
    .option('--email <address>', 'a label; "none" removes it')
    .option('--disable', 'lets it not sign in any more')
    .option('--enable', 'lets it sign in again')
    .action((reference: string, options: UpdateOptions) => {
      const { users, ...edit } = readEdit(options);
      return withService(environment, options, async (service) => {
        const { id } = await findPerson(service, reference);
        const body = { ...edit, ...(users !== undefined && { users: [...users] }) };
        console.error(`updated ${describe((await service.call(updatePerson, { params: { id }, body })).body)}`);
      });
    });
}

function readEdit({ name, role, user, email, disable, enable }: UpdateOptions): PersonEdit {
  if (disable === true && enable === true) throw new StartError('give --disable or --enable, not both');
  const edit: PersonEdit = {
    ...(name !== undefined && { name }),
    ...(role !== undefined && { role: readRole(role) }),
    ...(user !== undefined && { users: user.length === 1 && user[0] === 'none' ? [] : user }),
    ...(email !== undefined && { email: email === 'none' ? null : email }),
    ...((disable === true || enable === true) && { disabled: disable === true }),
  };
  if (Object.keys(edit).length > 0) return edit;
  throw new StartError('nothing to change: give --name, --role, --user, --email, --disable or --enable');
}

function readRole(text: string): Role {
  if (isRole(text)) return text;
  throw new StartError(`--role must be one of ${roles.join(', ')}; got "${text}"`);
}

function describe({ name, role, users, disabled_at }: ListedPerson): string {
  const owns = users.length === 0 ? '' : ` of ${users.map(inert).join(', ')}`;
  return `${inert(name)}: ${role}${owns}${disabled_at === null ? '' : ', disabled'}`;
}

function cells({ id, name, role, users, has_password, oidc, created_at, disabled_at }: ListedPerson): readonly string[] {
  const ways = oidc === null ? (has_password ? 'password, link' : 'link') : `${oidc.issuer}, link`;
  return [id, inert(name), role, users.map(inert).join(', ') || '-', inert(ways), created_at, disabled_at === null ? 'active' : 'disabled'];
}
