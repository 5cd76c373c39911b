import type { Command } from 'commander';

import { readEntries } from '../../billing/ledger/read-entries.ts';
import { type PriceBookData, PriceBookError } from '../../billing/rating/parse-price-book.ts';
import {
  type ComparedGroup,
  type ComparisonGrouping,
  comparisonGroupings,
  type ComparisonResult,
  PriceComparison,
} from '../../billing/staging/price-comparison.ts';
import { stagePriceBook } from '../../billing/staging/stage-price-book.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { systemClock } from '../../platform/clock.ts';
import { buildPriceBook } from '../config/build-price-book.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { type Environment, StartError } from '../environment.ts';
import { openDatabase } from '../open-data-directory.ts';
import { inert } from '../usage/terminal-text.ts';
import { dayOf } from './prices-list.ts';
import { publishPrices } from './prices-publish.ts';
import { readPriceFile } from './read-price-file.ts';
import { alignColumns } from './with-accounts.ts';

const dayMs = 86_400_000;
const daysMax = 3660;

type StageOptions = { readonly from?: string; readonly days: string; readonly by: string; readonly json?: boolean };
type PublishOptions = { readonly from: string; readonly output?: string };

/** Adds `weir prices stage` and `weir prices publish`: what a price change would mean, and making it one with an effective date. */
export function addStagedPriceCommands(prices: Command, environment: () => Environment): void {
  prices
    .command('stage')
    .description('prices the calls of the last days with a file on top of the book in force, and shows who would pay what; changes nothing')
    .argument('<file>', 'price book in YAML or JSON')
    .option('--from <date>', 'the day (UTC) on which it is to begin: calls are priced as if accepted on it; default: today')
    .option('--days <count>', 'how many days back the calls are taken from', '30')
    .option('--by <group>', `adds up by ${comparisonGroupings.join(', ')}`, 'user')
    .option('--json', 'as JSON')
    .action((file: string, options: StageOptions) => stagePrices(environment(), file, options));
  prices
    .command('publish')
    .description('writes prices into the price file of the configuration so that they hold from a day on; what holds before stays')
    .argument('<file>', 'price book in YAML or JSON')
    .requiredOption('--from <date>', 'the first day (UTC) on which they hold, today at the earliest')
    .option('--output <file>', 'writes there, and leaves the price file of the configuration alone')
    .action((file: string, { from, output }: PublishOptions) => {
      const surroundings = environment();
      const loaded = loadConfig(surroundings.configPath, surroundings.variable);
      const today = dayOf(systemClock.nowMs());
      if (readDay('--from', from) < today)
        throw new StartError(`--from ${from} is past: calls accepted since then are booked, and prices hold from ${today} at the earliest`);
      const staged = stage(loaded, readPriceFile(file), from);
      console.log(publishPrices(surroundings, loaded, { ...staged, from, ...(output === undefined ? {} : { output }) }));
    });
}

async function stagePrices(environment: Environment, file: string, options: StageOptions): Promise<void> {
  const nowMs = systemClock.nowMs();
  const grouping = readGrouping(options.by);
  const days = readDays(options.days);
  const from = readDay('--from', options.from ?? dayOf(nowMs));
  const loaded = loadConfig(environment.configPath, environment.variable);
  const { inForce } = stage(loaded, readPriceFile(file), from);
  const comparison = new PriceComparison(grouping, {
    staged: buildPriceBook(loaded.config, inForce),
    current: buildPriceBook(loaded.config, loaded.priceBookData),
    atMs: Date.parse(`${from}T00:00:00Z`),
  });
  const store = await openDatabase(environment, { readOnly: true });
  try {
    for await (const entry of readEntries(store, { startMs: nowMs - days * dayMs, endMs: nowMs + 1 })) comparison.add(entry);
  } finally {
    await store.close();
  }
  const result = comparison.result();
  const title = `calls of the last ${days} days as booked, and as if accepted on ${from} with ${inForce.version}`;
  console.log(options.json === true ? describeAsJson(result, grouping, title) : describe(result, grouping, title).join('\n'));
}

/** The file, and the book in force with it. Throws StartError naming every problem. */
function stage(
  { priceBookData }: LoadedConfig,
  file: PriceBookData,
  from: string,
): { readonly file: PriceBookData; readonly inForce: PriceBookData } {
  try {
    return { file, inForce: stagePriceBook(priceBookData, file, from) };
  } catch (error) {
    if (error instanceof PriceBookError)
      throw new StartError(`these prices cannot hold from ${from}:\n  ${error.problems.join('\n  ')}`, { cause: error });
    throw error;
  }
}

function readGrouping(text: string): ComparisonGrouping {
  const known = comparisonGroupings.find((grouping) => grouping === text);
  if (known === undefined) throw new StartError(`--by must be one of ${comparisonGroupings.join(', ')}, but it is "${text}"`);
  return known;
}

function readDays(text: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > daysMax) throw new StartError(`--days must be a number of 1 to ${daysMax}, but it is "${text}"`);
  return days;
}

function readDay(option: string, text: string): string {
  const ms = /^20\d{2}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(ms) || dayOf(ms) !== text) throw new StartError(`${option} must be a day such as 2026-12-31, but it is "${text}"`);
  return text;
}

function describe({ groups, total, doubtful }: ComparisonResult, grouping: ComparisonGrouping, title: string): string[] {
  const cells = (group: ComparedGroup): string[] => [
    inert(group.name),
    String(group.calls),
    usdDecimal(group.bookedNanoUsd),
    usdDecimal(group.stagedNanoUsd),
    signed(usdDecimal(group.stagedNanoUsd - group.bookedNanoUsd)),
    percentOf(group),
  ];
  return [
    `${title}, in USD`,
    ...alignColumns([[grouping.toUpperCase(), 'CALLS', 'BOOKED', 'STAGED', 'DIFFERENCE', '%'], ...groups.map(cells), cells(total)]),
    ...(doubtful.length === 0 ? [] : ['Rows that cannot be priced with certainty:']),
    ...doubtful.map(({ model, reason, rows }) => `  ${inert(model)}: ${rows} (${inert(reason)})`),
  ];
}

function describeAsJson({ groups, total, doubtful }: ComparisonResult, grouping: ComparisonGrouping, title: string): string {
  const write = ({ name, calls, bookedNanoUsd, stagedNanoUsd }: ComparedGroup) => ({
    name,
    calls,
    booked_usd: usdDecimal(bookedNanoUsd),
    staged_usd: usdDecimal(stagedNanoUsd),
    difference_usd: usdDecimal(stagedNanoUsd - bookedNanoUsd),
  });
  return JSON.stringify({ title, by: grouping, groups: groups.map(write), total: write(total), doubtful }, undefined, 2);
}

const signed = (decimal: string): string => (decimal.startsWith('-') || decimal === '0' ? decimal : `+${decimal}`);

/** In tenths of a percent; a dash where nothing was charged. */
function percentOf({ bookedNanoUsd, stagedNanoUsd }: ComparedGroup): string {
  if (bookedNanoUsd === 0n) return stagedNanoUsd === 0n ? '0' : '-';
  return signed(String(Number(((stagedNanoUsd - bookedNanoUsd) * 1000n) / bookedNanoUsd) / 10));
}
