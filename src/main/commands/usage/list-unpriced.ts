import type { UnpricedModel } from '../../../billing/ledger/ledger-store.ts';
import { systemClock } from '../../../platform/clock.ts';
import { alignColumns, findUserName, readStore } from '../with-accounts.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Environment } from '../../environment.ts';
import { printTexts } from './print-texts.ts';
import { readGranularity, readSpan } from './read-span.ts';
import type { UsageOptions } from './show-usage.ts';
import { inert } from './terminal-text.ts';

const listedMax = 1000;

/** Prints the models whose calls were charged 0 because nothing that they used has a price. Throws StartError. */
export async function listUnpriced(environment: Environment, options: UsageOptions): Promise<void> {
  const { config } = loadConfig(environment.configPath, environment.variable);
  const span = readSpan(options, readGranularity(options.by), config.timeZone ?? 'UTC', systemClock.nowMs());
  const models = await readStore(environment, async (store) =>
    store.listUnpriced({
      startMs: span.startSeconds * 1000,
      endMs: span.endSeconds * 1000,
      limit: listedMax,
      ...(options.user === undefined ? {} : { userName: await findUserName(store, options.user) }),
    }),
  );
  await printTexts(process.stdout, [
    options.json === true ? `${JSON.stringify(models.map(describe), undefined, 2)}\n` : writeTable(models),
  ]);
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

function describe({ requestedModel, calls, lastMs }: UnpricedModel): object {
  return { model: requestedModel, calls, last_accepted_at: timeOf(lastMs) };
}

function writeTable(models: readonly UnpricedModel[]): string {
  if (models.length === 0) return 'no calls without a price\n';
  const lines = models.map(({ requestedModel, calls, lastMs }) => [inert(requestedModel), String(calls), timeOf(lastMs)]);
  return `${alignColumns([['MODEL', 'CALLS', 'LAST'], ...lines]).join('\n')}\n`;
}
