import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../../../accounts/api-key.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { FileService } from '../../../tools/file-search/file-service.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { FileServices } from './file-services.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';

/** A request for files or vector stores, of an authenticated caller. */
export type FilesContext = {
  readonly gateway: FileServices;
  readonly files: FileService;
  readonly caller: ApiKey;
  readonly admission: Admission;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly callId: string;
  readonly query: URLSearchParams;
  /** Reads the JSON body; an empty object if there is none. */
  readonly readBody: () => Promise<JsonObject>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

/** Answers a request with JSON; undefined if the reply is written already. */
export type FilesHandler = (context: FilesContext, ids: readonly string[]) => Promise<JsonObject | undefined>;

/** The same message for unknown objects and those of other users. */
export function notFound(
  kind: 'file' | 'vector store' | 'file batch' | 'file in the vector store',
  id: string,
  param?: string,
): GatewayError {
  const options = param === undefined ? {} : { param };
  return new GatewayError('object_not_found', `No such ${kind}: ${JSON.stringify(id.slice(0, 80))}.`, options);
}
