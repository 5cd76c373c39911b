import { type Static, Type } from 'typebox';

import type { Principal } from '../../../accounts/people/principal.ts';
import { type SavedView, savedViewBytesMax, savedViewsMax, type SavedViewStore } from '../../../accounts/saved-views/saved-view.ts';
import type { AuditStore } from '../../../audit/audit-entry.ts';
import { instant, pageQuery, pageRowsDefault, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { AdminProblem, invalidField, notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';

export type SavedViewServices = ListServices & {
  readonly savedViews: SavedViewStore;
  readonly audit: Pick<AuditStore, 'subjectVersion'>;
  readonly newId: (prefix: string) => string;
};
type Context = AdminContext<SavedViewServices>;

const name = Type.String({ minLength: 1, maxLength: 100 });
const page = Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$', description: 'The page of the console that it belongs to.' });
const query = Type.Object(
  {},
  { additionalProperties: true, description: `What the page shows; at most ${savedViewBytesMax} bytes of JSON.` },
);
const shared = Type.Boolean({ description: 'Whether everybody may use it who reads usage. They see all its names.' });

const viewSchema = record(
  {
    id: Type.String({ examples: ['view_01k9x2m4vq3f7c8d5e6h1j0abc'] }),
    name: Type.String(),
    page: Type.String(),
    query,
    shared,
    owner: Type.String({ description: 'The person or token that made it.' }),
    is_own: Type.Boolean(),
    created_at: Type.String(),
    changed_at: Type.String(),
  },
  'A view of a page of the console that somebody kept.',
);

/** A person owns views across sessions. A token has the name that the audit log gives it. */
const ownerOf = ({ personId, author }: Principal): string => personId ?? author.actor;

const encode = (principal: Principal, view: SavedView): Static<typeof viewSchema> => ({
  id: view.id,
  name: view.name,
  page: view.page,
  // Written by this file.
  query: JSON.parse(view.query) as Record<string, unknown>,
  shared: view.isShared,
  owner: view.actor,
  is_own: view.owner === ownerOf(principal),
  created_at: instant(view.createdAtMs),
  changed_at: instant(view.changedAtMs),
});

const params = record({ id: Type.String({ maxLength: 64 }) });
const subject = ({ id }: Readonly<Record<string, string>>): string => `saved_view:${id ?? ''}`;

/** The caller's own view, or a shared one. @throws AdminProblem `not_found` */
async function find({ services, principal }: Context, id: string): Promise<SavedView> {
  const view = await services.savedViews.findSavedView(id);
  if (view === undefined || (!view.isShared && view.owner !== ownerOf(principal))) throw notFound('saved view of this id');
  return view;
}

/** A view that the caller may change: an own one, or any shared one for an operator. @throws AdminProblem */
async function findChangeable(context: Context, id: string): Promise<SavedView> {
  const view = await find(context, id);
  const { principal } = context;
  if (view.owner === ownerOf(principal) || principal.permissions.has('config:write')) return view;
  throw new AdminProblem('permission_required', `The view belongs to ${view.actor}: only they or an operator may change it.`, {
    members: { permission: 'config:write' },
  });
}

async function show(context: Context, id: string): Promise<Answer<Static<typeof viewSchema>>> {
  const version = await context.services.audit.subjectVersion(subject({ id }));
  return { body: encode(context.principal, await find(context, id)), version };
}

/** @throws AdminProblem `invalid_request` */
function writeQuery(value: object): string {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= savedViewBytesMax) return text;
  throw invalidField('/query', 'max_bytes', `The field query must have at most ${savedViewBytesMax} bytes of JSON; it has ${bytes}.`);
}

const positionSchema = Type.Object({ createdAtMs: Type.Number(), id: Type.String() });

const listViews = operation({
  id: 'saved_views.list',
  method: 'GET',
  path: '/saved_views',
  summary: "The caller's saved views and all shared ones, newest first",
  access: 'usage:read',
  query: record({ page: Type.Optional(page), ...pageQuery }),
  reply: pageSchema(viewSchema),
  handle: async (input, { services, principal, nowMs }: Context) => {
    const { limit = pageRowsDefault, cursor, page: of } = input.query;
    const owner = ownerOf(principal);
    const question = { list: 'saved_views', owner, of };
    const rows = await services.savedViews.querySavedViews({
      owner,
      ...(of !== undefined && { page: of }),
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
      limit: limit + 1,
    });
    const { shown, next_cursor } = cutPage(rows, limit, (last) =>
      services.cursors.write(question, { createdAtMs: last.createdAtMs, id: last.id }),
    );
    return { body: { items: shown.map((view) => encode(principal, view)), next_cursor, as_of: instant(nowMs()) } };
  },
});

const createView = operation({
  id: 'saved_views.create',
  method: 'POST',
  path: '/saved_views',
  summary: `Keeps a view of a page, private unless it is shared; a person has at most ${savedViewsMax}`,
  access: 'usage:read',
  status: 201,
  body: request({ name, page, query, shared: Type.Optional(shared) }),
  reply: viewSchema,
  handle: async ({ body }, context: Context) => {
    const { services, principal, change } = context;
    const now = change();
    const view: SavedView = {
      id: services.newId('view'),
      owner: ownerOf(principal),
      actor: principal.author.actor,
      name: body.name,
      page: body.page,
      query: writeQuery(body.query),
      isShared: body.shared ?? false,
      createdAtMs: now.atMs,
      changedAtMs: now.atMs,
    };
    if (!(await services.savedViews.insertSavedView(view, now)))
      throw new AdminProblem('conflict', `You have ${savedViewsMax} saved views already: delete some.`);
    return { ...(await show(context, view.id)), location: `/saved_views/${view.id}` };
  },
});

const getView = operation({
  id: 'saved_views.get',
  method: 'GET',
  path: '/saved_views/{id}',
  summary: 'One saved view',
  access: 'usage:read',
  params,
  reply: viewSchema,
  handle: (input, context: Context) => show(context, input.params.id),
});

const updateView = operation({
  id: 'saved_views.update',
  method: 'PATCH',
  path: '/saved_views/{id}',
  summary: 'Changes a saved view: its owner may, and an operator if it is shared',
  access: 'usage:read',
  subject,
  params,
  body: request({ name: Type.Optional(name), query: Type.Optional(query), shared: Type.Optional(shared) }),
  reply: viewSchema,
  handle: async ({ params: { id }, body }, context: Context) => {
    const view = await findChangeable(context, id);
    const edit = {
      ...(body.name !== undefined && { name: body.name }),
      ...(body.query !== undefined && { query: writeQuery(body.query) }),
      ...(body.shared !== undefined && { isShared: body.shared }),
    };
    if (!(await context.services.savedViews.changeSavedView(id, edit, context.change()))) throw notFound('saved view of this id');
    // A view that its operator has made private is no longer theirs to see.
    if (edit.isShared === false && view.owner !== ownerOf(context.principal))
      return { body: { ...encode(context.principal, { ...view, ...edit }) } };
    return await show(context, id);
  },
});

const deleteView = operation({
  id: 'saved_views.delete',
  method: 'DELETE',
  path: '/saved_views/{id}',
  summary: 'Deletes a saved view: its owner may, and an operator if it is shared',
  access: 'usage:read',
  status: 204,
  subject,
  params,
  handle: async ({ params: { id } }, context: Context): Promise<Answer<undefined>> => {
    await findChangeable(context, id);
    if (!(await context.services.savedViews.deleteSavedView(id, context.change()))) throw notFound('saved view of this id');
    return { body: undefined };
  },
});

export const savedViewOperations: readonly Operation<SavedViewServices>[] = [listViews, createView, getView, updateView, deleteView];
