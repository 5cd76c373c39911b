import { type Static, Type } from 'typebox';

import {
  type AccessLimits,
  type AccessLimitsChange,
  isLimitsChange,
  listEntriesMax,
  mediaLimitsMax,
  modelCharactersMax,
  rateLimitsMax,
  upstreamCharactersMax,
} from '../../accounts/access-limits.ts';
import { invalidField } from '../problem.ts';
import { instant, instantQuery, nullable, optionalInstant, record, request, usdPattern } from './values.ts';

const whole = (most: number, description: string, least = 1) => Type.Integer({ minimum: least, maximum: most, description });
const usd = (description: string) => Type.String({ pattern: usdPattern, description, examples: ['25', '0.5'] });
const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: modelCharactersMax }), { minItems: 1, maxItems: listEntriesMax, description });

/** Each limit: its name in the API, its name in the accounts, and its schema. */
const members = {
  requests_per_minute: whole(rateLimitsMax.requestsPerMinute, 'Calls in any 60 seconds.'),
  tokens_per_minute: whole(rateLimitsMax.tokensPerMinute, 'Input and output tokens in any 60 seconds.'),
  concurrency: whole(rateLimitsMax.concurrency, 'Calls under way at a time.'),
  models: names('Models that may be called; a name that ends in * allows all names that begin so.'),
  upstreams: Type.Array(Type.String({ minLength: 1, maxLength: upstreamCharactersMax }), {
    minItems: 1,
    maxItems: listEntriesMax,
    description: 'Upstreams that calls may go to, with * as for models.',
  }),
  addresses: names('Networks in CIDR notation, or addresses, from which calls may come.'),
  spend_per_day_usd: usd('USD in a calendar day (UTC).'),
  spend_per_month_usd: usd('USD in a calendar month (UTC).'),
  spend_total_usd: usd('USD in total.'),
  media_retention_days: whole(mediaLimitsMax.retentionDays, 'Days for which files of videos are kept.'),
  media_bytes_max: whole(mediaLimitsMax.bytes, 'Bytes of video files in total; 0 allows no videos.', 0),
};

const limitNames = {
  requests_per_minute: 'requestsPerMinute',
  tokens_per_minute: 'tokensPerMinute',
  concurrency: 'concurrency',
  models: 'models',
  upstreams: 'upstreams',
  addresses: 'addresses',
  spend_per_day_usd: 'spendPerDay',
  spend_per_month_usd: 'spendPerMonth',
  spend_total_usd: 'spendTotal',
  media_retention_days: 'mediaRetentionDays',
  media_bytes_max: 'mediaBytesMax',
} as const satisfies Readonly<Record<keyof typeof members, keyof AccessLimits>>;

/** Limits in an answer; null is no limit. */
export const limitsSchema = record(
  {
    requests_per_minute: nullable(members.requests_per_minute),
    tokens_per_minute: nullable(members.tokens_per_minute),
    concurrency: nullable(members.concurrency),
    models: nullable(members.models),
    upstreams: nullable(members.upstreams),
    addresses: nullable(members.addresses),
    spend_per_day_usd: nullable(members.spend_per_day_usd),
    spend_per_month_usd: nullable(members.spend_per_month_usd),
    spend_total_usd: nullable(members.spend_total_usd),
    media_retention_days: nullable(members.media_retention_days),
    media_bytes_max: nullable(members.media_bytes_max),
    expires_at: nullable(Type.String({ description: 'Refused from this moment on.' })),
  },
  'Limits; null is no limit.',
);

/** A change of limits: null removes one, and what is absent stays (RFC 7396). */
export const limitsChangeSchema = request({
  requests_per_minute: Type.Optional(limitsSchema.properties.requests_per_minute),
  tokens_per_minute: Type.Optional(limitsSchema.properties.tokens_per_minute),
  concurrency: Type.Optional(limitsSchema.properties.concurrency),
  models: Type.Optional(limitsSchema.properties.models),
  upstreams: Type.Optional(limitsSchema.properties.upstreams),
  addresses: Type.Optional(limitsSchema.properties.addresses),
  spend_per_day_usd: Type.Optional(limitsSchema.properties.spend_per_day_usd),
  spend_per_month_usd: Type.Optional(limitsSchema.properties.spend_per_month_usd),
  spend_total_usd: Type.Optional(limitsSchema.properties.spend_total_usd),
  media_retention_days: Type.Optional(limitsSchema.properties.media_retention_days),
  media_bytes_max: Type.Optional(limitsSchema.properties.media_bytes_max),
  expires_at: Type.Optional(nullable(instantQuery('Refused from this moment on.'))),
});

export function encodeLimits(limits: AccessLimits = {}): Static<typeof limitsSchema> {
  return {
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    concurrency: limits.concurrency ?? null,
    models: limits.models === undefined ? null : [...limits.models],
    upstreams: limits.upstreams === undefined ? null : [...limits.upstreams],
    addresses: limits.addresses === undefined ? null : [...limits.addresses],
    spend_per_day_usd: limits.spendPerDay ?? null,
    spend_per_month_usd: limits.spendPerMonth ?? null,
    spend_total_usd: limits.spendTotal ?? null,
    media_retention_days: limits.mediaRetentionDays ?? null,
    media_bytes_max: limits.mediaBytesMax ?? null,
    expires_at: optionalInstant(limits.expiresAtMs),
  };
}

/** @throws AdminProblem `invalid_request` for a value that the schema cannot refuse, such as a network that is none */
export function decodeLimitsChange({ expires_at, ...written }: Static<typeof limitsChangeSchema>): AccessLimitsChange {
  const change: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(written)) change[limitNames[name as keyof typeof limitNames]] = value;
  if (expires_at !== undefined) change['expiresAtMs'] = expires_at === null ? null : Date.parse(expires_at);
  for (const [name, value] of Object.entries(change))
    if (!isLimitsChange({ [name]: value }))
      throw invalidField(
        `/limits/${apiName(name)}`,
        'refused',
        `The field limits.${apiName(name)} has a value that this limit cannot have${name === 'addresses' ? '; networks are written as in 10.0.0.0/8, addresses as in 192.0.2.7' : ''}.`,
      );
  return change;
}

/** The name in the API of a limit. */
function apiName(name: string): string {
  return Object.entries(limitNames).find(([, own]) => own === name)?.[0] ?? 'expires_at';
}

/** A change as the body of a request. Whether calls are prepaid is next to limits. */
export function encodeLimitsChange({ prepaid: _prepaid, expiresAtMs, ...change }: AccessLimitsChange): Static<typeof limitsChangeSchema> {
  const members = Object.entries(change).map(([name, value]) => [apiName(name), value] as const);
  const expires = expiresAtMs === undefined ? {} : { expires_at: expiresAtMs === null ? null : instant(expiresAtMs) };
  return { ...Object.fromEntries(members), ...expires };
}

/** Limits of an answer; whether calls are prepaid is beside them. */
export function decodeLimits({ expires_at, ...written }: Static<typeof limitsSchema>, prepaid = false): AccessLimits {
  const members = Object.entries(written).flatMap(([name, value]) =>
    value === null ? [] : [[limitNames[name as keyof typeof limitNames], value] as const],
  );
  return {
    ...Object.fromEntries(members),
    ...(prepaid && { prepaid }),
    ...(expires_at !== null && { expiresAtMs: Date.parse(expires_at) }),
  };
}
