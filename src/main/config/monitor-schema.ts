import Type from 'typebox';

import { billingTokenGateLimitsDefault } from '../../accounts/billing-token-gate.ts';

const { requestsPerMinute, wrongTokensPerMinute } = billingTokenGateLimitsDefault;
const requestsMax = 1_000_000;

/** The `monitor` section: the service that answers what was used. */
export const monitorSchema = Type.Object(
  {
    requestsPerMinute: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: requestsMax,
        default: requestsPerMinute,
        description: 'Requests that each billing token may make.',
      }),
    ),
    wrongTokensPerMinute: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: requestsMax,
        default: wrongTokensPerMinute,
        description: 'Requests with invalid tokens that one address may make before it is refused for a while.',
      }),
    ),
    totalsRow: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether workbooks end with a row of sums where the request does not say. Pivot tables would count it as one more record.',
      }),
    ),
  },
  { additionalProperties: false, description: 'The service that answers what was used and what it cost. Read when it starts.' },
);
