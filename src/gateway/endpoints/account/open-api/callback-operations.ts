import type { CallbackAction } from '../serve-callbacks.ts';
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
      subject: text('The id of the response or video that it is about.'),
      status: { type: 'string', enum: ['waiting', 'delivered', 'given_up'] },
      attempts: count('How often it was sent.'),
      created_at: orNull(unixSeconds('When there was something to tell.')),
      next_attempt_at: orNull(unixSeconds('When it is sent next; null where it is not.')),
      delivered_at: orNull(unixSeconds('When the receiver took it.')),
      last_status: orNull(count('Status of the last answer.', { maximum: 599 })),
      last_problem: orNull(text('Why the last attempt failed, where nothing was answered.')),
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
    { object: { const: 'callback.secret' }, secret: text('Told this once.', { pattern: '^whsec_[A-Za-z0-9+/]+=*$' }) },
    ['object', 'secret'],
  ),
  CallbackEvent: object(
    {
      id: { type: 'string' },
      object: { const: 'event' },
      created_at: unixSeconds('When it was over.'),
      type: eventType,
      data: object({ id: text('Of the response or video.') }, ['id']),
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
  { name: 'subject', in: 'query', description: 'Only those about this response or video.', schema: { type: 'string' } },
];

type Described = {
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly schema: string;
  readonly errors: readonly number[];
};

const operations: Readonly<Record<CallbackAction, Described>> = {
  list: {
    summary: 'The events of the caller that were sent or wait to be, newest first',
    parameters: listParameters,
    schema: 'CallbackList',
    errors: [400, 401, 403, 500, 503],
  },
  'send-again': {
    summary: 'Has an event sent again, from the first attempt on',
    schema: 'CallbackQueued',
    errors: [401, 403, 404, 500, 503],
  },
  'rotate-secret': {
    summary: 'Makes a new secret for the events of the caller, and tells it this once; the one before signs beside it for 24 hours',
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

/** What the gateway itself posts to the `callback_url` of a request: Standard Webhooks 1.0.0. */
export const webhooks = {
  'callback-event': {
    post: {
      summary: 'A video, or a response that was generated in the background, is over',
      parameters: [
        signed('webhook-id', 'The same at each attempt: events may come twice.'),
        signed('webhook-timestamp', 'When this attempt was made, in Unix seconds.'),
        signed(
          'webhook-signature',
          'v1 and a base64 HMAC-SHA256 of id, timestamp and body; two of them for a day after the secret was rotated.',
        ),
      ],
      requestBody: { required: true, content: content('application/json', ref('CallbackEvent')) },
      responses: {
        '2XX': { description: 'Taken, if it comes within 15 seconds.' },
        410: { description: 'Given up at once.' },
        default: { description: 'Tried again, nine times within three days or a little more.' },
      },
    },
  },
};
