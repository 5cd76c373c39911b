import { type Static, Type } from 'typebox';

import type { Principal } from '../../../accounts/people/principal.ts';
import type { ScopedList } from '../../../accounts/scoped-list.ts';
import type { AuditStore } from '../../../audit/audit-entry.ts';
import type { Operations } from '../../../control/operations/create-operations.ts';
import type { Conversations } from '../../../conversations/response-store.ts';
import type { ConversationLists } from '../../../conversations/stored-lists.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ByteRange } from '../../../tasks/media/media-storage.ts';
import type { FileLists } from '../../../tools/file-search/file-lists.ts';
import type { StoredFile } from '../../../tools/file-search/file-objects.ts';
import { instant, instantQuery, pageQuery, pageRowsDefault, record } from '../../contract/values.ts';
import type { AdminContext } from '../../operation.ts';
import { AdminProblem, notFound, unavailable } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';

export type StoredServices = ListServices & {
  readonly stored: ConversationLists & FileLists;
  /** Opens what is sealed, with the key of the data directory. */
  readonly conversations: Pick<Conversations, 'findResponse' | 'findConversation' | 'listConversationItems'>;
  /** The content of a file, or a part of it. @throws FileProblem */
  readonly readFile: (file: StoredFile, range?: ByteRange) => AsyncIterable<Uint8Array>;
  readonly audit: Pick<AuditStore, 'recordAction'>;
  readonly operations: Pick<Operations, 'start'>;
};
export type StoredContext = AdminContext<StoredServices>;

export const storedParams = record({ id: Type.String({ maxLength: 256 }) });
export const storedQuery = {
  user: Type.Optional(Type.String({ maxLength: 256 })),
  from: Type.Optional(instantQuery('Made at or after it.')),
  to: Type.Optional(instantQuery('Made before it.')),
  ...pageQuery,
};
const querySchema = Type.Object(storedQuery);
const positionSchema = Type.Object({ createdAtMs: Type.Number(), id: Type.String() });

/**
 * One page of a list, newest first.
 * @param list the name of the list, and its own filters: a cursor belongs to both
 */
export async function answerStoredList<Row extends { readonly createdAtMs: number; readonly id: string }, Item>(
  list: { readonly name: string } & Readonly<Record<string, unknown>>,
  query: Static<typeof querySchema>,
  { services, principal, nowMs }: StoredContext,
  { read, encode }: { readonly read: (page: ScopedList) => Promise<readonly Row[]>; readonly encode: (row: Row) => Item },
) {
  const { limit = pageRowsDefault, cursor, user, from, to } = query;
  const question = { list, users: principal.users, user, from, to };
  const rows = await read({
    users: principal.users,
    ...(user !== undefined && { userName: user.normalize('NFC') }),
    ...(from !== undefined && { fromMs: Date.parse(from) }),
    ...(to !== undefined && { toMs: Date.parse(to) }),
    ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
    limit: limit + 1,
  });
  const { shown, next_cursor } = cutPage(rows, limit, (last) =>
    services.cursors.write(question, { createdAtMs: last.createdAtMs, id: last.id }),
  );
  return { body: { items: shown.map(encode), next_cursor, as_of: instant(nowMs()) } };
}

/** Names that users gave are content: without the permission to read content they are null. */
export function shownName(principal: Principal, name: string): string | null {
  return principal.permissions.has('content:read') ? name : null;
}

/** A failure to open what is stored, as a problem. Other errors as they are. */
export function refuseSealed(error: unknown): never {
  if (!(error instanceof GatewayError)) throw error;
  if (error.cause !== undefined) throw unavailable('Stored objects cannot be read at the moment.', error);
  if (error.code === 'context_length_exceeded') throw new AdminProblem('conflict', error.message, { cause: error });
  const detail = 'The content was sealed under another key than that of this console, or is damaged. It can be deleted, but not read.';
  throw new AdminProblem('conflict', detail, { cause: error });
}

/** The only object of a lookup. @throws AdminProblem `not_found` */
export function oneOf<Row>(rows: readonly Row[], what: string): Row {
  const [row] = rows;
  if (row === undefined) throw notFound(`${what} of this id`);
  return row;
}
