import type { UpstreamDialectId } from '../dialects/dialect-id.ts';
import type { CallNeed } from '../inference/call-facts.ts';
import type { GatewayError } from '../inference/gateway-error.ts';
import type { ModelTraits } from '../inference/model-traits.ts';
import type { UsageReport } from '../inference/usage.ts';
import type { Frame } from '../platform/frames.ts';
import type { ReplyHeaders } from '../platform/http/reply-head.ts';
import type { UpstreamRequest } from '../platform/http/upstream-client.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import type { AccountFact, AccountFacts } from './account-facts.ts';
import type { Quirks } from './apply-quirks.ts';
import type { CredentialSource } from './credentials/credential-source.ts';
import type { CredentialKind, CredentialSettings } from './credentials/registry.ts';
import type { KeyHeader } from './key-header.ts';
import type { ModelKindRule } from './model-kind-rules.ts';
import type { Reshape } from './reshape.ts';
import type { UpstreamRoute } from './upstream-route.ts';
import type { UpstreamServices } from './upstream-services.ts';

export type VendorId =
  | 'anthropic'
  | 'openai'
  | 'gemini'
  | 'xai'
  | 'azure'
  | 'foundry'
  | 'bedrock'
  | 'vertex'
  | 'claude-aws'
  | 'claude-google'
  | 'openai-compatible';

/** The account with which a request is sent. */
export type UpstreamAccount = {
  readonly apiKey: string | undefined;
  /** The source of short-lived credentials. Absent: the account has a key, or nothing. */
  readonly credential?: CredentialSource | undefined;
  /** Scheme, host and port that the request goes to. */
  readonly origin: string;
  readonly facts: AccountFacts;
  /** The time of day, which signatures contain. */
  readonly nowMs: () => number;
};

/** An error answer of an upstream. */
export type ErrorAnswer = {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: Buffer;
  /** The name of the model that was asked for. */
  readonly model: string;
};

/**
 * A kind of upstream: the addresses and dialects of one vendor's service. It consists of data and pure functions; the
 * exchange does the I/O. A new one is a folder here and a line in registry.ts.
 */
