import type { ErrorCode } from '../src/inference/gateway-error.ts';

/** What each error code means and what to do about it, for docs/reference/errors.md. A code without a line here does not compile. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  invalid_json: 'The body is no valid JSON object (syntax, encoding, or compressed data that does not decompress).',
  invalid_value: 'A field has a value that the interface does not allow. The message names the field and what is right.',
  missing_required_field: 'A required field is absent.',
  unknown_field: 'A field that the interface does not have (only with `validation: documented`).',
  missing_required_header: 'A header that the interface demands is absent, such as `anthropic-version`.',
  model_not_priced: 'The model has no price, and the configuration has such calls refused (`prices.unlisted: refuse`).',
  body_too_deep:
    'The body is nested deeper than 64 levels or has more than 250,000 values, or has a key or number of more than 64 KiB, or 1 MiB of white space in one place.',
  duplicate_key: 'An object has the same key twice; which of the two counts would be a guess.',
  body_incomplete: 'The connection ended before the whole body had come.',
  thread_unsupported:
    'The stateful `thread` field was sent for a model whose upstream keeps no threads. SDKs go on without threads by themselves.',
  reply_not_found: 'The reply or thread to continue does not exist, or is not of this user: the two are answered alike.',
  untranslatable_field:
    'The field cannot be said to the upstream of this model, which speaks another interface, and leaving it out would not do or was forbidden.',
  task_not_finished: 'The video is not finished yet, so that it cannot be downloaded, changed or deleted. The message tells its status.',
  invalid_media: 'A file is none of the formats that are taken, or cannot be read as what it says it is.',
  media_quota_exceeded: 'The files that are kept for the user or key have reached their limit; delete some, or wait until they expire.',
  result_unavailable: 'The file of a finished video cannot be had at the moment, or not any more.',
  range_not_satisfiable: 'The part of the file that was asked for does not exist; `content-range` tells its length.',
  idempotency_conflict: 'The `Idempotency-Key` was used before, with another request.',
  idempotency_spent: 'The request with this `Idempotency-Key` was made, and its answer cannot be given again. The message names its call.',
  idempotency_unavailable:
    'Whether a request with this `Idempotency-Key` was made before cannot be looked up at the moment. It was not made.',
  tasks_unavailable: 'Videos cannot be recorded at the moment, so that none is begun.',
  no_suitable_target:
    'The model is served, but none of its targets takes such a call: the message names what each of them takes (`when` in the configuration).',
  context_length_exceeded:
    'The upstream says that the request is longer than what the model can read. Worded as clients of each interface recognise it.',
  upstream_refused_request: 'An upstream of another interface refused the translated request; its message is passed on.',
  upstream_model_not_found: 'The upstream does not know the model that the configuration names there.',
  rate_limited:
    'A limit of the key, its owner or the model is used up; the message says which. Nothing was spent. `retry-after` says when the call would be admitted; it is absent where the call is larger than the limit.',
  upstream_rate_limited: 'The upstream limits the rate of calls. `retry-after` is passed on.',
  insufficient_credit: 'The balance of this user does not cover what the call may cost at most; nothing was charged.',
  spend_limit_reached: 'With this call the key or its user would spend more than its limit allows; nothing was charged.',
  credits_unavailable:
    'What was set aside for this user is used up, and the database does not answer or a gateway process that has died keeps the rest; nothing was charged.',
  idempotency_in_progress: 'A request with the same Idempotency-Key is under way; ask again when it has ended.',
  upstream_overloaded: 'The upstream is overloaded; nothing was charged.',
  upstream_quota_exhausted: "The operator's account at the upstream has no credit left.",
  invalid_url: 'The request target is no path.',
  invalid_host: 'The request has two Host headers, or one that is no host name.',
  expired_api_key: 'The key, or its owner, had a date of expiry and it has passed.',
  missing_api_key: 'The request carries no API key.',
  invalid_api_key: 'The API key is unknown, disabled or deleted.',
  conflicting_credentials: 'The request carries two different API keys.',
  address_not_allowed:
    'The key may not be used from this address. Behind a reverse proxy, `trustedProxies` of the configuration says whose word to take.',
  upstream_permission_denied:
    'The vendor does not permit what was asked for: this model, this region, or something that it keeps. The message is its own. The credential is not to blame.',
  model_not_found: 'No upstream serves this model. `GET /v1/models` lists what is served.',
  route_not_found: 'There is nothing at this path.',
  method_not_allowed: 'The path takes other methods; the `allow` header names them.',
  request_timeout: 'The body came too slowly: less than 10 KiB in ten seconds, or not whole after five minutes.',
  request_too_large: 'The body is larger than `limits.requestBytesMax`.',
  unsupported_media_type: 'The content type is none that the route takes: JSON, or a form where files are sent.',
  unsupported_content_encoding: 'The body is compressed in a way that is not known here.',
  upgrade_required: 'A WebSocket was asked for where there is none, which is everywhere but at `/v1/responses`; use plain HTTP.',
  internal_error: 'A defect in the gateway. The log has it under the call id.',
  upstream_invalid_reply: 'The upstream answered with something that is no reply of its interface, such as HTML.',
  upstream_reply_too_large: 'A reply or one event of a stream is larger than the configured limit.',
  upstream_error: 'The upstream put an error into a 200, or an error body that no client could read. A status that it names is kept.',
  upstream_unreachable: 'No connection to the upstream: refused, unknown host, TLS failure or connect time-out. Nothing was charged.',
  upstream_connection_error: 'The connection to the upstream broke, before or during the reply. Delivered output is charged, nothing else.',
  upstream_credentials_rejected: "The upstream refuses the operator's credential. The operator has to renew it; the caller's key is fine.",
  journal_unavailable: 'The journal cannot be written, for example because the disk is full. No call is made that could not be booked.',
  accounts_unavailable: 'The key is not known in memory and the database cannot be asked at the moment.',
  receipts_unavailable:
    'The ledger cannot be read at the moment. The call is booked all the same, and its receipt is there as soon as the ledger is.',
  responses_unavailable: 'Stored responses, conversations or files cannot be read or written at the moment. Nothing was charged.',
  conversation_locked: 'Another response is being generated from the same conversation. Send the request again when it has ended.',
  tool_unavailable:
    'A built-in tool was asked for that neither the upstream nor the gateway offers for this model, or that is switched off.',
  object_not_found: 'There is no such response, conversation, file, vector store, video or callback, or it belongs to somebody else.',
  storage_unavailable:
    'What the request needs to read or write cannot be at the moment: the database is away or busy, or its disk is full.',
  overloaded:
    'The gateway has more calls than it can serve. Nothing was read or charged. Send the request again after `retry-after`. Messages clients get their vendor’s 529.',
  shutting_down: 'The gateway is ending. Send the request again; another process or the next start takes it.',
  upstream_timeout: 'The upstream was silent for longer than the configured time.',
};
