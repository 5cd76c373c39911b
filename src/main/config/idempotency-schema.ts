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
    totalBytesMax: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: defaultIdempotencySettings.totalBytesMax,
        description:
          'Bytes of answers that are kept at a time, about. An answer for which there is no room is not kept: its call is charged as always, and a repetition is refused with 409.',
      }),
    ),
    apiKeyBytesMax: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: defaultIdempotencySettings.apiKeyBytesMax,
        description: 'The same of one API key.',
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
