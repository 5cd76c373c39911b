import { existsSync } from 'node:fs';

import { AdminProblem } from '../../../admin/problem.ts';
import { createDraft, deleteDraft } from '../../../admin/resources/prices/draft-operations.ts';
import { exportBook, getVersion, listBooks, listPricesOfDay } from '../../../admin/resources/prices/price-operations.ts';
import { publishBook } from '../../../admin/resources/prices/publish-operation.ts';
import { stageDraft } from '../../../admin/resources/prices/stage-operation.ts';
import type { PriceBasis } from '../../../billing/rating/price-basis.ts';
import { parsePriceBook, type PriceBookData, type PriceBookEntry } from '../../../billing/rating/parse-price-book.ts';
import type { ComparedGroup, ComparisonGrouping, ComparisonResult } from '../../../billing/staging/price-comparison.ts';
import { type Environment, StartError } from '../../environment.ts';
import { readPriceFile } from '../read-price-file.ts';
import { awaitOperation, interruption } from './await-operation.ts';
import { wordRefusal } from './problems.ts';
import { listAll, type RemoteOption, withService } from './with-service.ts';

/** A published book as the API lists it. */
export type ListedBook = NonNullable<typeof listBooks.types>['reply']['items'][number];

type Sourced = { readonly entry: PriceBookEntry; readonly source: string };

/** The prices of a console, with the layer of each. */
export async function listRemotePrices(
  environment: Environment,
  place: RemoteOption,
  query: { readonly vendor?: string; readonly model?: string; readonly at?: string },
): Promise<readonly Sourced[]> {
  const items = await withService(environment, place, (service) => listAll(service, listPricesOfDay, query));
  // The operation declares an open object; its members are those of an entry.
  return items.map(({ entry, layer }) => ({ entry: entry as unknown as PriceBookEntry, source: layer }));
}

/** A book by its name: a local file, `shipped` for the book of this release, or a book of the console. */
export async function readRemoteBook(environment: Environment, place: RemoteOption, name: string | undefined): Promise<PriceBookData> {
  const isNumber = name !== undefined && /^(?:store-)?[1-9]\d{0,14}$/.test(name);
  if (name !== undefined && !isNumber && (!name.includes('+') || existsSync(name))) return readPriceFile(name);
  const query = name === undefined ? {} : { book: name };
  const unknown = (): StartError =>
    new StartError(
      isNumber
        ? `the store has no price book ${name.replace('store-', '')}; weir prices history lists them`
        : `the store has no prices of version ${name ?? ''}`,
    );
  const answer = await withService(environment, place, (service) => wordRefusal(service.call(exportBook, { query }), 'not_found', unknown));
  return parsePriceBook(answer.body.book);
}

/** The published books of a console, newest first. */
export function listRemoteBooks(environment: Environment, place: RemoteOption, rowsMax: number): Promise<readonly ListedBook[]> {
  return withService(environment, place, (service) => listAll(service, listBooks, {}, rowsMax));
}

/** The prices behind a price version, and since when; undefined members if the stored prices were changed. */
export async function readRemoteVersion(
  environment: Environment,
  place: RemoteOption,
  version: string,
): Promise<{ readonly recordedAt: string; readonly basis: PriceBasis | undefined }> {
  const unknown = (): StartError => new StartError(`the store has no prices of version ${version}`);
  const reading = withService(environment, place, (service) => service.call(getVersion, { params: { version } }));
  const { book, overrides, tool_prices, factors, recorded_at, is_unchanged } = (await wordRefusal(reading, 'not_found', unknown)).body;
  if (book === null || !is_unchanged) return { recordedAt: recorded_at, basis: undefined };
  const isFilled = (value: object): boolean => Object.keys(value).length > 0;
  // The operation declares open objects; their members are those of the prices.
  const basis = {
    book,
    ...(overrides.length > 0 && { overrides }),
    ...(isFilled(tool_prices) && { toolPrices: tool_prices }),
    ...(isFilled(factors) && { factors }),
  } as unknown as PriceBasis;
  return { recordedAt: recorded_at, basis };
}

/** Publishes prices on a console, and answers with the names of its layers. @throws StartError naming every problem */
export async function publishRemotely(
  environment: Environment,
  place: RemoteOption,
  body: { readonly from: string; readonly whole: boolean; readonly note?: string; readonly book: PriceBookData },
) {
  return await withService(environment, place, async (service) => {
    const published = (await service.call(publishBook, { body })).body;
    const { layers } = (await service.call(listPricesOfDay, { query: { limit: 1 } })).body;
    return { ...published, layers: layers.map(({ layer }) => layer) };
  });
}

type StagedGroup = {
  readonly name: string;
  readonly calls: number;
  readonly booked_nano_usd: string;
  readonly in_force_nano_usd: string;
  readonly staged_nano_usd: string;
};
/** The result of an operation `prices.stage`. */
type Staged = {
  readonly groups: readonly StagedGroup[];
  readonly total: StagedGroup;
  readonly doubtful: ComparisonResult['doubtful'];
  readonly book: string;
};

const decodeGroup = ({ name, calls, booked_nano_usd, in_force_nano_usd, staged_nano_usd }: StagedGroup): ComparedGroup => ({
  name,
  calls,
  bookedNanoUsd: BigInt(booked_nano_usd),
  inForceNanoUsd: BigInt(in_force_nano_usd),
  stagedNanoUsd: BigInt(staged_nano_usd),
});

/** Prices the calls of the last days again on a console, with a draft that exists only meanwhile. */
export async function stageRemotely(
  environment: Environment,
  place: RemoteOption,
  book: PriceBookData,
  about: { readonly from: string; readonly days: number; readonly by: ComparisonGrouping },
): Promise<{ readonly result: ComparisonResult; readonly version: string }> {
  return await withService(environment, place, async (service) => {
    const { id } = (await service.call(createDraft, { body: { name: 'weir prices stage', book, format: 'book' } })).body;
    try {
      const started = (await service.call(stageDraft, { params: { id }, body: about })).body;
      const { result } = await awaitOperation(service, started, { signal: interruption() });
      if (result === null) throw new StartError('the comparison was cancelled before it began');
      // Written by the operation of the console.
      const { groups, total, doubtful, book: version } = result as Staged;
      return { result: { groups: groups.map(decodeGroup), total: decodeGroup(total), doubtful }, version };
    } finally {
      await service.call(deleteDraft, { params: { id } });
    }
  });
}

/** A refusal of prices with the place of each mistake, as the local command names them. */
export function nameRemoteProblems(error: unknown, heading: string): unknown {
  if (!(error instanceof AdminProblem) || error.errors.length === 0) return error;
  return new StartError(`${heading}:\n  ${error.errors.map(({ detail }) => detail).join('\n  ')}`, { cause: error });
}
