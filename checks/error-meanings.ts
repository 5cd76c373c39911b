import type { ErrorCode } from '../src/inference/gateway-error.ts';

/** A part of docs/reference/errors.md: errors with the same remedy. */
type ErrorSection = {
  readonly title: string;
  readonly introduction: string;
  readonly codes: readonly ErrorCode[];
};

const invalidRequests = {
  invalid_json: 'The body is not a valid JSON object: its syntax or its encoding is wrong, or compressed data cannot be decompressed.',
  duplicate_key: 'A JSON object contains the same key twice. The gateway does not guess which of the two values is meant.',
  body_too_deep:
    'The JSON exceeds a structural limit: 64 levels, 250,000 values, 64 KiB for one key or number, or 1 MiB of consecutive white space.',
  body_incomplete: 'The connection ended before the whole body had arrived. Send the request again.',
  invalid_value: 'A field has an invalid value. The message names the field and the valid values.',
  missing_required_field: 'A required field is missing. The message names it.',
  unknown_field: 'The interface does not have this field. Only configurations with `validation: documented` refuse such fields.',
  missing_required_header: 'A required header is missing, for example `anthropic-version`. The message names it.',
  invalid_media: 'An uploaded file has an unsupported format, or its content does not match its declared format.',
  range_not_satisfiable: 'The requested byte range is outside of the file. The `content-range` header has the length of the file.',
  request_timeout: 'The body arrived too slowly: less than 10 KiB in ten seconds, or not completely within five minutes.',
  request_too_large: 'The body is larger than `limits.requestBytesMax`.',
  unsupported_media_type: 'The route does not accept this content type. It accepts JSON, or a form if the request uploads a file.',
  unsupported_content_encoding:
    'The body is compressed with an unknown method. Send it without compression, or with a common method such as gzip.',
  invalid_url: 'The request target is not a path, for example because it is a complete URL.',
  invalid_host: 'The request has two Host headers, or a Host header that is not a valid host name.',
  route_not_found: 'This path does not exist. Check the base address that the client is configured with.',
  method_not_allowed: 'The path exists but does not support this method. The `allow` header lists the supported methods.',
  upgrade_required: 'The request asked for a WebSocket, which only `/v1/responses` supports. Use plain HTTP.',
} satisfies Partial<Record<ErrorCode, string>>;

const access = {
  missing_api_key: 'The request does not contain an API key.',
  invalid_api_key: 'The API key does not exist, or it was disabled or deleted.',
  expired_api_key: 'The API key, or the user that owns it, has expired.',
  conflicting_credentials: 'The request contains two different API keys.',
  address_not_allowed:
    'The key must not be used from this network address. Behind a reverse proxy, set `trustedProxies`, so that the gateway knows the address of the client.',
} satisfies Partial<Record<ErrorCode, string>>;

const models = {
  model_not_found: 'The gateway does not know this model. `GET /v1/models` lists the models.',
  model_not_priced: 'The model has no price, and the configuration refuses such calls (`prices.unlisted: refuse`).',
  no_suitable_target:
    'The model exists, but none of its targets accepts a call like this. The message names the conditions of each target (`when` in the configuration).',
  tool_unavailable:
    'The request needs a built-in tool that neither the upstream nor the gateway offers for this model, or that is switched off.',
  untranslatable_field:
    'The upstream of this model has another interface, which cannot express this field. The gateway does not omit it, because that would change the answer or because the request forbids losses.',
  thread_unsupported:
    'The request has a `thread`, and the upstream of this model does not store threads. SDKs continue without a thread by themselves.',
  context_length_exceeded:
    'The request is longer than the context window of the model. The message has the wording that clients of the interface recognise.',
} satisfies Partial<Record<ErrorCode, string>>;

const objects = {
  object_not_found: 'The response, conversation, file, vector store, video or callback does not exist, or belongs to another user.',
  reply_not_found: 'The response or thread that the request continues does not exist, or belongs to another user.',
  conversation_locked: 'Another response of the same conversation is still being generated. Send the request again when it has ended.',
  task_not_finished: 'The video is not finished, so it cannot be downloaded, changed or deleted yet. The message has its status.',
  result_unavailable: 'The file of a finished video cannot be read at the moment, or no longer exists.',
  idempotency_in_progress: 'A request with the same `Idempotency-Key` is still running. Send the request again when it has ended.',
  idempotency_conflict: 'The `Idempotency-Key` was already used for a different request. Use a new key.',
  idempotency_spent:
    'The request with this `Idempotency-Key` was already executed, and its answer cannot be repeated. The message has the id of its call.',
} satisfies Partial<Record<ErrorCode, string>>;

