import { Type } from 'typebox';

import { roles } from '../../../accounts/people/permissions.ts';
import type { People } from '../../../accounts/people/people.ts';
import type { Person, PersonEdit } from '../../../accounts/people/person.ts';
import type { Sessions } from '../../../accounts/people/sessions.ts';
import type { SignIns } from '../../../accounts/people/sign-ins.ts';
import { instant, nullable, optionalInstant, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import { encodeSession, openSessionSchema } from '../session/own-sessions.ts';

export type PeopleServices = {
  readonly people: People;
  readonly sessions: Pick<Sessions, 'list' | 'end'>;
  readonly signIns: Pick<SignIns, 'createCode'>;
  /** The address of the console, for links. */
  readonly consoleUrl: () => string;
};

const name = Type.String({ minLength: 1, maxLength: 256, description: 'Unique without regard to case.' });
const users = Type.Array(Type.String({ maxLength: 256 }), { maxItems: 1000, description: 'The users that an owner owns.' });

const personSchema = record(
  {
    id: Type.String({ examples: ['per_01k5…'] }),
    name: Type.String(),
    role: Type.Enum(roles),
    users: Type.Array(Type.String()),
    email: nullable(Type.String()),
    has_password: Type.Boolean(),
    oidc: nullable(record({ issuer: Type.String(), subject: Type.String() })),
    created_at: Type.String(),
    disabled_at: nullable(Type.String()),
  },
  'Somebody who administers Weir.',
);

function encodePerson(person: Person) {
  return {
    id: person.id,
    name: person.name,
    role: person.role,
    users: [...person.users],
    email: person.email ?? null,
    has_password: person.hasPassword,
    oidc: person.identity === undefined ? null : { ...person.identity },
    created_at: instant(person.createdAtMs),
    disabled_at: optionalInstant(person.disabledAtMs),
  };
}

type Context = AdminContext<PeopleServices>;
const idParams = record({ id: Type.String({ maxLength: 64 }) });
const revisionOf = async ({ id }: Readonly<Record<string, string>>, { people }: PeopleServices): Promise<number> =>
  (await people.find({ id: id ?? '' }))?.revision ?? 0;

async function find(services: PeopleServices, id: string): Promise<Person> {
  const person = await services.people.find({ id });
  if (person === undefined) throw notFound('person of this id');
  return person;
}

const answer = (person: Person) => ({ body: encodePerson(person), version: person.revision });
const restricted = { access: 'people:write', recentSignIn: true } as const;

export const listPeople = operation({
  id: 'people.list',
  method: 'GET',
  path: '/people',
  summary: 'All people, oldest first',
  access: 'people:write',
  reply: pageSchema(personSchema),
  handle: async (_input, { services, nowMs }: Context) => ({
    body: { items: (await services.people.list()).map(encodePerson), next_cursor: null, as_of: instant(nowMs()) },
  }),
});

export const createPerson = operation({
  id: 'people.create',
  method: 'POST',
  path: '/people',
  summary: 'Makes a person, who signs in by a link at first',
  ...restricted,
  status: 201,
  body: request({
    name,
    role: Type.Enum(roles),
    users: Type.Optional(users),
    email: Type.Optional(Type.String({ maxLength: 254 })),
  }),
  reply: personSchema,
  handle: async ({ body }, { services, change, principal }: Context) => {
    const person = await services.people.create(body, change(), principal.personId);
    return { ...answer(person), location: `/people/${person.id}` };
  },
});

const getPerson = operation({
  id: 'people.get',
  method: 'GET',
  path: '/people/{id}',
  summary: 'One person',
  access: 'people:write',
  params: idParams,
  reply: personSchema,
  handle: async ({ params }, { services }: Context) => answer(await find(services, params.id)),
});

export const updatePerson = operation({
  id: 'people.update',
  method: 'PATCH',
  path: '/people/{id}',
  summary: 'Changes a person; a new role, and disabling, end the sessions',
  ...restricted,
  versionOf: revisionOf,
  params: idParams,
  body: request({
    name: Type.Optional(name),
    role: Type.Optional(Type.Enum(roles)),
    users: Type.Optional(users),
    disabled: Type.Optional(Type.Boolean()),
    email: Type.Optional(nullable(Type.String({ maxLength: 254 }))),
  }),
  reply: personSchema,
  handle: async ({ params, body }, { services, change, expected }: Context) => {
    const edit: PersonEdit = body;
    const person = await services.people.change({ id: params.id, revision: expected }, edit, change());
    if (person === undefined) throw notFound('person of this id');
    return answer(person);
  },
});

export const deletePerson = operation({
  id: 'people.delete',
  method: 'DELETE',
  path: '/people/{id}',
  summary: 'Removes a person, its sessions and its admin tokens',
  ...restricted,
  status: 204,
  versionOf: revisionOf,
  params: idParams,
  handle: async ({ params }, { services, change, expected }: Context): Promise<Answer<undefined>> => {
    if ((await services.people.remove({ id: params.id, revision: expected }, change())) === undefined) throw notFound('person of this id');
    return { body: undefined };
  },
});

export const createLink = operation({
  id: 'people.link',
  method: 'POST',
  path: '/people/{id}/link',
  summary: 'A link that signs the person in, once, within 15 minutes',
  ...restricted,
  status: 201,
  params: idParams,
  reply: record({ url: Type.String({ description: 'Shown here once.' }), expires_at: Type.String() }),
  handle: async ({ params }, { services, change }: Context) => {
    const code = await services.signIns.createCode(params.id, change());
    if (code === undefined) throw notFound('enabled person of this id');
    return { body: { url: `${services.consoleUrl()}/#in=${code.code}`, expires_at: instant(code.expiresAtMs) } };
  },
});

export const listSessions = operation({
  id: 'people.list_sessions',
  method: 'GET',
  path: '/people/{id}/sessions',
  summary: 'The sessions of a person, newest first',
  access: 'people:write',
  params: idParams,
  reply: pageSchema(openSessionSchema),
  handle: async ({ params }, { services, principal, nowMs }: Context) => {
    const { id } = await find(services, params.id);
    const sessions = await services.sessions.list(id);
    const items = sessions.map((session) => encodeSession(session, principal.sessionId));
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

export const endSessions = operation({
  id: 'people.end_sessions',
  method: 'DELETE',
  path: '/people/{id}/sessions',
  summary: 'Ends all sessions of a person',
  access: 'people:write',
  params: idParams,
  reply: record({ ended: Type.Integer({ description: 'How many sessions there were.' }) }),
  handle: async ({ params }, { services, principal }: Context) => {
    const { id } = await find(services, params.id);
    return { body: { ended: await services.sessions.end({ personId: id }, principal.author) } };
  },
});

export const peopleOperations: readonly Operation<PeopleServices>[] = [
  listPeople,
  createPerson,
  getPerson,
  updatePerson,
  deletePerson,
  createLink,
  listSessions,
  endSessions,
];
