import type { Conversations } from '../../../conversations/response-store.ts';
import type { Callbacks } from '../../../tasks/callbacks/create-callbacks.ts';
import type { FileService } from '../../../tools/file-search/file-service.ts';
import type { ToolFactories } from '../../../tools/gateway-tool.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { PictureMaker } from '../shared/picture-maker.ts';
import type { BackgroundRuns } from './background/background-runs.ts';
import type { CompactionSealer } from './compaction/compaction-sealer.ts';
import type { ProofVault } from './proofs/proof-vault.ts';
import type { ReplyOwners } from './responses/reply-owners.ts';
import type { SchemaChecker } from './schema-check/schema-checker.ts';
import type { DocumentReader } from './translate/document-reader.ts';
import type { FetchMedia } from './translate/inline-media.ts';

/** What chats work with, besides what every call does. */
export type ChatServices = AdmissionServices &
  Omit<AttemptServices, 'replyOwners'> & {
    readonly replyOwners: ReplyOwners;
    readonly conversations: Conversations;
    /** The built-in tools that it can run itself. */
    readonly tools?: Partial<ToolFactories>;
    readonly proofVault: ProofVault;
    /** Reads documents whose kind an upstream does not take; absent where none are read. */
    readonly documents?: DocumentReader;
    /** Seals the summaries of compacted conversations; absent where only vendors make any. */
    readonly summaries?: CompactionSealer;
    /** Checks replies against the schemas of clients, off the event loop. */
    readonly schemaChecker: SchemaChecker;
    readonly fetchMedia: FetchMedia;
    /** Makes pictures for chats that ask for them of a model that does nothing else; absent where none are made. */
    readonly pictureMaker?: PictureMaker;
    /** Responses that are generated without a client, and stored ones that can be followed. Absent where nothing stores responses. */
    readonly background?: BackgroundRuns;
    /** Sends what has ended to the addresses that were given for it. Absent where nothing is sent. */
    readonly callbacks?: Callbacks;
    /** Files and vector stores of users; absent where none are kept. */
    readonly files?: FileService | undefined;
  };