export type UpstreamVendor = {
  readonly id: VendorId;
  readonly title: string;
  /** The vendor's own address, which is the default of its official SDK. Absent: the operator must configure one. */
  readonly defaultBaseUrl?: string;
  /** The address of an account, if it depends on facts. Undefined if these say too little. */
  readonly addressOf?: (facts: AccountFacts) => string | undefined;
  /** The path of the base address, from that of the configured address. Absent: it is the configured one. */
  readonly basePathOf?: (pathname: string, facts: AccountFacts) => string;
  /**
   * The path and query of a service below the base address, if they depend on the model or on facts.
   * @param path the path of `services`, or `probePath`
   */
  readonly placeService?: (path: string, upstreamModel: string, facts: AccountFacts) => string;
  /**
   * The address of a file in a bucket that its replies name. It is fetched with the credential of the account.
   * Undefined for a name of another kind. Absent: its replies name none.
   */
  readonly locateObject?: (uri: string, facts: AccountFacts) => string | undefined;
  /** The facts about an account that it uses. Absent: none. */
  readonly facts?: readonly AccountFact[];
  /** Why these facts cannot be used, for the operator. Absent: all that the schema permits can. */
  readonly checkFacts?: (facts: AccountFacts, baseUrl: string | undefined) => string | undefined;
  /** The kinds of credentials that it takes besides keys. Absent: none. */
  readonly credentialKinds?: readonly CredentialKind[];
  /** The credential of an account that has neither a key nor a credential. Absent: it sends none. */
  readonly usualCredential?: CredentialSettings;
  /** Environment variables in which this vendor's SDKs look for a key, in order. Only main reads them. */
  readonly keyVariables: readonly string[];
  /** The chat dialects that it speaks. `openai-compatible` servers can be configured to speak more. */
  readonly dialects: readonly UpstreamDialectId[];
  /** Dialects that an operator can add with `dialects` in the configuration. */
  readonly optionalDialects: readonly UpstreamDialectId[];
  /**
   * The dialects of one model, the best first, if the models of an account speak different ones.
   * @param model the model behind the name, as far as it is known
   */
  readonly dialectsOf?: (model: string, facts: AccountFacts) => readonly UpstreamDialectId[];
  readonly offers: readonly CallNeed[];
  /** Whether it stores responses, so that a later call can continue one by its id. */
  readonly keepsResponses?: boolean;
  /** Whether it has a route that compacts conversations. Absent: no. */
  readonly compacts?: boolean;
  /** Returns the path and query after the configured base address. Undefined: the vendor has no such route. */
  readonly locate: (route: UpstreamRoute, facts: AccountFacts) => string | undefined;
  /**
   * Changes a request that its dialect has written: members that the service does not know, values that have
   * another place there. Absent: the service takes requests as they are.
   */
  readonly reshape?: Reshape;
  /** Writes a frame of a binary stream as its dialect streams it. Absent: it has no binary streams. */
  readonly reframe?: (frame: Frame, dialect: UpstreamDialectId) => readonly Frame[];
  /** Writes a whole reply in the form of its dialect. Undefined if it has that form. Absent: all replies have it. */
  readonly reshapeReply?: (reply: unknown) => JsonObject | undefined;
  /**
   * Words an error answer that is not in the form of its dialect, for operators and clients. Undefined if the dialect
   * reads it. Absent: all errors have the form of the dialect.
   */
  readonly readRefusal?: (answer: ErrorAnswer, dialect: UpstreamDialectId) => GatewayError | undefined;
  /** Its services other than chats. Quirks describe the differences among `openai-compatible` servers. */
  readonly services: UpstreamServices;
  /**
   * The kinds of its models, by the first rule that matches. A model whose name matches no rule may be newer than the
   * rules and be of any kind. Absent: no kinds are known.
   */
  readonly modelKinds?: readonly ModelKindRule[];
  /**
   * Adds the credential to a complete request right before it is sent, for vendors that require a signature or a
   * fetched token. Absent if `credentialHeaders` are enough, which costs nothing per request. A failure here counts as
   * a failure of the credential, and the attempt is repeated elsewhere. A redirect is never followed, so the credential
   * goes to the address of the account only.
   */
  readonly authorize?: (
    request: UpstreamRequest,
    account: UpstreamAccount,
    signal: AbortSignal,
  ) => UpstreamRequest | Promise<UpstreamRequest>;
  /**
   * Whether an answer says that a short-lived credential is no longer accepted. Then it is fetched again, and the
   * request is sent once more with the new one. Absent: the status 401 says so.
   */
  readonly refusesCredential?: (status: number, headers: ReplyHeaders) => boolean;
  /** The headers with the credential. An upstream without a key sends none. */
  readonly credentialHeaders: (apiKey: string, dialect: UpstreamDialectId) => Readonly<Record<string, string>>;
  /** Client headers that are forwarded to this vendor: exact names, or prefixes that end in `*`, in lower case. */
  readonly requestHeaders: readonly string[];
  /**
   * Client headers that are forwarded under another name: the neutral spellings of the contract. If a client sends
   * both, their values are joined.
   */
  readonly headerAliases?: Readonly<Record<string, string>>;
  /** Headers that the vendor requires in every call. Clients of its own dialect send them, other clients cannot. */
  readonly requiredHeaders?: Readonly<Record<string, string>>;
  /** Whether it executes a request only once if it is repeated with the same `idempotency-key`. Absent: no. */
  readonly takesIdempotencyKeys?: boolean;
  /** Reply headers that are forwarded to the client, in the same notation. */
  readonly replyHeaders: readonly string[];
  /** Corrects a usage report if this vendor counts differently from its dialect. */
  readonly correctUsage?: (report: UsageReport, dialect: UpstreamDialectId) => UsageReport;
  /**
   * Finds the traits of a model by the vendor's name for it. A name that is not known gets the traits of the vendor's
   * newest models.
   */
  readonly traitsOf: (upstreamModel: string) => ModelTraits;
  /**
   * The owner of proofs of reasoning: the vendor, if any of its upstreams accepts them, or the single upstream, if the
   * same vendor id stands for unrelated servers.
   */
  readonly proofsBelongTo: 'vendor' | 'upstream';
  /** The group of models that accept each other's proofs, if not all of the vendor do. Undefined: the usual group. */
  readonly proofGroupOf?: (model: string) => string | undefined;
  /**
   * The path below the base address that lists models in OpenAI's form. Absent: the models are those of the price book.
   */
  readonly modelListPath?: string;
  /**
   * True if servers send no status line before they have content: under load they queue calls, and local servers load
   * the model first.
   */
  readonly answersLate?: boolean;
  /**
   * A GET below the base address that lists models, for `weir doctor`. It costs nothing, and vendors answer it only
   * with a valid credential.
   */
  readonly probePath: string;
  /** What an operator should do about a refusal, for `weir doctor`. Undefined: the usual advice fits. */
  readonly adviseOperator?: (refusal: OperatorRefusal, facts: AccountFacts) => string | undefined;
  /** The vendor's page for creating and renewing keys. Absent for self-hosted servers. */
  readonly keysUrl?: string;
  /**
   * Vendors whose prices a model of this one has if the price book has none here, and the operator says which model a
   * name stands for (`is`). Absent: none.
   */
  readonly makers?: readonly VendorId[];
  /**
   * Where a model is served: a region, an area such as `eu`, or `global`. It is `region` in prices. Undefined: not
   * known. Absent: its prices are the same everywhere.
   */
  readonly servedIn?: (upstreamModel: string, facts: AccountFacts) => string | undefined;
  /** The model that a name stands for, if the name says so by itself. Absent: only the operator knows (`is`). */
  readonly modelBehind?: (upstreamModel: string) => string;
  /** Known servers of this kind, by the value of `preset` in the configuration. Absent if the vendor is one service. */
  readonly presets?: Readonly<Record<string, ServerPreset>>;
};

