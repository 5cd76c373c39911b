import { Type } from 'typebox';

import { maySee, type UserScope } from '../../../accounts/people/principal.ts';
import { type BillingRecord, encodeBillingRecords } from '../../../billing/statistics/billing-record.ts';
import { type Granularity, granularityNames } from '../../../billing/statistics/granularity.ts';
import {
  createQueries,
  statisticsLimitsDefault,
  StatisticsRefusedError,
  type StatisticsRequest,
  tooManyRecords,
} from '../../../billing/statistics/statistics.ts';
import type { StatisticsRow, StatisticsStore } from '../../../billing/statistics/statistics-store.ts';
import { instantQuery, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext } from '../../operation.ts';
import { AdminProblem } from '../../problem.ts';

export type UsageRecordServices = {
  readonly statistics: StatisticsStore;
  /** The zone of statistics. */
  readonly about: { readonly timeZone: string };
};
type Context = AdminContext<UsageRecordServices>;

const names = Object.values(granularityNames);

/** Parameters of the statistics, with the names of this API. */
export const recordsQuery = {
  from: instantQuery('Calls accepted at or after it count.'),
  to: instantQuery('Calls accepted before it count.'),
  granularity: Type.Enum(names),
  user: Type.Optional(Type.String({ maxLength: 256 })),
  key: Type.Optional(Type.String({ maxLength: 256, description: 'The name of API keys.' })),
  model: Type.Optional(Type.String({ maxLength: 256, description: 'As clients asked for it.' })),
};

/** The records of the statistics, as `/bill/stats` of the monitor answers them. */
export const listUsageRecords = operation({
  id: 'usage.records',
  method: 'GET',
  path: '/usage/records',
  summary: 'The records of the statistics by bucket, user, key and model, as JSON Lines: those of POST /bill/stats of the monitor',
  access: 'usage:read',
  query: record(recordsQuery),
  streams: ['application/jsonl'],
  handle: async ({ query }, { services, principal }: Context) => {
    const rows = await readRows(services, readRequest(query), scopeOf(query.user, principal.users)).catch(refuse);
    return { stream: writeLines(encodeBillingRecords(rows, services.about.timeZone)), contentType: 'application/jsonl' };
  },
});

type RecordsQuery = {
  readonly from: string;
  readonly to: string;
  readonly granularity: (typeof names)[number];
  readonly key?: string | undefined;
  readonly model?: string | undefined;
};

export function readRequest({ from, to, granularity, key, model }: RecordsQuery): StatisticsRequest {
  return {
    // Names and numbers are of one table.
    granularity: (names.indexOf(granularity) + 1) as Granularity,
    startSeconds: Math.floor(Date.parse(from) / 1000),
    endSeconds: Math.ceil(Date.parse(to) / 1000),
    ...(key !== undefined && { tokenName: key }),
    ...(model !== undefined && { modelName: model }),
  };
}

/** The users that are asked for, of those that the caller may see. */
export function scopeOf(asked: string | undefined, users: UserScope): UserScope {
  const user = asked?.normalize('NFC');
  if (user === undefined) return users;
  return maySee(users, user) ? [user] : [];
}

/** The rows of all users, or of some: by bucket, user, key and model. */
async function readRows(
  { statistics, about }: UsageRecordServices,
  asked: StatisticsRequest,
  users: UserScope,
): Promise<readonly StatisticsRow[]> {
  const toQuery = createQueries({ timeZone: about.timeZone });
  const { rowsMax } = statisticsLimitsDefault;
  const rows: StatisticsRow[] = [];
  for (const userName of users === 'all' ? [undefined] : users.toSorted(byCodePoint)) {
    for (const row of await statistics.queryStatistics(toQuery(asked, userName === undefined ? {} : { userName }))) rows.push(row);
    if (rows.length > rowsMax) throw tooManyRecords(rowsMax);
  }
  // Each user's rows are in order already, and sorting is stable.
  return users === 'all' ? rows : rows.toSorted((one, other) => one.bucketStartSeconds - other.bucketStartSeconds);
}

/** The order of the database: UTF-16 units have another beyond the basic plane. */
function byCodePoint(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** The parameters of the monitor's requests by their names here. */
const ownNames = { startTime: 'from', endTime: 'to', tokenName: 'key', modelName: 'model' } as const;

/** A refusal with the names of this API; other errors as they are. */
export function refuse(error: unknown): never {
  if (!(error instanceof StatisticsRefusedError)) throw error;
  const words = Object.entries(ownNames).reduce((text, [theirs, own]) => text.replaceAll(theirs, own), error.message);
  const detail = words.replaceAll('larger type', 'larger granularity').replace(/type \d+ \((\w+)\)/, 'granularity $1');
  throw new AdminProblem('invalid_request', `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`, { cause: error });
}

const chunkRecords = 500;

/** Amounts are written with all their digits. */
async function* writeLines(records: Iterable<BillingRecord>): AsyncGenerator<string> {
  let lines: string[] = [];
  for (const each of records) {
    lines.push(`${JSON.stringify(each)}\n`);
    if (lines.length < chunkRecords) continue;
    yield lines.join('');
    lines = [];
  }
  yield lines.join('');
}
