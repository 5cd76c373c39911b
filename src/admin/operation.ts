import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

import type { TObject, TSchema } from 'typebox';

import type { Permission } from '../accounts/people/permissions.ts';
import type { Principal } from '../accounts/people/principal.ts';
import type { Change } from '../audit/change-author.ts';
import type { Upload } from './upload.ts';

/** The callers that may run an operation: all, all that are signed in, or those with a permission. */
type Access = 'anybody' | 'signed-in' | Permission;

/** A request that an operation passes on without reading its body. */
export type PassedRequest = {
  readonly method: string;
  /** The path after that of the operation, and the query, as they were written: `/v1/messages?beta=true`. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Undefined if there is none. */
  readonly body: Readable | undefined;
};

/** How a running operation sees its caller and the world. */
export type AdminContext<Services> = {
  readonly principal: Principal;
  readonly services: Services;
  /**
   * The author and the time of a change that happens now. Of an operation with a `subject` it also has the version that
   * the caller has seen, which the store compares.
   */
  readonly change: () => Change;
  /** The version that the caller has seen; undefined if any will do. */
  readonly expected: number | undefined;
  /** The last event of a stream that the caller has received before it connected again. */
  readonly lastEventId?: string;
  /** The fields `Range` and `If-Range` of a request for a file. */
  readonly range?: { readonly field: string; readonly ifRange?: string };
  /** The file of an operation that takes one. */
  readonly upload?: Upload;
  /** Of an operation that `passes`: the request itself. */
  readonly passed?: PassedRequest;
  /** Aborts when the caller leaves or the time for the operation is over. */
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
};

/** A whole JSON answer. */
export type Answer<Body> = {
  readonly body: Body;
  /** Of a single object: the number of its last change. It becomes the ETag. */
  readonly version?: number;
  /** The path of a new object below `/api/v1`, for 201 and 202. */
  readonly location?: string;
  /** The token of a new session, or the end of the present one. */
  readonly session?: { readonly token: string } | 'end';
};

/** An answer that is sent as it is made: an export, a file, a stream of events. */
export type StreamAnswer = {
  readonly stream: AsyncIterable<string | Uint8Array>;
  /** Undefined for a passed answer without one. */
  readonly contentType: string | undefined;
  /** 200 unless given; 206 for a part of a file. */
  readonly status?: number;
  /** The name under which a browser saves it; undefined for what is read in place. */
  readonly fileName?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The pieces are buffers that nobody else reads, and their memory is free when they were sent. */
  readonly ownsPieces?: true;
};

/**
 * The version of an object with one of its own.
 * @throws AdminProblem `not_found` if the principal may not see it
 */
export type VersionOf<Services> = (
  params: Readonly<Record<string, string>>,
  services: Services,
  principal: Principal,
  nowMs: number,
) => Promise<number>;

/** The parts of a request, before or after validation. Query parameters that repeat are lists. */
export type Input<Params, Query, Body> = { readonly params: Params; readonly query: Query; readonly body: Body };
export type RawInput = Input<Readonly<Record<string, string>>, Readonly<Record<string, readonly string[]>>, unknown>;

export type Shape = {
  /** `keys.list`: the OpenAPI id, and the name in logs and in tests. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below `/api/v1`, with parameters in braces: `/keys/{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  /** The sign-in must be at most 15 minutes old (requirement S7); admin tokens need the permission expressly. */
  readonly recentSignIn?: true;
  /** Whether a POST must have an `Idempotency-Key`, because money moves. */
  readonly keyRequired?: true;
  /** Whether a POST must have `If-Match`, because it is right only for the version that the caller has seen. */
  readonly matchRequired?: true;
  /**
   * The request is `multipart/form-data` with one file in the field `file`. The other fields are the body, as texts.
   */
  readonly takesFile?: true;
  /** The largest body in bytes; 1 MiB unless given. */
  readonly bodyBytesMax?: number;
  /** 200 unless given. */
  readonly status?: 200 | 201 | 202 | 204;
  /** Media types of a streamed answer; then there is no `reply`. */
  readonly streams?: readonly string[];
  /**
   * The last parameter of the path is all that follows, and body and query of any kind are passed on (`passed`). The
   * answer may take this long to begin, and between two of its parts.
   */
  readonly passes?: { readonly waitMsMax: number };
};

export type Schemas<Params extends TObject, Query extends TObject, Body extends TSchema, Reply extends TSchema> = {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly reply?: Reply;
};

/**
 * One operation of the admin API. Everything about it is derived from this: its route, its validation, who may run it,
 * its OpenAPI entry, and the tests for each role.
 */
export type Operation<Services, Params = unknown, Query = unknown, Body = unknown, Reply = unknown> = Shape & {
  readonly schemas: Schemas<TObject, TObject, TSchema, TSchema>;
  /**
   * Validates the input and runs the operation.
   * @throws AdminProblem, or the error of the store
   */
  readonly run: (input: RawInput, context: AdminContext<Services>) => Promise<Answer<Reply> | StreamAnswer>;
  /**
   * Of an operation that changes an existing object: the subject in the audit log whose last change `If-Match` names.
   */
  readonly subject?: (params: Readonly<Record<string, string>>) => string;
  /** The same for an object with a version of its own; the handler compares it once more with `context.expected`. */
  readonly versionOf?: VersionOf<Services>;
  /** The present state for the answer 412, besides its version: so that a client can show what has changed. */
  readonly present?: (params: Readonly<Record<string, string>>, services: Services) => Promise<unknown>;
  /** The types of the parts, for callers in the same language. It has no value. */
  readonly types?: Input<Params, Query, Body> & { readonly reply: Reply };
};

export function isStream(answer: Answer<unknown> | StreamAnswer): answer is StreamAnswer {
  return 'stream' in answer;
}
