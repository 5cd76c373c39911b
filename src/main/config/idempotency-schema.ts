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
        description: 'Hours for which a repeated request with the same Idempotency-Key receives the recorded answer.',
      }),
    ),
    replyBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 1_073_741_824,
        default: defaultIdempotencySettings.replyBytesMax,
        description: 'Largest answer that is recorded, in bytes. If the answer was longer, a repeated request is refused with 409.',
      }),
    ),
    totalBytesMax: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: defaultIdempotencySettings.totalBytesMax,
        description:
          'Approximate number of bytes of all recorded answers. An answer beyond it is not recorded: its call is charged, and a repeated request is refused with 409.',
      }),
    ),
    apiKeyBytesMax: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: defaultIdempotencySettings.apiKeyBytesMax,
        description: 'Approximate number of bytes of the recorded answers of one API key.',
      }),
    ),
    waitMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 600_000,
        default: defaultIdempotencySettings.waitMs,
        description:
          'Longest time that a repeated request waits for the first one to end, in milliseconds. Then it is refused with 409. 0: it does not wait.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Requests with an Idempotency-Key, which are safe to repeat.' },
);
