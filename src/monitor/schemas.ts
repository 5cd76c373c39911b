import { type TSchema, Type } from 'typebox';
import { granularityNames } from '../billing/statistics/granularity.ts';
import { UNIX_SECONDS_MAX } from './read-billing-request.ts';
import { billMeaning, callMeaning } from './tables/table.ts';

const types = Object.keys(granularityNames);

const unixSeconds = (description: string): TSchema =>
  Type.Integer({ minimum: 0, maximum: UNIX_SECONDS_MAX, description, examples: [1_769_443_200] });

const nameFilter = (description: string): TSchema => Type.Union([Type.String({ pattern: '^[^\\u0000]*$' }), Type.Null()], { description });

const queryProperties = {
  type: Type.Union([Type.Integer({ enum: types.map(Number) }), Type.String({ enum: types })], {
    description: `Size of the buckets: ${Object.entries(granularityNames)
      .map(([type, name]) => `${type} ${name}`)
      .join(', ')}. A digit in a string is accepted too.`,
    examples: [3],
  }),
  startTime: unixSeconds('Start of the interval in Unix seconds. Calls accepted in this second are included.'),
  endTime: unixSeconds('End of the interval in Unix seconds. Calls accepted in this second are not included.'),
  tokenName: Type.Optional(nameFilter('Only calls made with keys of exactly this name. Empty or null: all.')),
  modelName: Type.Optional(nameFilter('Only calls that requested exactly this model. Empty or null: all.')),
};

/** Body of /bill/stats. startTime must also be before endTime, which a schema cannot express. */
export const billingRequestSchema = Type.Object(queryProperties, {
  additionalProperties: false,
  description: 'The calls to add up. Unknown fields are refused.',
});

const flag = (description: string): TSchema => Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { description }));

/** Body of /bill/csv and /bill/jsonl. */
export const textRequestSchema = Type.Object(
  { ...queryProperties, detail: flag('Lists the calls instead of the sums.') },
  { additionalProperties: false, description: 'The calls to add up or to list. Unknown fields are refused.' },
);

/** Body of /bill/excel. */
export const workbookRequestSchema = Type.Object(
  {
    ...queryProperties,
    detail: flag('Lists the calls on sheets of their own, after the sums.'),
    totals: flag('Adds a last line with the totals. Null or absent: as configured.'),
  },
  { additionalProperties: false, description: 'The calls to add up. Unknown fields are refused.' },
);

const count = (description: string): TSchema => Type.Integer({ minimum: 0, description });

/** One record of the answer (contract A 2.3). */
export const billingRecordSchema = Type.Object(
  {
    time: Type.String({ pattern: '^\\d{4,}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$', description: billMeaning('time') }),
    timeGroup: Type.Integer({ description: billMeaning('timeGroup') }),
    userName: Type.String({ description: billMeaning('userName') }),
    tokenName: Type.String({ description: billMeaning('tokenName') }),
    modelName: Type.String({ description: billMeaning('modelName') }),
    totalPromptTokens: count(billMeaning('totalPromptTokens')),
    totalCompletionTokens: count(billMeaning('totalCompletionTokens')),
    totalCacheTokens: count(billMeaning('totalCacheTokens')),
    totalCacheCreationTokens: count(billMeaning('totalCacheCreationTokens')),
    totalUseTime: count(billMeaning('totalUseTime')),
    callCount: Type.Integer({ minimum: 0, description: billMeaning('callCount') }),
    totalAmount: Type.Number({ description: billMeaning('totalAmount') }),
  },
  { description: 'The sums of one bucket, user, API key and model.' },
);

/** One call of the detail, as /bill/jsonl writes it. */
export const callRecordSchema = Type.Object(
  {
    requestId: Type.String({ description: callMeaning('requestId') }),
    time: Type.String({ description: callMeaning('time') }),
    timeMs: Type.Integer({ description: callMeaning('timeMs') }),
    userName: Type.String({ description: callMeaning('userName') }),
    tokenName: Type.String({ description: callMeaning('tokenName') }),
    modelName: Type.String({ description: callMeaning('modelName') }),
    promptTokens: count(callMeaning('promptTokens')),
    completionTokens: count(callMeaning('completionTokens')),
    cacheTokens: count(callMeaning('cacheTokens')),
    cacheCreationTokens: count(callMeaning('cacheCreationTokens')),
    useTimeMs: count(callMeaning('useTimeMs')),
    callCount: Type.Integer({ enum: [0, 1], description: callMeaning('callCount') }),
    amount: Type.Number({ description: callMeaning('amount') }),
    estimated: Type.Boolean({ description: callMeaning('estimated') }),
    end: Type.String({ description: callMeaning('end') }),
    priceVersion: Type.String({ description: callMeaning('priceVersion') }),
  },
  { description: 'One call, or a part of one.' },
);

export const statsReplySchema = Type.Object({
  code: Type.Integer({ const: 200 }),
  message: Type.String({ const: 'success' }),
  data: Type.Array(Type.Ref('#/components/schemas/BillingRecord'), {
    description: 'Ascending by timeGroup, userName, tokenName and modelName; groups without calls are omitted.',
  }),
});

export const refusalSchema = Type.Object(
  {
    code: Type.Integer({ description: 'The HTTP status again.' }),
    message: Type.String({ description: 'Every problem of the request, separated by semicolons.' }),
    data: Type.Null(),
  },
  { description: 'The body of every error, also of /bill/excel.' },
);

export const healthSchema = Type.Object({
  live: Type.Boolean({ const: true, description: 'The process runs.' }),
  ready: Type.Boolean({ description: 'The monitor can answer.' }),
  reasons: Type.Optional(
    Type.Array(Type.String(), { minItems: 1, description: 'Why the monitor cannot answer. Present only if it cannot.' }),
  ),
  version: Type.Optional(Type.String({ description: 'The version that runs. Only in /health.' })),
  commit: Type.Optional(Type.String({ description: 'The commit that a released package was made of. Only in /health.' })),
});

export const livenessSchema = Type.Object({ live: Type.Boolean({ const: true, description: 'The process runs.' }) });
