import type { Conversations } from '../../../conversations/response-store.ts';
import type { Callbacks } from '../../../tasks/callbacks/create-callbacks.ts';
import type { FileService } from '../../../tools/file-search/file-service.ts';
import type { ToolFactories } from '../../../tools/gateway-tool.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { ImageMaker } from '../shared/image-maker.ts';
import type { BackgroundRuns } from './background/background-runs.ts';
import type { CompactionSealer } from './compaction-summaries.ts';
import type { ProofVault } from './proofs/proof-vault.ts';
import type { ReplyOwners } from './responses/reply-owners.ts';
import type { SchemaChecker } from './schema-check/schema-checker.ts';
import type { DocumentReader } from './translate/read-documents.ts';
import type { FetchMedia } from './translate/inline-media.ts';

/** The services of chats, besides those of every call. */
export type ChatServices = AdmissionServices &
  Omit<AttemptServices, 'replyOwners'> & {
    readonly replyOwners: ReplyOwners;
    readonly conversations: Conversations;
    /** The built-in tools that the gateway can run itself. */
    readonly tools?: Partial<ToolFactories>;
    readonly proofVault: ProofVault;
    /** Reads documents that an upstream does not accept. Absent: none are read. */
    readonly documents?: DocumentReader;
    /** Seals the summaries of compacted conversations. Absent: only vendors compact. */
    readonly summaries?: CompactionSealer;
    /** Checks replies against the schemas of clients, off the event loop. */
    readonly schemaChecker: SchemaChecker;
    readonly fetchMedia: FetchMedia;
    /** Makes images for chats with models that only make images. Absent: none are made. */
    readonly imageMaker?: ImageMaker;
    /** Responses that are generated without a client, and access to stored ones. Absent: responses are not stored. */
    readonly background?: BackgroundRuns;
    /** Sends callbacks. Absent: none are sent. */
    readonly callbacks?: Callbacks;
    /** Files and vector stores of users. Absent: none are stored. */
    readonly files?: FileService | undefined;
  };
