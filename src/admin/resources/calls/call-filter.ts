import { type Static, Type } from 'typebox';

import { callFlags, endCodes } from '../../../billing/calls/call-fact.ts';
import type { CallFilter } from '../../../billing/calls/call-facts-store.ts';
import type { CallEnd } from '../../../billing/ledger/call-entry.ts';
import { parseUsd } from '../../../billing/credits/parse-usd.ts';
import { labelMembers, readLabels } from '../../contract/labels.ts';
import { instantQuery } from '../../contract/values.ts';
import { AdminProblem } from '../../problem.ts';

const callEnds = Object.keys(endCodes) as readonly CallEnd[];
const flagNames = Object.keys(callFlags) as readonly (keyof typeof callFlags)[];

const names = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 50, description: `${description} Repeat it for "or".` }));
const least = (what: string) => Type.Optional(Type.Integer({ minimum: 0, description: `At least this ${what}.` }));
const most = (what: string) => Type.Optional(Type.Integer({ minimum: 0, description: `At most this ${what}.` }));
const usd = (description: string) => Type.Optional(Type.String({ maxLength: 40, description }));

/** The query parameters that select calls. */
export const callFilterQuery = {
  from: Type.Optional(instantQuery('Calls accepted at or after it.')),
  to: Type.Optional(instantQuery('Calls accepted before it.')),
  user: names('User.'),
  key_id: names('Key, by its id.'),
  model: names('Model as the client asked for it.'),
  served_model: names('Model that answered.'),
  ...labelMembers,
  upstream: names('Upstream.'),
  interface: names('Interface that the client spoke.'),
  end: Type.Optional(Type.Array(Type.Enum(callEnds), { maxItems: callEnds.length })),
  error_code: names('Code of the error.'),
  status_class: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 5 }), { maxItems: 5, description: '5 for statuses from 500 to 599.' }),
  ),
  flag: Type.Optional(Type.Array(Type.Enum(flagNames), { maxItems: flagNames.length, description: 'The call must have all of these.' })),
  amount_min_usd: usd('At least this cost.'),
  amount_max_usd: usd('At most this cost.'),
  tokens_min: least('number of tokens'),
  tokens_max: most('number of tokens'),
  duration_min_ms: least('duration'),
  duration_max_ms: most('duration'),
  first_byte_min_ms: least('time until the first content'),
  first_byte_max_ms: most('time until the first content'),
};
const schema = Type.Object(callFilterQuery);

function between<Value>(min: Value | undefined, max: Value | undefined): { readonly min?: Value; readonly max?: Value } | undefined {
  if (min === undefined && max === undefined) return undefined;
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

function readUsd(name: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  const amount = parseUsd(text);
  if (amount !== undefined) return amount;
  const detail = `The query parameter ${name} must be an amount in USD such as 0.01; got "${text}".`;
  throw new AdminProblem('invalid_request', detail, { errors: [{ parameter: name, code: 'amount', detail }] });
}

/** The filter of a query, without members that it does not set. */
export function readCallFilter(query: Static<typeof schema>): CallFilter {
  const filter = {
    startMs: query.from === undefined ? undefined : Date.parse(query.from),
    endMs: query.to === undefined ? undefined : Date.parse(query.to),
    users: query.user?.map((name) => name.normalize('NFC')),
    keys: query.key_id?.map((keyId) => ({ keyId })),
    models: query.model,
    servedModels: query.served_model,
    upstreams: query.upstream,
    interfaces: query.interface,
    ends: query.end,
    errorCodes: query.error_code,
    statusClasses: query.status_class,
    flags: query.flag === undefined ? undefined : Object.fromEntries(query.flag.map((flag) => [flag, true])),
    amountNanoUsd: between(readUsd('amount_min_usd', query.amount_min_usd), readUsd('amount_max_usd', query.amount_max_usd)),
    tokens: between(query.tokens_min, query.tokens_max),
    durationMs: between(query.duration_min_ms, query.duration_max_ms),
    firstByteMs: between(query.first_byte_min_ms, query.first_byte_max_ms),
    ...readLabels(query),
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}
