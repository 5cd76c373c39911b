import type { AccountsStore } from '../../accounts/accounts-store.ts';
import type { UserRemainsStore } from '../../accounts/user-remains.ts';
import type { PeopleStores } from '../../accounts/people/people-stores.ts';
import type { SavedViewStore } from '../../accounts/saved-views/saved-view.ts';
import type { ArchiveStore } from '../../billing/archive/call-archive.ts';
import type { CallFactsStore } from '../../billing/calls/call-facts-store.ts';
import type { AlertStore } from '../../alerts/alert-store.ts';
import type { VerificationStore } from '../../billing/credits/book-verification.ts';
import type { CreditBooks } from '../../billing/credits/credit-books.ts';
import type { LeaseStore } from '../../billing/credits/credit-store.ts';
import type { IdempotencyStore } from '../../billing/idempotency/idempotency-store.ts';
import type { LedgerStore } from '../../billing/ledger/ledger-store.ts';
import type { PriceDraftStore } from '../../billing/price-books/price-draft.ts';
import type { PriceBookStore } from '../../billing/price-books/price-book-store.ts';
import type { ReconciliationStore } from '../../billing/reconciliation/reconciliation-store.ts';
import type { BilledCallStore } from '../../billing/statistics/billed-call.ts';
import type { UsageDays, UsageStore } from '../../billing/usage/usage-store.ts';
import type { StatisticsStore } from '../../billing/statistics/statistics-store.ts';
import type { ConfigLayerStore } from '../../control/layers/config-layer.ts';
import type { ControlStore } from '../../control/nodes/node-state.ts';
import type { OperationStore } from '../../control/operations/long-operation.ts';
import type { PlaygroundKeyStore } from '../../accounts/people/playground-key-store.ts';
import type { CaptureStore } from '../../content/captures/capture.ts';
import type { ContentStore } from '../../content/content-store.ts';
import type { ConversationStore } from '../../conversations/conversation-store.ts';
import type { ConversationLists } from '../../conversations/stored-lists.ts';
import type { ProofStore } from '../../inference/proof-store.ts';
import type { CallbackStore } from '../../tasks/callbacks/callback-store.ts';
import type { ImageStore } from '../../tasks/media/image-store.ts';
import type { TaskLists } from '../../tasks/task-lists.ts';
import type { TaskProgress, TaskStore } from '../../tasks/task-store.ts';
import type { FileLists } from '../../tools/file-search/file-lists.ts';
import type { FileSearchStore } from '../../tools/file-search/file-store.ts';
import type { PackedRows } from '../operations/packed-rows.ts';
import { StoreError } from '../store-error.ts';
import type { AuditStore } from '../../audit/audit-entry.ts';
import type { RefusalStore } from '../../audit/refusals/refusal.ts';
import type { AuditSinkStore } from '../../audit/sinks/audit-sink.ts';
import type { StoreErrorKind } from '../store-error.ts';

/** The methods of a store as they run in the worker. Most are those of the store itself. */
export type AccountsStoreOperations = AccountsStore;
/** Entries are sent as bytes: cloning their objects between threads would cost more than booking them. */
export type LedgerStoreOperations = Omit<LedgerStore, 'appendEntries' | 'appendEncoded'> & {
  readonly appendBatch: (batch: EncodedBatch, nodeId?: string) => Promise<number>;
};

/** Encoded entries in one buffer, and the length of each. */
export type EncodedBatch = { readonly bytes: Uint8Array<ArrayBuffer>; readonly lengths: readonly number[] };
/** Rows are sent packed, and days are added up one at a time, so that other calls can run in between. */
export type StatisticsStoreOperations = {
  readonly sumDaysStep: (timeZone: string, begins: boolean) => Promise<'done' | 'more'>;
  readonly sumUsage: (query: Parameters<StatisticsStore['queryStatistics']>[0]) => Promise<PackedRows>;
};
export type ProofStoreOperations = ProofStore;
export type ConversationStoreOperations = ConversationStore;
export type FileSearchOperations = FileSearchStore;
/** Reports of polls are written in groups, with one commit for each group. */
export type TaskStoreOperations = Omit<TaskStore, 'recordProgress'> & {
  readonly recordProgressGroup: (group: readonly TaskProgress[]) => Promise<readonly boolean[]>;
};
export type CallbackStoreOperations = CallbackStore;
export type StoreOperations = AccountsStoreOperations &
  PeopleStores &
  UserRemainsStore &
  AuditStore &
  RefusalStore &
  LedgerStoreOperations &
  LeaseStore &
  CreditBooks &
  VerificationStore &
  StatisticsStoreOperations &
  BilledCallStore &
  ArchiveStore &
  CallFactsStore &
  UsageStore &
  UsageDays &
  PriceBookStore &
  PriceDraftStore &
  ProofStoreOperations &
  ConversationStoreOperations &
  FileSearchOperations &
  TaskStoreOperations &
  ImageStore &
  CallbackStoreOperations &
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
    readonly databaseId: () => Promise<string>;
  };
export type OperationName = keyof StoreOperations;

/**
 * To the worker. Calls are answered in order; `close` is the last message, and its answer is the exit of the worker.
 */
export type StoreRequest =
  | { readonly type: 'call'; readonly id: number; readonly operation: OperationName; readonly parameters: readonly unknown[] }
  | { readonly type: 'close' };

/** From the worker: first `opened` or `refused`, then one answer for each call. */
export type StoreReply =
  /** The schema is brought up to date before the database is open. */
  | { readonly type: 'migrating' }
  | { readonly type: 'opened' }
  | { readonly type: 'refused'; readonly error: CarriedError }
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: CarriedError };

/** An error that is sent between threads: structured cloning would lose its class and its kind. */
export type CarriedError = {
  readonly kind: StoreErrorKind;
  readonly message: string;
  readonly callIds: readonly string[];
  readonly stack: string | undefined;
};

export function encodeError(error: unknown): CarriedError {
  if (error instanceof StoreError) return { kind: error.kind, message: error.message, callIds: error.callIds, stack: error.stack };
  const message = error instanceof Error ? error.message : 'The store threw a value that is not an Error.';
  return { kind: 'internal', message, callIds: [], stack: error instanceof Error ? error.stack : undefined };
}

export function decodeError(carried: CarriedError): StoreError {
  const error = new StoreError(carried.kind, carried.message, { callIds: carried.callIds });
  if (carried.stack !== undefined) error.stack = carried.stack;
  return error;
}
