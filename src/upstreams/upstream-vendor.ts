import type { DialectId, Operation } from '../dialects/dialect-id.ts';
import type { CallNeed } from '../inference/call-facts.ts';
import type { ModelTraits } from '../inference/model-traits.ts';
import type { UsageReport } from '../inference/usage.ts';
import type { StreamFraming } from '../platform/frames.ts';
import type { UpstreamRequest } from '../platform/http/upstream-client.ts';
import type { Quirks } from './apply-quirks.ts';
import type { ModelKindRule } from './model-kind-rules.ts';
import type { UpstreamServices } from './upstream-services.ts';

export type VendorId = 'anthropic' | 'openai' | 'gemini' | 'xai' | 'openai-compatible';

/** What is to be reached at an upstream. */
export type UpstreamRoute = {
  readonly dialect: DialectId;
  readonly operation: Operation;
  readonly upstreamModel: string;
  /** The framing of the reply when it is to be a stream; absent for a whole reply. */
  readonly framing?: StreamFraming;
};

/**
 * A kind of upstream: how one vendor's service is addressed and what it speaks. Pure data and functions; the exchange does the I/O.
 * Adding one adds a folder here and a line in registry.ts.
 */
export type UpstreamVendor = {
  readonly id: VendorId;
  readonly title: string;
  /** The vendor's own address, as its official SDK defaults to it. Absent where the operator must name one. */
  readonly defaultBaseUrl?: string;
  /** Environment variables in which this vendor's SDKs look for a key, in order. Read by main only. */
  readonly keyVariables: readonly string[];
  /** Chat dialects it speaks. `openai-compatible` servers may be configured to speak more. */
  readonly dialects: readonly DialectId[];
  /** Dialects that an operator may switch on for an upstream of this vendor by `dialects` in the configuration. */
  readonly optionalDialects: readonly DialectId[];
  readonly offers: readonly CallNeed[];
  /** Whether it keeps responses, so that a later call may go on from one by its id. */
  readonly keepsResponses?: boolean;
  /** Whether it compacts conversations itself, on request and at a route of its own. Absent: no. */
  readonly compacts?: boolean;
  /** The path and query that follow the configured base address, or undefined where the vendor has no such route. */
  readonly locate: (route: UpstreamRoute) => string | undefined;
  /** What it offers beside chats. What differs among `openai-compatible` servers is told by their quirks. */
  readonly services: UpstreamServices;
  /** What its models are made for: the first rule that fits. A name that fits none may be of any kind, as models are that came later. Absent: nothing is known. */
  readonly modelKinds?: readonly ModelKindRule[];
  /**
   * Adds the credential to the request of an attempt as it is about to be sent, with all its bytes, for vendors that want it signed or a token that has to be fetched.
   * Absent where headers that are known before are enough: such a request costs nothing more. What fails here is the credential's failure, and is tried elsewhere.
   */
  readonly authorize?: (
    request: UpstreamRequest,
    credential: { readonly apiKey: string | undefined; readonly origin: string },
    signal: AbortSignal,
  ) => UpstreamRequest | Promise<UpstreamRequest>;
  /** Headers that carry the credential. An upstream without a key sends none. */
  readonly credentialHeaders: (apiKey: string, dialect: DialectId) => Readonly<Record<string, string>>;
  /** Client headers that may pass to this vendor: exact names, or prefixes that end in `*`. Lower case. */
  readonly requestHeaders: readonly string[];
  /** Client headers that pass under another name: the contract's neutral spellings. When both are sent their values are joined. */
  readonly headerAliases?: Readonly<Record<string, string>>;
  /** Headers that the vendor demands of every call; clients of its own dialect send them, clients of others cannot. */
  readonly requiredHeaders?: Readonly<Record<string, string>>;
  /** Whether it makes a request once that comes again with the same `idempotency-key`. Absent: no. */
  readonly takesIdempotencyKeys?: boolean;
  /** Reply headers that may pass to the client, in the same notation. */
  readonly replyHeaders: readonly string[];
  /** Corrects a usage report where this vendor counts otherwise than its dialect says. */
  readonly correctUsage?: (report: UsageReport, dialect: DialectId) => UsageReport;
  /**
   * What a model accepts, by the name it has at this vendor. Never undefined: a name that is not known gets what the vendor's newest models
   * do.
   */
  readonly traitsOf: (upstreamModel: string) => ModelTraits;
  /**
   * Whose the proofs of reasoning are: of the vendor, so that any of its upstreams takes them, or of the single upstream, where the same
   * name stands for servers that have nothing to do with each other.
   */
  readonly proofsBelongTo: 'vendor' | 'upstream';
  /** Where such servers list their models in OpenAI's form, below the base address. Absent where models are known from the price book. */
  readonly modelListPath?: string;
  /** True where servers send no status line before they have something to say: under load they queue calls, and local ones load the model first. */
  readonly answersLate?: boolean;
  /** A GET below the base address that lists models: it costs nothing, and vendors answer it only with a good credential. For `weir doctor`. */
  readonly probePath: string;
  /** The vendor's page where keys are made and renewed. Absent where the server is the operator's. */
  readonly keysUrl?: string;
  /** Known servers of this kind, by the name that `preset` has in the configuration. Absent where the vendor is one service. */
  readonly presets?: Readonly<Record<string, ServerPreset>>;
};

/** A server or service that imitates a vendor's interface, and where it departs from what such servers usually do. */
export type ServerPreset = {
  /** The service's own address. Absent for servers that run where the operator put them. */
  readonly baseUrl?: string;
  readonly quirks: Quirks;
};
