import type { IncomingMessage } from 'node:http';
import type { ApiKey } from '../../../accounts/api-key.ts';
import type { Conversations, ResponseKeeper } from '../../../conversations/response-store.ts';
import type { ValidationMode } from '../../../dialects/dialect-id.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { GatewayLimits } from '../../settings/limits.ts';

type StoredStream = {
  readonly userName: string;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
};

/** A route of what is stored: the object that the path names, and what is done with it. */
export type StoredObjectRoute =
  | { readonly object: 'response'; readonly action: 'show' | 'delete' | 'cancel' | 'list-input-items' }
  | { readonly object: 'conversation'; readonly action: 'create' | 'show' | 'update' | 'delete' }
  | { readonly object: 'item'; readonly action: 'list' | 'add' | 'show' | 'delete' };

/** What the routes of stored objects work with. */
export type StoredObjects = {
  readonly conversations: Conversations;
  /** Writes the events of a stored response behind the number given, and follows it while it goes on. */
  readonly streamStored?: (stream: StoredStream) => Promise<void>;
  /** Cancels a response that is generated in the background, and resolves with it. */
  readonly cancelStored?: (userName: string, id: string) => Promise<object>;
  /** Deletes a response at the upstream that keeps it too. Called before it is deleted here; rejects where that could not be done. */
  readonly deleteAtKeeper?: (keeper: ResponseKeeper, id: string) => Promise<void>;
};

/** A request for a stored object, of a caller who was let in. */
export type StoredObjectRequest = {
  readonly caller: Pick<ApiKey, 'userName' | 'responseRetentionDays'>;
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly query: URLSearchParams;
  /** What the path names. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly settings: { readonly limits: GatewayLimits; readonly validation: ValidationMode; readonly retentionDays: number };
  readonly nowMs: number;
  readonly newId: (prefix: string) => string;
  /** Whether this process has room for so much of the request's body. */
  readonly mayHold: (bytes: number) => boolean;
};
