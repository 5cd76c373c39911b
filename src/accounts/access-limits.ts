import Type from 'typebox';

import { parseNetwork } from '../platform/http/address-list.ts';
import { compileCheck } from '../platform/schema/compile-check.ts';

/** How much may be used. A limit that is absent is none. */
export type RateLimits = {
  /** Calls in any 60 seconds. */
  readonly requestsPerMinute?: number;
  /** Input and output tokens, cached ones included, in any 60 seconds. */
  readonly tokensPerMinute?: number;
  /** Calls under way at a time. */
  readonly concurrency?: number;
};

/** What a key or a user may use, from where and until when. A limit that is absent is none. */
export type AccessLimits = RateLimits & {
  /** Names that may be called; one that ends in `*` stands for all that begin so. */
  readonly models?: readonly string[];
  /** Networks in CIDR notation, or single addresses, from which calls may come. */
  readonly addresses?: readonly string[];
  /** What may be spent in a day and in a month of the calendar (UTC), and altogether: USD as decimal strings with at most nine places. */
  readonly spendPerDay?: string;
  readonly spendPerMonth?: string;
  readonly spendTotal?: string;
  /** Of a user only: calls are paid from its balance, and none is made that the balance does not cover. */
  readonly prepaid?: true;
  /** Days for which files of finished videos are kept. */
  readonly mediaRetentionDays?: number;
  /** Bytes that files of videos may have together; 0: none are made. */
  readonly mediaBytesMax?: number;
  /** Unix milliseconds from which on nothing opens any more. */
  readonly expiresAtMs?: number;
};

/** New values of some limits. `null` takes one away; what is absent stays as it is. */
export type AccessLimitsChange = { readonly [Name in keyof AccessLimits]?: Exclude<AccessLimits[Name], undefined> | null };

/** How many entries a list may have, and how long a name may be. */
export const listEntriesMax = 100;
export const modelCharactersMax = 256;

/** The most that each amount may be. */
export const rateLimitsMax: Required<RateLimits> = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 100_000 };

/** The most that the limits of kept files may be. */
export const mediaLimitsMax = { retentionDays: 36_500, bytes: 1024 ** 5 };

/** The three amounts, as weir.yaml and the store hold them. */
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
  concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: rateLimitsMax.concurrency, description: 'Calls under way at a time.' })),
};

/** At most a billion USD, to the nano-USD. */
const usdAmount = Type.String({ pattern: '^(?:0|[1-9][0-9]{0,8})(?:\\.[0-9]{1,9})?$' });

const isShaped = compileCheck(
  Type.Object(
    {
      ...rateLimitFields,
      models: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: modelCharactersMax }), { minItems: 1, maxItems: listEntriesMax }),
      ),
      addresses: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: listEntriesMax })),
      spendPerDay: Type.Optional(usdAmount),
      spendPerMonth: Type.Optional(usdAmount),
      spendTotal: Type.Optional(usdAmount),
      prepaid: Type.Optional(Type.Literal(true)),
      mediaRetentionDays: Type.Optional(Type.Integer({ minimum: 1, maximum: mediaLimitsMax.retentionDays })),
      mediaBytesMax: Type.Optional(Type.Integer({ minimum: 0, maximum: mediaLimitsMax.bytes })),
      expiresAtMs: Type.Optional(Type.Integer({ minimum: 0 })),
    },
    { additionalProperties: false },
  ),
);

/** Whether a value, as read from a store, is a set of limits that can be enforced. */
export function isAccessLimits(value: unknown): value is AccessLimits {
  return isShaped(value) && (value.addresses ?? []).every((address) => parseNetwork(address) !== undefined);
}

/** Limits after a change; undefined when none is left. @throws Error when the change holds a value that no limit can have */
export function changeLimits(limits: AccessLimits | undefined, change: AccessLimitsChange): AccessLimits | undefined {
  const merged: unknown = Object.fromEntries(Object.entries({ ...limits, ...change }).filter(([, value]) => value !== null));
  if (!isAccessLimits(merged)) throw new Error('the change of limits holds a value that no limit can have');
  return Object.keys(merged).length === 0 ? undefined : merged;
}
