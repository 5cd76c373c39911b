import type { IncomingMessage, ServerResponse } from 'node:http';

import type { RequestTarget } from '../../admission/read-request.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { QuoteTarget, QuotedCall } from './quoted-call.ts';
import type { RequestHeaders, Wording } from './wording.ts';

/** A request that a route matched. */
export type EndpointRequest = {
  readonly request: IncomingMessage;
  /** The connection's own reply, for answers that are never recorded. */
  readonly client: ServerResponse;
  /** Receives the reply: the client, or the recorder in front of it. */
  readonly response: ClientReply;
  readonly callId: string;
  readonly target: RequestTarget;
  /** Set by an endpoint if the request is a call. */
  report: CallReport | undefined;
  readonly server: ServerState;
};

type ServerState = {
  readonly startedAtMs: number;
  /** Reasons why it should get no traffic at the moment. Empty: it is ready. */
  readonly notReadyReasons: () => readonly string[];
};

/** The variable parts of the path of a request. */
export type PathMatch = {
  /** The part of the path that the star of the route matches, undecoded. */
  readonly rest: string;
  /** Named segments of the path, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
};

/**
 * Which parts of two requests with the same `Idempotency-Key` must be equal: the path alone, or the body too. The route
 * then reads the body before it does anything.
 */
export type RequestIdentity = 'body' | 'path';

/** Computes the cost of a request. @throws GatewayError if the request itself would be refused */
export type Quote<Services> = (target: QuoteTarget<Services>) => QuotedCall | Promise<QuotedCall>;

/** The description of a route for OpenAPI. */
type RouteDescription =
  | {
      readonly operation: () => object;
      /** Describes its HEAD, if that is useful. */
      readonly head?: () => object;
      /** The name of the part that its star matches. */
      readonly rest?: string;
    }
  /** Its own paths, if one route is several paths in the document. */
  | { readonly paths: () => readonly (readonly [path: string, item: object])[] };

/** A method, a path, and its handler. `:name` is one segment of the path, a star is its rest. */
export type EndpointRoute<Services> = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Whether the route handles a path that its pattern matches. Absent: all of them. */
  readonly takes?: (path: string) => boolean;
  /** Whether a client that used another method is informed about this one. Absent: always. */
  readonly isNamedFor?: (path: string) => boolean;
  /**
   * A request with an `Idempotency-Key` runs once, and its answer is stored. Absent: a key has no effect, or the
   * endpoint handles it.
   */
  readonly identifiedBy?: RequestIdentity;
  /** How a request is priced; undefined if it is free. */
  readonly quote?: (match: PathMatch, target: RequestTarget) => Quote<Services> | undefined;
  readonly openApi: RouteDescription;
  /**
   * Answers a request. Undefined: the answer is already written.
   * @throws GatewayError before anything was delivered; the server words it like other errors of the path
   */
  readonly serve: (services: Services, http: EndpointRequest, match: PathMatch) => Promise<void> | undefined;
};

/**
 * One interface of the gateway: its routes, the wording of its errors, and its description. `registry.ts` lists all.
 */
export type Endpoint<Services> = {
  readonly name: string;
  readonly routes: readonly EndpointRoute<Services>[];
  /** How errors are worded on its paths. Absent: the headers of the client decide. */
  readonly voice?: {
    /** Whether a path is one of the endpoint's, or below one of them without a route. */
    readonly owns: (path: string) => boolean;
    readonly wording: (path: string, headers: RequestHeaders) => Wording;
  };
  /** Schemas by name. Its routes refer to them. */
  readonly schemas?: Readonly<Record<string, object>>;
  /** The requests that it sends by itself. */
  readonly webhooks?: Readonly<Record<string, object>>;
};