const limits = {
  rate_limited:
    'A limit of the key, of its user or of the model is reached. The message names the limit. Nothing was charged. `retry-after` says when to retry; it is absent if the call is larger than the limit.',
  spend_limit_reached: 'The call could exceed the spend limit of the key or of its user. Nothing was charged.',
  insufficient_credit: "The user's balance does not cover the highest possible cost of the call. Nothing was charged.",
  credits_unavailable:
    'The part of the balance that this process had reserved is used up, and it cannot reserve more: the database does not answer, or a process that has died still holds the rest. Nothing was charged. Retry later.',
  media_quota_exceeded: 'The stored files of the user or of the key have reached their limit. Delete files, or wait until some expire.',
} satisfies Partial<Record<ErrorCode, string>>;

const upstreams = {
  upstream_refused_request:
    'The gateway translated the request for an upstream with another interface, which refused it. The message is that of the upstream.',
  upstream_content_filtered:
    'The content filter of the upstream refused the request; the message is its own. `retries.contentFilter` lets others answer.',
  upstream_model_not_found:
    'The upstream does not have the model that the configuration names. The operator must correct the configuration.',
  upstream_permission_denied:
    "The upstream forbids this request, for example this model or this region. The message is that of the upstream. The operator's credential is valid.",
  upstream_credentials_rejected:
    "The upstream refused the operator's credential, which the operator must replace. The caller's API key is valid.",
  upstream_quota_exhausted: "The operator's account at the upstream has no credit left.",
  upstream_rate_limited: "The operator's account at the upstream has reached a rate limit. `retry-after` is that of the upstream.",
  targets_taken_out:
    'The operator has taken every target of the model out of use for some time. Nothing was charged. Retry later, or call another model.',
  upstream_overloaded: 'The upstream is overloaded. Nothing was charged. Retry later.',
  upstream_unreachable:
    'The gateway could not connect to the upstream: connection refused, unknown host, TLS failure or time-out. Nothing was charged.',
  upstream_timeout: 'The upstream sent nothing for longer than the configured time-out.',
  upstream_connection_error:
    'The connection to the upstream broke before or during the reply. Only the output that was delivered is charged.',
  upstream_error:
    'The upstream answered 200 with an error as the body, or with an error that clients cannot read. The status is that of the error, if it has one.',
  upstream_invalid_reply: 'The answer of the upstream is not a valid reply of its interface, for example an HTML page.',
  upstream_reply_too_large: 'The reply, or one event of a stream, is larger than the configured limit.',
} satisfies Partial<Record<ErrorCode, string>>;

const gateway = {
  overloaded:
    'The gateway has more calls than it can serve. It did not process the request, and nothing was charged. Retry after `retry-after`. Messages clients get status 529, as from their vendor.',
  shutting_down: 'The gateway is stopping. Send the request again: another process will serve it.',
  accounts_unavailable: 'The gateway does not have this API key in memory, and the database does not answer.',
  journal_unavailable:
    'The gateway cannot record calls, for example because its disk is full. It does not make calls that it cannot record.',
  responses_unavailable: 'Stored responses, conversations or files cannot be read or written at the moment. Nothing was charged.',
  receipts_unavailable: 'The ledger cannot be read at the moment. The call is still recorded, and its receipt will be available later.',
  tasks_unavailable: 'The gateway cannot record videos at the moment, so it does not start one.',
  idempotency_unavailable:
    'The gateway cannot check at the moment whether a request with this `Idempotency-Key` was executed before. It did not execute the request.',
  storage_unavailable: 'Data for the request cannot be read or written: the database is down or busy, or its disk is full.',
  internal_error: "A bug in the gateway. The operator's log has the details under the id of the call.",
} satisfies Partial<Record<ErrorCode, string>>;

/** What each error code means and what to do about it. A code without a line in a section does not compile. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  ...invalidRequests,
  ...access,
  ...models,
  ...objects,
  ...limits,
  ...upstreams,
  ...gateway,
};

const codesOf = (meanings: Partial<Record<ErrorCode, string>>): readonly ErrorCode[] => Object.keys(meanings) as ErrorCode[];

/** The sections of docs/reference/errors.md. */
export const errorSections: readonly ErrorSection[] = [
  {
    title: 'The request is invalid',
    introduction: 'The message says what is wrong. Most of these errors need a change of the request.',
    codes: codesOf(invalidRequests),
  },
  { title: 'The API key is refused', introduction: 'Weir accepts its own API keys, not those of a vendor.', codes: codesOf(access) },
  {
    title: 'The model cannot serve the request',
    introduction: 'Use another model or fewer features, or ask the operator to change the configuration.',
    codes: codesOf(models),
  },
  {
    title: 'An object is missing or in use',
    introduction: 'Responses, conversations, files and videos are stored per user, and idempotency keys per API key.',
    codes: codesOf(objects),
  },
  {
    title: 'A limit is reached',
    introduction: 'The operator sets limits and balances.',
    codes: codesOf(limits),
  },
  {
    title: 'The upstream failed',
    introduction: 'Before it reports such a failure, the gateway tries the other targets of the model if the failure permits that.',
    codes: codesOf(upstreams),
  },
  { title: 'The gateway failed', introduction: 'Retry later, or ask the operator.', codes: codesOf(gateway) },
];
