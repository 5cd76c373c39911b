import type { Command } from 'commander';

import { type PriceBookData, PriceBookError } from '../../billing/rating/parse-price-book.ts';
import { dayOf } from '../../billing/rating/list-prices.ts';
import {
  type ComparedGroup,
  type ComparisonGrouping,
  comparisonGroupings,
  type ComparisonResult,
} from '../../billing/staging/price-comparison.ts';
import { stagePriceBook } from '../../billing/staging/stage-price-book.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import { systemClock } from '../../platform/clock.ts';
import { priceBasisOf } from '../config/build-price-book.ts';
import { type Environment, StartError } from '../environment.ts';
import { inert } from './usage/terminal-text.ts';
import { findUrl, type UrlOption, urlText } from './database.ts';
import { nameActor } from './name-actor.ts';
import { describePublication, describeUnused, publishToFile, publishToStore } from './prices-publish.ts';
import { readPriceFile } from './read-price-file.ts';
import { nameRemoteProblems, publishRemotely, stageRemotely } from './remote/remote-prices.ts';
import { addRemoteOption, type RemoteOption } from './remote/with-service.ts';
import { loadConfigAndPrices } from './stored-prices.ts';
import { alignColumns } from './with-accounts.ts';

const dayMs = 86_400_000;
const daysMax = 3660;

type StageOptions = RemoteOption & { readonly from?: string; readonly days: string; readonly by: string; readonly json?: boolean };
type PublishOptions = RemoteOption &
  UrlOption & { readonly from: string; readonly note?: string; readonly whole?: true; readonly output?: string };

/** Adds `weir prices stage` (shows the effect of a price change) and `weir prices publish` (publishes it for a day). */
export function addStagedPriceCommands(prices: Command, environment: () => Environment): void {
  addRemoteOption(prices.command('stage'))
    .description(
      'prices the calls of the last days with a file on top of the book in force, and shows the difference by user; changes nothing',
    )
    .argument('<file>', 'price book in YAML or JSON')
    .option('--from <date>', 'the first day (UTC) of the new prices: calls are priced as if accepted on it; default: today')
    .option('--days <count>', 'includes the calls of this many days', '30')
    .option('--by <group>', `adds up by ${comparisonGroupings.join(', ')}`, 'user')
    .option('--json', 'as JSON')
    .action((file: string, options: StageOptions) => stagePrices(environment(), file, options));
  addRemoteOption(prices.command('publish'))
    .description(
      'publishes prices to the database, from which all its gateways load them; they apply from a day on, and earlier days keep their prices. --output writes a file instead',
    )
    .argument('<file>', 'price book in YAML or JSON')
    .requiredOption('--from <date>', 'the first day (UTC) on which they apply, today at the earliest')
    .option('--note <text>', 'why, for weir prices history')
    .option('--whole', 'the file is the whole book: from that day on no other model has a price')
    .option('--url <url>', urlText)
    .option('--output <file>', 'writes a price file, such as the one that the configuration names, and publishes nothing')
    .action((file: string, options: PublishOptions) => publish(environment(), readPriceFile(file), options));
}

const noteCharactersMax = 500;

async function publish(environment: Environment, file: PriceBookData, options: PublishOptions): Promise<void> {
  const { note, whole = false, output } = options;
  const publishedAtMs = systemClock.nowMs();
  const today = dayOf(publishedAtMs);
  const from = readDay('--from', options.from);
  if (from < today)
    throw new StartError(
      `--from ${from} is in the past: calls accepted since then are booked; new prices apply from ${today} at the earliest`,
    );
  if (output !== undefined && (whole || note !== undefined || options.url !== undefined))
    throw new StartError('--output writes a file and cannot be combined with --whole, --note or --url');
  if ((note?.length ?? 0) > noteCharactersMax)
    throw new StartError(`--note must have at most ${noteCharactersMax} characters; got ${note?.length ?? 0}`);
  if (options.remote !== undefined && (output !== undefined || options.url !== undefined))
    throw new StartError('--remote publishes on the console and cannot be combined with --output or --url');
  await namingProblems(from, async () => {
    if (options.remote !== undefined) {
      const terms = { from, whole, ...(note === undefined ? {} : { note }) };
      const published = await publishRemotely(environment, options, { ...terms, book: file });
      const { number, digest, price_version, hidden, layers } = published;
      console.log(describePublication(file, { number, digest, from, version: price_version }));
      for (const warning of describeUnused(`store-${number}`, layers, hidden)) console.error(`weir: ${warning}`);
      return;
    }
    if (output !== undefined) {
      console.log(publishToFile(environment, await loadConfigAndPrices(environment), { file, from, output }));
      return;
    }
    const about = { from, whole, publishedAtMs, actor: nameActor(), ...(note === undefined ? {} : { note }) };
    const url = options.url === undefined ? undefined : findUrl(environment, options);
    const [done, ...warnings] = await publishToStore(environment, file, { ...about, url });
    console.log(done);
    for (const warning of warnings) console.error(`weir: ${warning}`);
  });
}

