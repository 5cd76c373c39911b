import Type from 'typebox';

import { rateLimitsMax } from '../../accounts/access-limits.ts';

/** The three amounts, as weir.yaml holds them. */
export const rateLimitFields = {
  requestsPerMinute: Type.Optional(
    Type.Integer({ minimum: 1, maximum: rateLimitsMax.requestsPerMinute, description: 'Calls in any 60 seconds.' }),
  ),
  tokensPerMinute: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: rateLimitsMax.tokensPerMinute,
      description: 'Input and output tokens, cached ones included, in any 60 seconds.',
    }),
  ),
  concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: rateLimitsMax.concurrency, description: 'Concurrent calls.' })),
};
