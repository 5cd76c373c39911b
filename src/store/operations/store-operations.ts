import type { StoreOperations } from '../worker/store-protocol.ts';
import { createAccountsOperations } from './accounts-operations.ts';
import { createAdminTokenOperations } from './admin-token-operations.ts';
import { createAlertOperations } from './alert-operations.ts';
import { createArchiveOperations } from './archive-operations.ts';
import { createAuditOperations } from './audit-operations.ts';
import { createAuditSinkOperations } from './audit-sink-operations.ts';
import { createBookOperations } from './book-operations.ts';
import { createCallFactsOperations, createFollowerMemory } from './facts/call-facts-operations.ts';
import { followBooked } from './facts/follow-calls.ts';
import { createBilledCallOperations } from './billed-call-operations.ts';
import { createCallbackOperations } from './callback-operations.ts';
import { createCaptureOperations } from './capture-operations.ts';
import { createPlaygroundKeyOperations } from './playground-key-operations.ts';
import { createContentOperations } from './content-operations.ts';
import { createConversationOperations } from './conversation-operations.ts';
import type { Database } from './database.ts';
import { createDeviceSignInOperations } from './device-sign-in-operations.ts';
import { createFileSearchOperations } from './file-search-operations.ts';
import { createKeySessionOperations } from './key-session-operations.ts';
import { createLeaseOperations } from './lease-operations.ts';
import { createConfigLayerOperations } from './config-layer-operations.ts';
import { createControlOperations } from './control-operations.ts';
import { createLongOperationOperations } from './long-operation-operations.ts';
import { createIdempotencyOperations } from './idempotency-operations.ts';
import { createLedgerOperations } from './ledger-operations.ts';
import { createImageOperations } from './image-operations.ts';
import { createPeopleOperations } from './people-operations.ts';
import { createPriceBookOperations } from './price-book-operations.ts';
import { createPriceDraftOperations } from './price-draft-operations.ts';
import { createProofOperations } from './proof-operations.ts';
import { readDatabaseId } from './read-database-id.ts';
import { createRefusalOperations } from './refusal-operations.ts';
import { createSessionOperations } from './session-operations.ts';
import { createStatisticsOperations } from './statistics-operations.ts';
import { createReconciliationOperations } from './reconciliation-operations.ts';
import { createSavedViewOperations } from './saved-view-operations.ts';
import { createStoredListOperations } from './stored-list-operations.ts';
import { createTaskListOperations } from './task-list-operations.ts';
import { createUserRemainsOperations } from './user-remains-operations.ts';
import { createVideoTaskOperations } from './video-task-operations.ts';
import { createVerificationOperations } from './verification-operations.ts';

/**
 * Batches of a journal under load have their facts with their booking. Those of a quiet gateway are small: the follower
 * takes several at once, which costs less than writing the sums of each.
 */
const rowsWithFacts = 200;

/** All operations of a store, on any engine. */
export function createStoreOperations(database: Database): StoreOperations {
  const memory = createFollowerMemory();
  return {
    ...createAccountsOperations(database),
    ...createPeopleOperations(database),
    ...createUserRemainsOperations(database),
    ...createSessionOperations(database),
    ...createAdminTokenOperations(database),
    ...createDeviceSignInOperations(database),
    ...createKeySessionOperations(database),
    ...createAuditOperations(database),
    ...createRefusalOperations(database),
    ...createLedgerOperations(database, (transaction, booked) => followBooked(transaction, memory, booked, rowsWithFacts)),
    ...createLeaseOperations(database),
    ...createBookOperations(database),
    ...createVerificationOperations(database),
    ...createStatisticsOperations(database),
    ...createArchiveOperations(database),
    ...createBilledCallOperations(database),
    ...createCallFactsOperations(database, memory),
    ...createProofOperations(database),
    ...createConversationOperations(database),
    ...createFileSearchOperations(database),
    ...createVideoTaskOperations(database),
    ...createImageOperations(database),
    ...createCallbackOperations(database),
    ...createTaskListOperations(database),
    ...createStoredListOperations(database),
    ...createSavedViewOperations(database),
    ...createReconciliationOperations(database),
    ...createAlertOperations(database),
    ...createAuditSinkOperations(database),
    ...createLongOperationOperations(database),
    ...createContentOperations(database),
    ...createControlOperations(database),
    ...createConfigLayerOperations(database),
    ...createCaptureOperations(database),
    ...createPlaygroundKeyOperations(database),
    ...createIdempotencyOperations(database),
    ...createPriceBookOperations(database),
    ...createPriceDraftOperations(database),
    databaseId: () => readDatabaseId(database),
  };
}
