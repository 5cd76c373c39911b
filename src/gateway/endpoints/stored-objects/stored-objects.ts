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

/** A route: the object that the path names, and the action. */
export type StoredObjectRoute =
  | { readonly object: 'response'; readonly action: 'show' | 'delete' | 'cancel' | 'list-input-items' }
  | { readonly object: 'conversation'; readonly action: 'create' | 'show' | 'update' | 'delete' }
  | { readonly object: 'item'; readonly action: 'list' | 'add' | 'show' | 'delete' };

export type StoredObjects = {
  readonly conversations: Conversations;
  /** Writes the events of a stored response after a sequence number, and follows it until it ends. */
  readonly streamStored?: (stream: StoredStream) => Promise<void>;
  /** Cancels a background response, and resolves with it. */
  readonly cancelStored?: (userName: string, id: string) => Promise<object>;
  /** Deletes a response at the upstream that also stores it, before it is deleted here. Rejects if that fails. */
  readonly deleteAtKeeper?: (keeper: ResponseKeeper, id: string) => Promise<void>;
};

/** A request for a stored object, of an authenticated caller. */
export type StoredObjectRequest = {
  readonly caller: Pick<ApiKey, 'userName' | 'responseRetentionDays'>;
  readonly callId: string;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly query: URLSearchParams;
  /** Parameters of the path. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly settings: { readonly limits: GatewayLimits; readonly validation: ValidationMode; readonly retentionDays: number };
  readonly nowMs: number;
  readonly newId: (prefix: string) => string;
  /** Whether this process has memory for this part of the body. */
  readonly mayHold: (bytes: number) => boolean;
};
