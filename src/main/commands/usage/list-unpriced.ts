import { listUnpricedModels } from '../../../admin/resources/disputes/dispute-operations.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Environment } from '../../environment.ts';
import { requireUser } from '../remote/require-user.ts';
import { withService } from '../remote/with-service.ts';
import { alignColumns } from '../with-accounts.ts';
import { printTexts } from './print-texts.ts';
import { readGranularity, readSpan } from './read-span.ts';
import type { UsageOptions } from './show-usage.ts';
import { instantOf, readStatisticsZone } from './statistics-zone.ts';
import { inert } from './terminal-text.ts';

type UnpricedModel = NonNullable<typeof listUnpricedModels.types>['reply']['items'][number];

const listedMax = 1000;

/** Prints the models whose calls were charged 0 because nothing that they used has a price. Throws StartError. */
export async function listUnpriced(environment: Environment, { remote, ...options }: UsageOptions): Promise<void> {
  const place = { reads: true, readsZone: true, ...(remote !== undefined && { remote }) };
  const models = await withService(environment, place, async (service) => {
    const { timeZone } = await readStatisticsZone(service);
    const span = readSpan(options, readGranularity(options.by), timeZone, systemClock.nowMs());
    if (options.user !== undefined) await requireUser(service, options.user);
    const query = {
      from: instantOf(span.startSeconds),
      to: instantOf(span.endSeconds),
      limit: listedMax,
      ...(options.user !== undefined && { user: options.user }),
    };
    return (await service.call(listUnpricedModels, { query })).body.items;
  });
  await printTexts(process.stdout, [options.json === true ? `${JSON.stringify(models, undefined, 2)}\n` : writeTable(models)]);
}

function writeTable(models: readonly UnpricedModel[]): string {
  if (models.length === 0) return 'no calls without a price\n';
  const lines = models.map(({ model, calls, last_accepted_at }) => [inert(model), String(calls), last_accepted_at]);
  return `${alignColumns([['MODEL', 'CALLS', 'LAST'], ...lines]).join('\n')}\n`;
}
