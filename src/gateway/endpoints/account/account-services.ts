import type { SpendingReader } from '../../../billing/credits/spending-overview.ts';
import type { ReplyOwner } from '../../../billing/ledger/ledger-store.ts';
import type { ReceiptFinder } from '../../../billing/receipts/find-receipt.ts';
import type { VideoTasks } from '../../../tasks/create-video-tasks.ts';
import type { Callbacks } from '../../../tasks/callbacks/create-callbacks.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';

/** What callers are shown of their account works with. */
export type AccountServices = AdmissionServices &
  Pick<AttemptServices, 'settings' | 'newId' | 'logger' | 'deadlines'> & {
    /** Whose a reply is that an upstream keeps. */
    readonly replyOwners: { readonly find: (replyId: string) => Promise<ReplyOwner | undefined> };
    /** Video tasks; absent where none are kept. */
    readonly videos?: { readonly tasks: Pick<VideoTasks, 'find'> } | undefined;
    /** Absent where no receipts are shown. */
    readonly receipts?: ReceiptFinder;
    /** Reads how the limits of payers stand; absent where no accounts are kept. */
    readonly spending?: SpendingReader;
    /** Sends what has ended to the addresses that were given for it. Absent where nothing is sent. */
    readonly callbacks?: Callbacks;
  };
