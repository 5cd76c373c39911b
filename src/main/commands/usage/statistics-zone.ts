import { getSession } from '../../../admin/resources/session/session-operations.ts';
import type { AdminService } from '../../../admin/service/admin-service.ts';
import type { CreditUnit } from '../../../billing/rating/rating.ts';

/** The zone of the statistics, in which times of options are local, and the operator's unit of amounts. */
export type StatisticsZone = { readonly timeZone: string; readonly unit: CreditUnit | undefined };

/** Asks the place where a command runs. */
export async function readStatisticsZone(service: AdminService): Promise<StatisticsZone> {
  const { time_zone: timeZone, credit_unit: unit } = (await service.call(getSession)).body;
  return { timeZone, unit: unit === null ? undefined : { name: unit.name, perUsd: unit.per_usd } };
}

/** A time of a span as the API takes it. */
export function instantOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
