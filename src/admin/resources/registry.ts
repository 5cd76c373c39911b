import type { Operation } from '../operation.ts';
import { adminTokenOperations, type AdminTokenServices } from './admin-tokens/admin-token-operations.ts';
import { archiveOperations, type ArchiveServices } from './archives/archive-operations.ts';
import { alertOperations, type AlertServices } from './alerts/alert-operations.ts';
import { attentionOperations, type AttentionServices } from './attention/attention-operations.ts';
import { auditOperations, type AuditServices } from './audit/audit-operations.ts';
import { billingTokenOperations, type BillingTokenServices } from './billing-tokens/billing-token-operations.ts';
import { callOperations, type CallServices } from './calls/call-operations.ts';
import { configOperations, type ConfigServices } from './config/config-operations.ts';
import { creditOperations } from './credits/credit-operations.ts';
import { layerCheckOperations } from './config/check-layer-operation.ts';
import { layerOperations } from './config/layer-operations.ts';
import type { LayerServices } from './config/layer-desk.ts';
import type { CreditServices } from './credits/find-owner.ts';
import { captureOperations, type CaptureServices } from './captures/capture-operations.ts';
import { contentOperations, type ContentServices } from './content/content-operations.ts';
import { callbackOperations, type CallbackServices } from './callbacks/callback-operations.ts';
import { disputeOperations, type DisputeServices } from './disputes/dispute-operations.ts';
import { deviceSignInOperations, type DeviceSignInServices } from './device-sign-ins/device-sign-in-operations.ts';
import { standingOperations, type StandingServices } from './standing/standing-operations.ts';
import { createReconciliationOperations, type CreateReconciliationServices } from './reconciliations/create-reconciliation.ts';
import { reconciliationOperations } from './reconciliations/reconciliation-operations.ts';
import { savedViewOperations, type SavedViewServices } from './saved-views/saved-view-operations.ts';
import { conversationOperations } from './stored/conversation-operations.ts';
import { fileOperations, vectorStoreOperations } from './stored/file-operations.ts';
import { responseOperations } from './stored/response-operations.ts';
import type { StoredServices } from './stored/stored-services.ts';
import { videoOperations, type VideoServices } from './videos/video-operations.ts';
import { eventOperations } from './events/event-operations.ts';
import { keyOperations, type KeyServices } from './keys/key-operations.ts';
import { modelOperations } from './models/model-operations.ts';
import { nodeOperations } from './nodes/node-operations.ts';
import { operationOperations, type OperationServices } from './operations/operation-resource.ts';
import { overviewOperations } from './overview/overview-operations.ts';
import { peopleOperations, type PeopleServices } from './people/people-operations.ts';
import { playgroundOperations, type PlaygroundServices } from './playground/playground-operations.ts';
import { priceDraftOperations, type PriceDraftServices } from './prices/draft-operations.ts';
import { priceOperations, type PriceServices } from './prices/price-operations.ts';
import { publicationOperations } from './prices/publish-operation.ts';
import { quoteOperations } from './prices/quote-operation.ts';
import { stageOperations, type StageServices } from './prices/stage-operation.ts';
import { receiptOperations, type ReceiptServices } from './receipts/receipt-operations.ts';
import { targetOperations, type TargetServices } from './targets/target-operations.ts';
import { teamOperations, type TeamServices } from './teams/team-operations.ts';
import { upstreamOperations, type UpstreamServices } from './upstreams/upstream-operations.ts';
import { usageOperations, type UsageServices } from './usage/usage-operations.ts';
import { userObjectOperations } from './users/erase-user.ts';
import type { UserRemainsServices } from './users/user-objects.ts';
import { userOperations, type UserServices } from './users/user-operations.ts';
import { refusalOperations, type RefusalServices } from './refusals/refusal-operations.ts';
import { searchOperations } from './search/search-operations.ts';
import { sessionOperations, type SessionServices } from './session/session-operations.ts';

/** What the operations need, as the sum of what each resource needs. */
export type AdminServices = AttentionServices &
  AlertServices &
  AuditServices &
  SessionServices &
  PeopleServices &
  AdminTokenServices &
  DeviceSignInServices &
  BillingTokenServices &
  TeamServices &
  UserServices &
  KeyServices &
  CallServices &
  UsageServices &
  ContentServices &
  CaptureServices &
  ArchiveServices &
  CreditServices &
  DisputeServices &
  ReceiptServices &
  RefusalServices &
  OperationServices &
  PriceServices &
  PriceDraftServices &
  StageServices &
  TargetServices &
  UpstreamServices &
  ConfigServices &
  LayerServices &
  StandingServices &
  CallbackServices &
  VideoServices &
  StoredServices &
  SavedViewServices &
  CreateReconciliationServices &
  PlaygroundServices &
  UserRemainsServices;

/** All operations: one line for each resource. */
export const operations: readonly Operation<AdminServices>[] = [
  ...sessionOperations,
  ...peopleOperations,
  ...adminTokenOperations,
  ...deviceSignInOperations,
  ...billingTokenOperations,
  ...teamOperations,
  ...userOperations,
  ...userObjectOperations,
  ...keyOperations,
  ...callOperations,
  ...usageOperations,
  ...savedViewOperations,
  ...createReconciliationOperations,
  ...reconciliationOperations,
  ...contentOperations,
  ...captureOperations,
  ...archiveOperations,
  ...creditOperations,
  ...disputeOperations,
  ...receiptOperations,
  ...refusalOperations,
  ...priceOperations,
  ...publicationOperations,
  ...priceDraftOperations,
  ...quoteOperations,
  ...stageOperations,
  ...standingOperations,
  ...callbackOperations,
  ...videoOperations,
  ...responseOperations,
  ...conversationOperations,
  ...fileOperations,
  ...vectorStoreOperations,
  ...playgroundOperations,
  ...auditOperations,
  ...overviewOperations,
  ...attentionOperations,
  ...alertOperations,
  ...searchOperations,
  ...eventOperations,
  ...nodeOperations,
  ...upstreamOperations,
  ...targetOperations,
  ...modelOperations,
  ...configOperations,
  ...layerOperations,
  ...layerCheckOperations,
  ...operationOperations,
];
