import type { UserRemainsStore } from '../../../accounts/user-remains.ts';
import type { AdminContext, Answer, Operation, StreamAnswer } from '../../operation.ts';
import { isStream } from '../../operation.ts';
import type { CallServices } from '../calls/call-operations.ts';
import type { CaptureServices } from '../captures/capture-operations.ts';
import type { ContentServices } from '../content/content-operations.ts';
import type { KeyServices } from '../keys/key-operations.ts';
import type { ReceiptServices } from '../receipts/receipt-operations.ts';
import type { StoredServices } from '../stored/stored-services.ts';
import type { VideoServices } from '../videos/video-operations.ts';
import type { UserServices } from './user-operations.ts';

/** The services of everything that is held about a user. */
/** The callbacks, kept replies and images of users. */
export type UserRemainsServices = { readonly remains: UserRemainsStore };

export type UserObjectServices = UserServices &
  KeyServices &
  CallServices &
  ReceiptServices &
  StoredServices &
  VideoServices &
  CaptureServices &
  ContentServices &
  UserRemainsServices;

export type UserObjectContext = AdminContext<UserObjectServices>;

/** Runs another operation for this caller, as if it had asked for it. */
export async function runOperation<Reply>(
  operation: Operation<UserObjectServices, unknown, unknown, unknown, Reply>,
  input: { readonly params?: Readonly<Record<string, string>>; readonly query?: Readonly<Record<string, readonly string[]>> },
  context: UserObjectContext,
): Promise<Answer<Reply> | StreamAnswer> {
  return await operation.run({ params: input.params ?? {}, query: input.query ?? {}, body: undefined }, context);
}

const pageRows = '200';

type Listing<Item> = { readonly items: readonly Item[]; readonly next_cursor: string | null };

/** All items that a listing operation has of a user, page by page. */
export async function* listAll<Item>(
  operation: Operation<UserObjectServices, unknown, unknown, unknown, Listing<Item>>,
  user: string,
  context: UserObjectContext,
): AsyncGenerator<Item> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { user: [user], limit: [pageRows], ...(cursor !== undefined && { cursor: [cursor] }) };
    const answer = await runOperation(operation, { query }, context);
    if (isStream(answer)) throw new Error('A list is not a stream.');
    yield* answer.body.items;
    context.signal.throwIfAborted();
    cursor = answer.body.next_cursor;
  }
}
