import type { AccountsStore } from '../accounts/accounts-store.ts';
import type { UserRemainsStore } from '../accounts/user-remains.ts';
import type { PeopleStores } from '../accounts/people/people-stores.ts';
import type { SavedViewStore } from '../accounts/saved-views/saved-view.ts';
import type { AlertStore } from '../alerts/alert-store.ts';
import type { AuditStore } from '../audit/audit-entry.ts';
import type { RefusalStore } from '../audit/refusals/refusal.ts';
import type { AuditSinkStore } from '../audit/sinks/audit-sink.ts';
import type { ArchiveStore } from '../billing/archive/call-archive.ts';
import type { CallFactsStore } from '../billing/calls/call-facts-store.ts';
import type { VerificationStore } from '../billing/credits/book-verification.ts';
import type { CreditBooks } from '../billing/credits/credit-books.ts';
import type { LeaseStore } from '../billing/credits/credit-store.ts';
import type { IdempotencyStore } from '../billing/idempotency/idempotency-store.ts';
import type { LedgerStore } from '../billing/ledger/ledger-store.ts';
import type { PriceDraftStore } from '../billing/price-books/price-draft.ts';
import type { PriceBookStore } from '../billing/price-books/price-book-store.ts';
import type { ReconciliationStore } from '../billing/reconciliation/reconciliation-store.ts';
import type { BilledCallStore } from '../billing/statistics/billed-call.ts';
import type { UsageDays, UsageStore } from '../billing/usage/usage-store.ts';
import type { StatisticsDays, StatisticsStore } from '../billing/statistics/statistics-store.ts';
import type { ConfigLayerStore } from '../control/layers/config-layer.ts';
import type { ControlStore } from '../control/nodes/node-state.ts';
import type { OperationStore } from '../control/operations/long-operation.ts';
import type { PlaygroundKeyStore } from '../accounts/people/playground-key-store.ts';
import type { CaptureStore } from '../content/captures/capture.ts';
import type { ContentStore } from '../content/content-store.ts';
import type { ConversationStore } from '../conversations/conversation-store.ts';
import type { ConversationLists } from '../conversations/stored-lists.ts';
import type { ProofStore } from '../inference/proof-store.ts';
import type { CallbackStore } from '../tasks/callbacks/callback-store.ts';
import type { ImageStore } from '../tasks/media/image-store.ts';
import type { TaskLists } from '../tasks/task-lists.ts';
import type { TaskStore } from '../tasks/task-store.ts';
import type { FileLists } from '../tools/file-search/file-lists.ts';
import type { FileSearchStore } from '../tools/file-search/file-store.ts';

/**
 * All methods that one database offers to the domains. Each engine implements it and runs the store contract suite.
 */
export type Store = AccountsStore &
  PeopleStores &
  UserRemainsStore &
  AuditStore &
  RefusalStore &
  LedgerStore &
  LeaseStore &
  CreditBooks &
  VerificationStore &
  StatisticsStore &
  StatisticsDays &
  BilledCallStore &
  ArchiveStore &
  CallFactsStore &
  UsageStore &
  UsageDays &
  PriceBookStore &
  PriceDraftStore &
  ProofStore &
  ConversationStore &
  FileSearchStore &
  TaskStore &
  ImageStore &
  CallbackStore &
  TaskLists &
  ConversationLists &
  FileLists &
  SavedViewStore &
  ReconciliationStore &
  AlertStore &
  AuditSinkStore &
  OperationStore &
  ContentStore &
  ControlStore &
  ConfigLayerStore &
  CaptureStore &
  PlaygroundKeyStore &
  IdempotencyStore & {
    /**
     * Sixteen hexadecimal digits that no other database has. They separate its files in shared storage from those of
     * others. A copy of a database has the same id.
     */
    readonly databaseId: () => Promise<string>;
    readonly close: () => Promise<void>;
  };
