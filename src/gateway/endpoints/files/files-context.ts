import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../../../accounts/api-key.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { FileService } from '../../../tools/file-search/file-service.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { FileServices } from './file-services.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';

/** A request to the files or vector stores of a known caller. */
export type FilesContext = {
  readonly gateway: FileServices;
  readonly files: FileService;
  readonly caller: ApiKey;
  readonly admission: Admission;
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly callId: string;
  readonly query: URLSearchParams;
  /** The request's JSON object; an empty one where there is no body. */
  readonly readBody: () => Promise<JsonObject>;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
};

/** Answers a request with a JSON value; undefined where the answer is written already. */
export type FilesHandler = (context: FilesContext, ids: readonly string[]) => Promise<JsonObject | undefined>;

/** What belongs to another user, and what there is not: the same words for both. */
export function notFound(
  kind: 'file' | 'vector store' | 'file batch' | 'file in the vector store',
  id: string,
  param?: string,
): GatewayError {
  const options = param === undefined ? {} : { param };
  return new GatewayError('object_not_found', `No such ${kind}: ${JSON.stringify(id.slice(0, 80))}.`, options);
}
