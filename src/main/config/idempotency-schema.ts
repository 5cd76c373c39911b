import Type from 'typebox';

import { defaultIdempotencySettings } from '../../billing/idempotency/idempotency-settings.ts';

/** `idempotency` of weir.yaml. */
export const idempotencySchema = Type.Object(
  {
    retentionHours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 720,
        default: defaultIdempotencySettings.retentionHours,
        description: 'For how many hours the answer to a request with an Idempotency-Key is given again.',
      }),
    ),
    replyBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 1_073_741_824,
        default: defaultIdempotencySettings.replyBytesMax,
        description: 'Largest answer that is kept, in bytes. A repetition of a request whose answer was longer is refused with 409.',
      }),
    ),
    waitMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 600_000,
        default: defaultIdempotencySettings.waitMs,
        description:
          'How long a repetition waits for the request that is under way, in milliseconds; then it is refused with 409. 0: at once.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Requests that are safe to repeat, because they carry an Idempotency-Key.' },
);
