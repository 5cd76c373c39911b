import {
  carriers,
  content,
  count,
  object,
  orNull,
  ref,
  refusals,
  type Schema,
  type Schemas,
  text,
  unixSeconds,
} from '../../shared/open-api-parts.ts';

/** The operations on callbacks over HTTP. */
export type CallbackAction = 'list' | 'send-again' | 'rotate-secret';

const eventType: Schema = {
  type: 'string',
  enum: ['response.completed', 'response.failed', 'response.cancelled', 'response.incomplete', 'video.completed', 'video.failed'],
};

export const callbackSchemas: Schemas = {
  Callback: object(
    {
      id: text('The `webhook-id` of every attempt.'),
      object: { const: 'callback' },
      type: eventType,
      subject: text('The id of the response or video.'),
      status: { type: 'string', enum: ['waiting', 'delivered', 'given_up'] },
      attempts: count('The number of attempts.'),
      created_at: orNull(unixSeconds('The time of the event.')),
      next_attempt_at: orNull(unixSeconds('The time of the next attempt; null if there is none.')),
      delivered_at: orNull(unixSeconds('The time of the delivery.')),
      last_status: orNull(count('The status of the last answer.', { maximum: 599 })),
      last_problem: orNull(text('Why the last attempt failed, if it had no answer.')),
    },
    [
      'id',
      'object',
      'type',
      'subject',
      'status',
      'attempts',
      'created_at',
      'next_attempt_at',
      'delivered_at',
      'last_status',
      'last_problem',
    ],
  ),
  CallbackList: object({ object: { const: 'list' }, data: { type: 'array', items: ref('Callback') }, has_more: { type: 'boolean' } }, [
    'object',
    'data',
    'has_more',
  ]),
  CallbackQueued: object({ id: { type: 'string' }, object: { const: 'callback' }, status: { const: 'waiting' } }, [
    'id',
    'object',
    'status',
  ]),
  CallbackSecret: object(
    { object: { const: 'callback.secret' }, secret: text('Shown only once.', { pattern: '^whsec_[A-Za-z0-9+/]+=*$' }) },
    ['object', 'secret'],
  ),
  CallbackEvent: object(
    {
      id: { type: 'string' },
      object: { const: 'event' },
      created_at: unixSeconds('The time of the event.'),
      type: eventType,
      data: object({ id: text('The id of the response or video.') }, ['id']),
    },
    ['id', 'object', 'created_at', 'type', 'data'],
  ),
  Problem: object(
    {
      error: object(
        { message: { type: 'string' }, type: { type: 'string' }, param: orNull({ type: 'string' }), code: orNull({ type: 'string' }) },
        ['message', 'type', 'param', 'code'],
      ),
    },
    ['error'],
  ),
};

const listParameters = [
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
  { name: 'subject', in: 'query', description: 'Only events of this response or video.', schema: { type: 'string' } },
];

type Described = {
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly schema: string;
  readonly errors: readonly number[];
};

const operations: Readonly<Record<CallbackAction, Described>> = {
  list: {
    summary: 'The events of the caller, sent and waiting, newest first',
    parameters: listParameters,
    schema: 'CallbackList',
    errors: [400, 401, 403, 500, 503],
  },
  'send-again': {
    summary: 'Sends an event again, starting with a first attempt',
    schema: 'CallbackQueued',
    errors: [401, 403, 404, 500, 503],
  },
  'rotate-secret': {
    summary: 'Creates a new secret for the events of the caller and shows it once; the previous one also signs for 24 hours',
    schema: 'CallbackSecret',
    errors: [401, 403, 500, 503],
  },
};

/** Describes a route of callbacks for OpenAPI. */
export function callbackOperation(action: CallbackAction): object {
  const { summary, parameters, schema, errors } = operations[action];
  return {
    summary,
    security: carriers,
    ...(parameters === undefined ? {} : { parameters }),
    responses: { 200: { description: 'Done.', content: content('application/json', ref(schema)) }, ...refusals(errors, 'Problem') },
  };
}

const signed = (name: string, description: string): object => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

/** The request that the gateway sends to the `callback_url` of a request: Standard Webhooks 1.0.0. */
export const webhooks = {
  'callback-event': {
    post: {
      summary: 'A video or a background response has ended',
      parameters: [
        signed('webhook-id', 'The same at each attempt: events may arrive twice.'),
        signed('webhook-timestamp', 'The time of this attempt, in Unix seconds.'),
        signed(
          'webhook-signature',
          'v1 and a base64 HMAC-SHA256 of id, timestamp and body; two signatures for a day after the secret was rotated.',
        ),
      ],
      requestBody: { required: true, content: content('application/json', ref('CallbackEvent')) },
      responses: {
        '2XX': { description: 'The event is delivered if this comes within 15 seconds.' },
        410: { description: 'No further attempt is made.' },
        default: { description: 'The attempt is repeated, nine times within about three days.' },
      },
    },
  },
};
