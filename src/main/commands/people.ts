import type { Command } from 'commander';

import { isRole, type Role, roles } from '../../accounts/people/permissions.ts';
import type { Person, PersonEdit } from '../../accounts/people/person.ts';
import { type Environment, StartError } from '../environment.ts';
import { commandAuthor } from './name-actor.ts';
import { inert } from './usage/terminal-text.ts';
import { findPerson, showTime, withPeople } from './with-people.ts';
import { printTable } from './with-accounts.ts';

type UpdateOptions = {
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
  people
    .command('create')
    .description('makes a person; weir console link --person lets it in')
    .argument('<name>', 'its name, to sign in with')
    .requiredOption('--role <role>', roleText)
    .option('--user <name...>', 'users that it owns, for the role owner')
    .option('--email <address>', 'a label')
    .action(async (name: string, { role, user = [], email }: { role: string; user?: readonly string[]; email?: string }) => {
      const person = { name, role: readRole(role), users: user, email };
      const made = await withPeople(environment, (each) => each.people.create(person, commandAuthor()));
      console.error(`made ${describe(made)}`);
      console.log(made.id);
    });
  people
    .command('list')
    .description('lists people')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const listed = await withPeople(environment, (each) => each.people.list());
      if (json === true) console.log(JSON.stringify(listed, undefined, 2));
      else printTable(['ID', 'NAME', 'ROLE', 'USERS', 'SIGNS IN BY', 'CREATED', 'STATE'], listed.map(cells));
    });
  addUpdateCommand(people, environment);
  people
    .command('sign-out')
    .description('ends all sessions of a person')
    .argument('<person>', 'id or name')
    .action((reference: string) =>
      withPeople(environment, async (each) => {
        const person = await findPerson(each, reference);
        const ended = await each.sessions.end({ personId: person.id }, commandAuthor());
        console.error(`ended ${ended} ${ended === 1 ? 'session' : 'sessions'} of ${inert(person.name)}`);
      }),
    );
  people
    .command('delete')
    .description('removes a person, its sessions and the admin tokens that it made')
    .argument('<person>', 'id or name')
    .action((reference: string) =>
      withPeople(environment, async (each) => {
        const { id } = await findPerson(each, reference);
        const removed = await each.people.remove({ id }, commandAuthor());
        if (removed !== undefined) console.error(`deleted ${describe(removed)}`);
      }),
    );
}

function addUpdateCommand(people: Command, environment: Environment): void {
  people
    .command('update')
    .description('changes a person; a new role, and disabling, end its sessions')
    .argument('<person>', 'id or name')
    .option('--name <name>', 'its new name')
    .option('--role <role>', roleText)
    .option('--user <name...>', 'all users that it owns; "none" for no users')
    .option('--email <address>', 'a label; "none" removes it')
    .option('--disable', 'lets it not sign in any more')
    .option('--enable', 'lets it sign in again')
    .action((reference: string, options: UpdateOptions) => {
      const edit = readEdit(options);
      return withPeople(environment, async (each) => {
        const { id } = await findPerson(each, reference);
        const changed = await each.people.change({ id }, edit, commandAuthor());
        if (changed !== undefined) console.error(`updated ${describe(changed)}`);
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

function describe({ name, role, users, disabledAtMs }: Person): string {
  const owns = users.length === 0 ? '' : ` of ${users.map(inert).join(', ')}`;
  return `${inert(name)}: ${role}${owns}${disabledAtMs === undefined ? '' : ', disabled'}`;
}

function cells(person: Person): readonly string[] {
  const { id, name, role, users, hasPassword, identity, createdAtMs, disabledAtMs } = person;
  const ways = identity === undefined ? (hasPassword ? 'password, link' : 'link') : `${identity.issuer}, link`;
  const state = disabledAtMs === undefined ? 'active' : 'disabled';
  return [id, inert(name), role, users.map(inert).join(', ') || '-', inert(ways), showTime(createdAtMs), state];
}
