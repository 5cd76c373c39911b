import type { CreditDesk } from '../../billing/credits/credit-desk.ts';
import type { DisconnectPolicy } from '../../billing/ledger/call-entry.ts';
import type { CreditSettings } from '../settings/credit-settings.ts';
import type { DrainSlots } from '../attempts/disconnect/drain-slots.ts';
import type { RateLimits } from '../../accounts/access-limits.ts';
import type { ValidationMode } from '../../dialects/chat-dialect.ts';
import type { Journal } from '../../billing/journal/journal.ts';
import type { SpendingReader } from '../../billing/credits/spending-overview.ts';
import type { ReceiptFinder } from '../../billing/receipts/find-receipt.ts';
import type { CompactionSealer } from './chat/compaction/compaction-sealer.ts';
import type { Conversations } from '../../conversations/response-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Deadlines } from '../../platform/http/deadlines.ts';
import type { Logger } from '../../platform/log.ts';
import type { StoredObjects } from './stored-objects/serve-stored-objects.ts';
import type { FileService } from '../../tools/file-search/file-service.ts';
import type { Idempotency } from '../../billing/idempotency/idempotency.ts';
import type { CallerDirectory } from '../admission/authenticate.ts';
import type { BackgroundRuns } from './chat/background/background-runs.ts';
import type { DocumentReader } from './chat/translate/document-reader.ts';
import type { FetchMedia } from './chat/translate/inline-media.ts';
import type { Health } from '../attempts/health/health.ts';
import type { GatewayLimits, GatewayTimeouts, RetrySettings } from '../settings/limits.ts';
import type { ProxyTest } from '../admission/check-caller.ts';
import type { SharedLimiter } from '../admission/limits/limiter.ts';
import type { Gatekeeper } from '../admission/overload/gatekeeper.ts';
import type { OverloadSettings } from '../settings/overload-settings.ts';
import type { ProofVault } from './chat/proofs/proof-vault.ts';
import type { ReplyOwners } from './chat/responses/reply-owners.ts';
import type { SchemaChecker } from './chat/schema-check/schema-checker.ts';
import type { AudioSettings } from '../settings/audio-settings.ts';
import type { UploadSpool } from './audio/upload-spool.ts';
import type { MediaMeter } from '../../platform/media/media-meter.ts';
import type { RunningCall } from '../attempts/call.ts';
import type { RetryBudget } from '../attempts/retry/retry-budget.ts';
import type { RoutingTable } from '../attempts/routing/routing-table.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Callbacks } from '../../tasks/callbacks/create-callbacks.ts';
import type { ReplyCheck } from './chat/tool-loop/check-reply.ts';
import type { ToolSettings } from '../settings/tool-settings.ts';
import type { VideoService } from './videos/video-context.ts';
import type { VideoSettings } from '../settings/video-settings.ts';
import type { ToolShed } from '../../tools/gateway-tool.ts';

/** What a configuration decides for a call. Read once per call, so that a reload never changes a call under way. */
export type GatewaySettings = {
  readonly routing: RoutingTable;
  readonly limits: GatewayLimits;
  readonly timeouts: GatewayTimeouts;
  readonly retries: RetrySettings;
  readonly validation: ValidationMode;
  readonly overload: OverloadSettings;
  /** For how many days what is stored is kept where a key says nothing of its own; 0: nothing is stored. */
  readonly responseRetentionDays: number;
  readonly videos: VideoSettings;
  /** How holds are measured. Absent: the defaults. */
  readonly credits?: CreditSettings;
  /** What is done when a client leaves, for keys that say nothing of it. Absent: `abort`. */
  readonly disconnect?: DisconnectPolicy;
  /** Whether requests may name images, files and videos in private networks. Absent: no. */
  readonly allowsPrivateMedia?: boolean;
  /** Absent: the defaults. */
  readonly tools?: ToolSettings;
  /** Whether replies are checked against the schemas that were asked for, for models that say nothing of it. Absent: `auto`. */
  readonly replyCheck?: ReplyCheck;
  /** Bounds of uploaded sound. Absent: the defaults. */
  readonly audio?: AudioSettings;
  /** What keys may use that have no limit of their own. */
  readonly perKey?: RateLimits;
  /** Reverse proxies whose word about their clients' addresses is taken. */
  readonly isProxy?: ProxyTest;
};

/** What the road of a call works with. */
export type Gateway = {
  readonly callers: CallerDirectory;
  readonly journal: Journal;
  /** Absent where no receipts are shown. */
  readonly receipts?: ReceiptFinder;
  /** Tells payers how their limits stand; absent where no accounts are kept. */
  readonly spending?: SpendingReader;
  /** Where calls get money from; absent where nobody's spending is limited. */
  readonly credits?: CreditDesk | undefined;
  /** Replies that are read on although their clients have left; absent where none is. */
  readonly drainSlots?: DrainSlots | undefined;
  readonly limiter: SharedLimiter;
  readonly gatekeeper: Gatekeeper;
  readonly replyOwners: ReplyOwners;
  readonly conversations: Conversations;
  /** The built-in tools that it can run itself. */
  readonly tools?: Partial<ToolShed>;
  readonly proofVault: ProofVault;
  /** Reads documents whose kind an upstream does not take; absent where none are read. */
  readonly documents?: DocumentReader;
  /** Seals the summaries of compacted conversations; absent where only vendors make any. */
  readonly summaries?: CompactionSealer;
  /** Checks replies against the schemas of clients, off the event loop. */
  readonly schemaChecker: SchemaChecker;
  readonly storedObjects: StoredObjects;
  readonly fetchMedia: FetchMedia;
  readonly settings: () => GatewaySettings;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  /** The health of the targets that calls go to. */
  readonly health: Health;
  readonly retryBudget: RetryBudget;
  /** From 0 up to and not including 1. */
  readonly random: () => number;
  /** Responses that are generated without a client, and stored ones that can be followed. Absent where nothing stores responses. */
  readonly background?: BackgroundRuns;
  /** Tells others what has ended. Absent where nothing is told. */
  readonly callbacks?: Callbacks;
  /** Files and vector stores of users; absent where none are kept. */
  readonly files?: FileService | undefined;
  /** Where uploaded sound waits; absent where none is taken. */
  readonly uploads?: UploadSpool | undefined;
  /** Measures sound and videos; absent where no uploads are taken. */
  readonly mediaMeter?: MediaMeter | undefined;
  /** Video tasks and their files; absent where none are kept. */
  readonly videos?: VideoService | undefined;
  /** Requests that are safe to repeat; absent where nothing is kept of them. */
  readonly idempotency?: Idempotency | undefined;
  /** Watches the calls under way. */
  readonly deadlines: Deadlines<RunningCall>;
};
