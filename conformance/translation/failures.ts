import type { DialectId } from '../../src/dialects/dialect-id.ts';

/** An answer of an upstream that is not a reply, and the error that a client of each interface gets. */
export type Failure = {
  readonly name: string;
  /** The fault of the simulated vendor. */
  readonly fault: string;
  readonly told: Readonly<Record<DialectId, Told>>;
  readonly message?: Partial<Record<DialectId, RegExp>>;
  readonly retryAfter?: string;
};

/** The status, and the value by which programs distinguish errors. */
type Told = readonly [status: number | 'some failure', type: RegExp];

const everyone = (status: Told[0], messages: RegExp, openai: RegExp, gemini: RegExp): Failure['told'] => ({
  'anthropic-messages': [status, messages],
  'openai-responses': [status, openai],
  'openai-chat': [status, openai],
  'gemini-generate-content': [status, gemini],
});

const invalid = /^invalid_request_error$/;
const unavailable = everyone(503, /^(?:api|overloaded|server)_error$/, /^\w+$/, /^UNAVAILABLE$/);

/**
 * Upstream errors by class. Messages clients know 529 for an overloaded service; a client's own key is never blamed for
 * the upstream's.
 */
export const failures: readonly Failure[] = [
  {
    name: 'a request that the upstream finds invalid (400)',
    fault: 'status;status=400;message=tools.0: no such thing',
    told: everyone(400, invalid, /^\w+$/, /^INVALID_ARGUMENT$/),
    message: { 'openai-chat': /no such thing/, 'anthropic-messages': /no such thing/ },
  },
  {
    name: 'a prompt that is too long for the model',
    fault: 'context-overflow',
    told: everyone(400, invalid, /^context_length_exceeded$/, /^INVALID_ARGUMENT$/),
    message: {
      'anthropic-messages': /^prompt is too long/,
      'gemini-generate-content': /input token count .*exceeds the maximum number of tokens/,
    },
  },
  { name: "the upstream's key is wrong (401)", fault: 'status;status=401', told: unavailable },
  {
    name: 'access is forbidden at the upstream (403)',
    fault: 'status;status=403',
    told: everyone(403, /^(?:permission_error|permission_denied|invalid_request_error)$/, /^\w+$/, /^PERMISSION_DENIED$/),
  },
  {
    name: 'the model does not exist at the upstream (404)',
    fault: 'status;status=404',
    // An unknown model is a 400 in Responses, as at the vendor.
    told: { ...everyone(404, /^not_found_error$/, /^model_not_found$/, /^NOT_FOUND$/), 'openai-responses': [400, /^model_not_found$/] },
  },
  { name: 'a request that is too large (413)', fault: 'status;status=413', told: everyone(413, /^request_too_large$/, /^\w+$/, /^\w+$/) },
  {
    name: 'a rate limit (429)',
    fault: 'status;status=429;retry-after=7',
    told: everyone(429, /^rate_limit_error$/, /^rate_limit/, /^RESOURCE_EXHAUSTED$/),
    retryAfter: '7',
  },
  {
    name: 'a failure of the upstream (500)',
    fault: 'status;status=500',
    told: everyone(500, /^(?:api|server)_error$/, /^\w+$/, /^INTERNAL$/),
  },
  {
    name: 'an overloaded upstream (503)',
    fault: 'status;status=503',
    told: { ...unavailable, 'anthropic-messages': [529, /^overloaded_error$/] },
  },
  {
    name: 'an overloaded upstream (529)',
    fault: 'status;status=529',
    told: { ...unavailable, 'anthropic-messages': [529, /^overloaded_error$/] },
  },
  {
    name: 'an upstream that takes too long (504)',
    fault: 'status;status=504',
    told: everyone(504, /^\w+$/, /^\w+$/, /^DEADLINE_EXCEEDED$/),
  },
  {
    name: 'an error instead of a reply (200)',
    fault: 'error-in-200',
    told: everyone('some failure', /^(?:api|overloaded|server)_error$/, /^\w+$/, /^\w+$/),
  },
  { name: 'a page of HTML instead of a reply (200)', fault: 'html', told: everyone(502, /^(?:api|server)_error$/, /^\w+$/, /^\w+$/) },
];

/** Ways in which a stream breaks after its first text. */
export const breaks: readonly { readonly name: string; readonly fault: string; readonly not?: DialectId }[] = [
  { name: 'an error event in mid-stream', fault: 'error-event;after=2' },
  { name: 'a stream that just ends', fault: 'truncate;after=2;how=end' },
  { name: 'a connection that is reset in mid-stream', fault: 'reset-mid-stream;after=2' },
  { name: 'a connection that is reset within an event', fault: 'reset-mid-stream;after=2;cut=inside' },
  // Chat completions are complete before [DONE], which some servers omit.
  { name: 'a stream without its end mark', fault: 'missing-sentinel', not: 'openai-chat' },
];
