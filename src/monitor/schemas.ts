import { type TSchema, Type } from 'typebox';
import { granularityNames } from '../billing/statistics/granularity.ts';
import { UNIX_SECONDS_MAX } from './read-billing-request.ts';

const types = Object.keys(granularityNames);

const unixSeconds = (description: string): TSchema =>
  Type.Integer({ minimum: 0, maximum: UNIX_SECONDS_MAX, description, examples: [1_769_443_200] });

const nameFilter = (description: string): TSchema => Type.Union([Type.String({ pattern: '^[^\\u0000]*$' }), Type.Null()], { description });

/** Body of /bill/stats and /bill/excel. startTime must also be before endTime, which a schema cannot say. */
export const billingRequestSchema = Type.Object(
  {
    type: Type.Union([Type.Integer({ enum: types.map(Number) }), Type.String({ enum: types })], {
      description: `Size of the buckets: ${Object.entries(granularityNames)
        .map(([type, name]) => `${type} ${name}`)
        .join(', ')}. A digit as text is accepted too.`,
      examples: [3],
    }),
    startTime: unixSeconds('Start of the interval in Unix seconds. Calls accepted at this second count.'),
    endTime: unixSeconds('End of the interval in Unix seconds. Calls accepted at this second do not count.'),
    tokenName: Type.Optional(nameFilter('Only calls made with keys of exactly this name. Empty or null: all.')),
    modelName: Type.Optional(nameFilter('Only calls that asked for exactly this model. Empty or null: all.')),
  },
  { description: 'What to add up. Unknown fields are ignored.' },
);

const count = (description: string): TSchema => Type.Integer({ minimum: 0, description });

/** One record of the answer (contract A 2.3). */
export const billingRecordSchema = Type.Object(
  {
    time: Type.String({
      pattern: '^\\d{4,}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
      description: 'Bucket start by the clock of the configured time zone. It may lie before startTime.',
    }),
    timeGroup: Type.Integer({ description: 'Bucket start as Unix seconds.' }),
    userName: Type.String({ description: 'Login name of the user.' }),
    tokenName: Type.String({ description: 'Name of the API key.' }),
    modelName: Type.String({ description: 'Model as the caller named it.' }),
    totalPromptTokens: count('All input tokens. Cache reads and cache writes are parts of it.'),
    totalCompletionTokens: count('All output tokens, reasoning included.'),
    totalCacheTokens: count('Input tokens read from a cache.'),
    totalCacheCreationTokens: count('Input tokens written to a cache.'),
    totalUseTime: count('Whole seconds that the calls took together; milliseconds are added first and the sum is rounded down.'),
    callCount: Type.Integer({ minimum: 1, description: 'Answered calls. A call counts once, however many attempts it took.' }),
    totalAmount: Type.Number({ description: 'Cost in USD: a decimal number with at most nine decimals, never in exponent form.' }),
  },
  { description: 'The sums of one bucket, user, API key and model.' },
);

export const statsReplySchema = Type.Object({
  code: Type.Integer({ const: 200 }),
  message: Type.String({ const: 'success' }),
  data: Type.Array(Type.Ref('#/components/schemas/BillingRecord'), {
    description: 'Ascending by timeGroup, userName, tokenName and modelName; groups without calls are absent.',
  }),
});

export const refusalSchema = Type.Object(
  {
    code: Type.Integer({ description: 'The HTTP status again.' }),
    message: Type.String({ description: 'Every problem of the request, separated by semicolons.' }),
    data: Type.Null(),
  },
  { description: 'Every error has this body, those of /bill/excel too.' },
);

export const healthSchema = Type.Object({
  live: Type.Boolean({ const: true, description: 'The process runs.' }),
  ready: Type.Boolean({ description: 'It can answer.' }),
  reasons: Type.Optional(Type.Array(Type.String(), { minItems: 1, description: 'Why it cannot answer; present only then.' })),
});

export const livenessSchema = Type.Object({ live: Type.Boolean({ const: true, description: 'The process runs.' }) });
