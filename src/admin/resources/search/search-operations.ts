import { Type } from 'typebox';

import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import { findCall } from '../../../billing/calls/find-call.ts';
import { instant, record } from '../../contract/values.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import type { CallServices } from '../calls/call-operations.ts';
import { type ControlServices, listLiveNodes } from '../nodes/live-nodes.ts';
import type { RefusalServices } from '../refusals/refusal-operations.ts';
import { booksOperation } from '../books-operation.ts';

type SearchServices = CallServices &
  ControlServices &
  Pick<RefusalServices, 'refusals'> & { readonly accounts: Pick<AccountsStore, 'queryApiKeys' | 'queryUsers'> };
type Context = AdminContext<SearchServices>;
type Hit = {
  readonly kind: 'call' | 'refusal' | 'key' | 'user' | 'upstream' | 'model';
  readonly id: string;
  readonly label: string;
  readonly path: string;
};

/** Of each kind. */
const hitsMax = 8;
/** Of so many users with the text in their names, those that begin with it come first. */
const usersSearched = 500;

/** A call by its own id, or by that of its reply, receipt or task. */
async function findCalls({ services, principal }: Context, text: string): Promise<readonly Hit[]> {
  if (!principal.permissions.has('calls:read')) return [];
  const found = await findCall({ ...services.ledger, ...services.calls }, text, principal.users);
  if (found === undefined) return [];
  const [{ callId, requestedModel, userName }] = found.rows;
  return [{ kind: 'call', id: callId, label: `${requestedModel} of ${userName}`, path: `/calls/${callId}` }];
}

/** A request that was refused, by the id that its client got. */
async function findRefusals({ services, principal }: Context, text: string): Promise<readonly Hit[]> {
  if (!principal.permissions.has('calls:read')) return [];
  const found = await services.refusals.listRefusals({ users: principal.users, requestId: text, limit: 1 });
  return found.map(({ requestId: id, status, code }) => ({
    kind: 'refusal',
    id,
    label: `refused: ${status} ${code}`,
    path: `/refusals?request_id=${encodeURIComponent(id)}`,
  }));
}

async function findKeys({ services, principal }: Context, text: string): Promise<readonly Hit[]> {
  if (!principal.permissions.has('keys:read')) return [];
  const keys = await services.accounts.queryApiKeys({ users: principal.users, ids: [text], order: 'newest', limit: 1 });
  return keys.map(({ id, name, userName }) => ({ kind: 'key', id, label: `${name} of ${userName}`, path: `/keys/${id}` }));
}

async function findUsers({ services, principal }: Context, text: string): Promise<readonly Hit[]> {
  if (!principal.permissions.has('keys:read')) return [];
  const wanted = text.normalize('NFC').toLowerCase();
  const found = await services.accounts.queryUsers({ users: principal.users, text: wanted, limit: usersSearched });
  return found
    .toSorted((a, b) => Number(b.name.toLowerCase().startsWith(wanted)) - Number(a.name.toLowerCase().startsWith(wanted)))
    .slice(0, hitsMax)
    .map(({ name }) => ({ kind: 'user', id: name, label: name, path: `/users/${encodeURIComponent(name)}` }));
}

/** Upstreams and models of running gateways. Of each, names that begin with the text come first. */
async function findNames(context: Context, text: string): Promise<readonly Hit[]> {
  if (!context.principal.permissions.has('upstreams:read')) return [];
  const nodes = await listLiveNodes(context);
  const wanted = text.toLowerCase();
  const find = (kind: 'upstream' | 'model', names: readonly string[]): readonly Hit[] =>
    [...new Set(names)]
      .filter((name) => name.toLowerCase().includes(wanted))
      .toSorted((a, b) => Number(b.toLowerCase().startsWith(wanted)) - Number(a.toLowerCase().startsWith(wanted)))
      .slice(0, hitsMax)
      .map((name) => ({ kind, id: name, label: name, path: `/${kind}s/${encodeURIComponent(name)}` }));
  return [
    ...find(
      'upstream',
      nodes.flatMap(({ description }) => description.upstreams.map(({ name }) => name)),
    ),
    ...find(
      'model',
      nodes.flatMap(({ description }) => description.models.map(({ name }) => name)),
    ),
  ];
}

const search = booksOperation({
  id: 'search',
  method: 'GET',
  path: '/search',
  summary: 'Finds calls, refused requests and keys by any id, and users, upstreams and models by a part of their names',
  access: 'signed-in',
  query: record({ q: Type.String({ minLength: 1, maxLength: 256 }) }),
  reply: record({
    items: Type.Array(
      record({
        kind: Type.Enum(['call', 'refusal', 'key', 'user', 'upstream', 'model']),
        id: Type.String(),
        label: Type.String(),
        path: Type.String({ description: 'Below /api/v1.' }),
      }),
    ),
    as_of: Type.String(),
  }),
  handle: async ({ query }, context: Context) => {
    const text = query.q.trim();
    const found =
      text === '' ? [] : await Promise.all([findCalls, findRefusals, findKeys, findUsers, findNames].map((find) => find(context, text)));
    return { body: { items: found.flat(), as_of: instant(context.nowMs()) } };
  },
});

export const searchOperations: readonly Operation<SearchServices>[] = [search];
