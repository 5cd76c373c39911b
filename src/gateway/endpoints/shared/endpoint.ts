import type { IncomingMessage, ServerResponse } from 'node:http';

import type { RequestTarget } from '../../admission/read-request.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { QuoteTarget, QuotedCall } from './quoting/quoted-call.ts';
import type { RequestHeaders, Wording } from './wording.ts';

/** A request that has come to a route, and what becomes of it. */
export type EndpointRequest = {
  readonly request: IncomingMessage;
  /** The connection's own reply, for what is never recorded. */
  readonly client: ServerResponse;
  /** Where its reply goes: to the client, or to what stands before it. */
  readonly response: ClientReply;
  readonly callId: string;
  readonly target: RequestTarget;
  /** An endpoint sets it where the request is a call: from then on it is followed. */
  report: CallReport | undefined;
  readonly server: ServerState;
};

/** What the server knows of itself. */
type ServerState = {
  readonly startedAtMs: number;
  /** Reasons why it should get no traffic at the moment; none when it is ready. */
  readonly hindrances: () => readonly string[];
};

/** What the path of a request says beside its route. */
export type PathMatch = {
  /** What stands in place of the star of the route, undecoded. */
  readonly rest: string;
  /** Named segments of the path, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
};

/**
 * What tells two requests with the same `Idempotency-Key` apart: the path alone, or the body as well, which the route
 * then reads before it does anything.
 */
export type RequestIdentity = 'body' | 'path';

/** Finds what a request would cost. @throws GatewayError as the request itself would be refused */
export type Quote<Services> = (asked: QuoteTarget<Services>) => QuotedCall | Promise<QuotedCall>;

/** How a route stands in the OpenAPI document. */
type RouteDescription =
  | {
      readonly operation: () => object;
      /** Its HEAD, where that is worth a description. */
      readonly head?: () => object;
      /** What its star stands for. */
      readonly rest?: string;
    }
  /** Paths of its own, where one route is several in the document. */
  | { readonly paths: () => readonly (readonly [path: string, item: object])[] };

/** A method and a path, and what they mean. `:name` is one segment of the path, a star its rest. */
export type EndpointRoute<Services> = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Whether the route is meant by a path that its pattern matches. Absent: by each of them. */
  readonly takes?: (path: string) => boolean;
  /** Whether a client that used another method is told of this one. Absent: always. */
  readonly isNamedFor?: (path: string) => boolean;
  /**
   * A request with an `Idempotency-Key` is made once, and its answer is kept. Absent where a key is of no effect, or is
   * the endpoint's own concern.
   */
  readonly identifiedBy?: RequestIdentity;
  /** Finds how a request to it is priced; undefined where it costs nothing. */
  readonly quote?: (match: PathMatch, target: RequestTarget) => Quote<Services> | undefined;
  readonly openApi: RouteDescription;
  /**
   * Answers a request; undefined where the answer has been written already.
   * @throws GatewayError as long as nothing was delivered: the server words it as the path's errors are
   */
  readonly serve: (services: Services, http: EndpointRequest, match: PathMatch) => Promise<void> | undefined;
};

/**
 * One interface of the gateway: its routes, how its errors are worded, and how it is described. `registry.ts` lists
 * them.
 */
export type Endpoint<Services> = {
  readonly name: string;
  readonly routes: readonly EndpointRoute<Services>[];
  /** How errors are worded on its paths. Absent: as the headers of the client say. */
  readonly voice?: {
    /** Its paths, and those below them that have no route. */
    readonly owns: (path: string) => boolean;
    readonly wording: (path: string, headers: RequestHeaders) => Wording;
  };
  /** By name; its routes refer to them. */
  readonly schemas?: Readonly<Record<string, object>>;
  /** What it sends by itself. */
  readonly webhooks?: Readonly<Record<string, object>>;
};
