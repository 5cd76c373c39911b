import type { DialectId, Operation } from '../../dialects/dialect-id.ts';
import type { StreamFraming } from '../../platform/frames.ts';

/** A body as it was recorded: at most its first bytes. */
export type RecordedBody = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of the whole body; more than `bytes.length` if the rest was left out. */
  readonly bytesTotal: number;
  /** Empty if it is unknown. */
  readonly mediaType: string;
};

/** The counts of a call's usage under the names of the conventions of telemetry. */
export type RecordedUsage = Readonly<Record<string, number>>;

/** What the books and the configuration say about a recorded call. It has no content. */
export type RecordedFacts = {
  readonly id: string;
  readonly atMs: number;
  readonly durationMs: number;
  readonly userId: string;
  readonly user: string;
  readonly keyId: string;
  readonly key: string;
  readonly team?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** The client's interface. */
  readonly interface: string;
  /** As the conventions of telemetry name it: `chat`, `embeddings`. */
  readonly operation: string;
  /** The vendor under its name of the conventions; absent if nothing was sent. */
  readonly provider?: string;
  readonly upstream?: string;
  readonly requestedModel?: string;
  readonly servedModel?: string;
  readonly end: string;
  readonly status?: number;
  readonly error?: string;
  readonly stream: boolean;
  readonly usage: RecordedUsage;
  readonly traceId?: string;
  readonly spanId?: string;
};

/** The interface of a chat, with what its path says. */
export type RecordedChat = {
  readonly dialect: DialectId;
  readonly operation: Operation;
  readonly pathModel?: string;
  readonly pathFraming?: StreamFraming;
};

/** A call whose content is recorded, as it comes from the gateway. */
export type RecordedCall = {
  readonly facts: RecordedFacts;
  readonly mode: 'masked' | 'full';
  /** Absent for other interfaces than chats. */
  readonly chat?: RecordedChat;
  /** Absent if no body was read, or it was a form with files. */
  readonly request?: RecordedBody;
  /** Absent if nothing was sent to the client. */
  readonly reply?: RecordedBody;
};
