import type { SpendingReader } from '../../../billing/credits/spending-overview.ts';
import type { ReplyOwner } from '../../../billing/ledger/ledger-store.ts';
import type { ReceiptFinder } from '../../../billing/receipts/find-receipt.ts';
import type { VideoTasks } from '../../../tasks/create-video-tasks.ts';
import type { Callbacks } from '../../../tasks/callbacks/create-callbacks.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';

/** The services of the endpoints with which callers read their accounts. */
export type AccountServices = AdmissionServices &
  Pick<AttemptServices, 'settings' | 'newId' | 'logger' | 'deadlines'> & {
    /** Finds the owner of a reply that an upstream stores. */
    readonly replyOwners: { readonly find: (replyId: string) => Promise<ReplyOwner | undefined> };
    /** Video tasks; absent if none are stored. */
    readonly videos?: { readonly tasks: Pick<VideoTasks, 'find'> } | undefined;
    /** Absent: there are no receipts. */
    readonly receipts?: ReceiptFinder;
    /** Reads the limits and balances of payers; absent if there are no accounts. */
    readonly spending?: SpendingReader;
    /** Sends callbacks. Absent: none are sent. */
    readonly callbacks?: Callbacks;
  };