async function stagePrices(environment: Environment, file: string, options: StageOptions): Promise<void> {
  const nowMs = systemClock.nowMs();
  const grouping = readGrouping(options.by);
  const days = readDays(options.days);
  const from = readDay('--from', options.from ?? dayOf(nowMs));
  const { result, version } = await namingProblems(from, () =>
    compare(environment, readPriceFile(file), { from, days, by: grouping }, options),
  );
  const title = `calls of the last ${days} days as booked, and as if accepted on ${from} with ${version}`;
  console.log(options.json === true ? describeAsJson(result, grouping, title) : describe(result, grouping, title).join('\n'));
}

type Compared = { readonly result: ComparisonResult; readonly version: string };

async function compare(
  environment: Environment,
  file: PriceBookData,
  about: { readonly from: string; readonly days: number; readonly by: ComparisonGrouping },
  place: RemoteOption,
): Promise<Compared> {
  if (place.remote !== undefined) return await stageRemotely(environment, place, file, about);
  const { from, days, by } = about;
  const { config, priceBookData } = await loadConfigAndPrices(environment);
  const staged = stagePriceBook(priceBookData, file, from);
  const nowMs = systemClock.nowMs();
  const bases = { staged: priceBasisOf(config, staged), current: priceBasisOf(config, priceBookData) };
  const calls = { ...bases, from, grouping: by, startMs: nowMs - days * dayMs, endMs: nowMs + 1 };
  const { compareInThread } = await import('../programs/staging-threads/compare-in-thread.ts');
  const { describeStaging } = await import('../assembly/describe-staging.ts');
  const result = await compareInThread(describeStaging(environment, calls)).catch((cause: unknown) => {
    throw new StartError(`the calls of the database cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  return { result, version: staged.version };
}

/** @throws StartError naming every problem of prices that cannot apply from the given day */
async function namingProblems<Result>(from: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const heading = `these prices cannot apply from ${from}`;
    if (error instanceof PriceBookError) throw new StartError(`${heading}:\n  ${error.problems.join('\n  ')}`, { cause: error });
    throw nameRemoteProblems(error, heading);
  }
}

function readGrouping(text: string): ComparisonGrouping {
  const known = comparisonGroupings.find((grouping) => grouping === text);
  if (known === undefined) throw new StartError(`--by must be one of ${comparisonGroupings.join(', ')}; got "${text}"`);
  return known;
}

function readDays(text: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > daysMax) throw new StartError(`--days must be an integer from 1 to ${daysMax}; got "${text}"`);
  return days;
}

function readDay(option: string, text: string): string {
  const ms = /^20\d{2}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(ms) || dayOf(ms) !== text) throw new StartError(`${option} must be a day such as 2026-12-31; got "${text}"`);
  return text;
}

function describe({ groups, total, doubtful }: ComparisonResult, grouping: ComparisonGrouping, title: string): string[] {
  const cells = (group: ComparedGroup): string[] => [
    inert(group.name),
    String(group.calls),
    usdDecimal(group.bookedNanoUsd),
    usdDecimal(group.inForceNanoUsd),
    usdDecimal(group.stagedNanoUsd),
    signed(usdDecimal(group.stagedNanoUsd - group.inForceNanoUsd)),
    percentOf(group),
  ];
  return [
    `${title}, in USD`,
    ...alignColumns([
      [grouping.toUpperCase(), 'CALLS', 'BOOKED', 'IN FORCE', 'STAGED', 'BY THE FILE', '%'],
      ...groups.map(cells),
      cells(total),
    ]),
    ...(doubtful.length === 0 ? [] : ['Rows that cannot be priced with certainty:']),
    ...doubtful.map(({ model, reason, rows }) => `  ${inert(model)}: ${rows} (${inert(reason)})`),
  ];
}

function describeAsJson({ groups, total, doubtful }: ComparisonResult, grouping: ComparisonGrouping, title: string): string {
  const write = ({ name, calls, bookedNanoUsd, inForceNanoUsd, stagedNanoUsd }: ComparedGroup) => ({
    name,
    calls,
    booked_usd: usdDecimal(bookedNanoUsd),
    in_force_usd: usdDecimal(inForceNanoUsd),
    staged_usd: usdDecimal(stagedNanoUsd),
    effect_usd: usdDecimal(stagedNanoUsd - inForceNanoUsd),
    other_changes_usd: usdDecimal(inForceNanoUsd - bookedNanoUsd),
  });
  return JSON.stringify({ title, by: grouping, groups: groups.map(write), total: write(total), doubtful }, undefined, 2);
}

const signed = (decimal: string): string => (decimal.startsWith('-') || decimal === '0' ? decimal : `+${decimal}`);

/** Rounded to tenths of a percent; a dash if nothing was charged. */
function percentOf({ inForceNanoUsd, stagedNanoUsd }: ComparedGroup): string {
  if (inForceNanoUsd === 0n) return stagedNanoUsd === 0n ? '0' : '-';
  return signed(String(Number(((stagedNanoUsd - inForceNanoUsd) * 1000n) / inForceNanoUsd) / 10));
}