/** A refusal that an operator meets while setting up an upstream. */
export type OperatorRefusal = {
  readonly status: number;
  /** The code of the error body. */
  readonly code: string | undefined;
  readonly message: string;
  /** The name of the model that was asked for; empty in a request without one. */
  readonly model: string;
  readonly hasKey: boolean;
};

/** Where a service serves one dialect, if its dialects have addresses of their own. */
export type DialectAddress = {
  readonly dialect: UpstreamDialectId;
  /** The path of its base address, below which `locate` finds the routes. */
  readonly path: string;
  /** The header of the key. Absent: as the vendor sends it. */
  readonly keyHeader?: KeyHeader;
  /** Whether it counts tokens without a call. Absent: counts are estimated. */
  readonly countsTokens?: boolean;
  /** Its routes. Absent: those of the vendor. */
  readonly locate?: UpstreamVendor['locate'];
};

/** A server or service with a vendor's interface, and its differences from the usual server. */
export type ServerPreset = {
  /** The service's own address. Absent for self-hosted servers, and for services that give each account its own. */
  readonly baseUrl?: string;
  /** What an operator has to configure instead, for messages. */
  readonly exampleUrl?: string;
  /**
   * The dialects that it speaks, the one into which calls are translated first. Absent: those of the vendor, all at the
   * base address. All are at one host.
   */
  readonly addresses?: readonly DialectAddress[];
  /** Whether it lists its models. Absent: yes. */
  readonly listsModels?: boolean;
  readonly quirks: Quirks;
  /** The differences of one model, besides those. Absent: no model has any. */
  readonly quirksOf?: (upstreamModel: string) => Quirks;
};
