import { parsePriceBasis } from '../../billing/rating/price-basis.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import type { PriceBook } from '../../billing/rating/rating.ts';
import { buildPriceBook } from '../config/build-price-book.ts';
import { type Environment, StartError } from '../environment.ts';
import { loadConfigAndPrices, readPriceBooks } from './stored-prices.ts';

/** The prices in force, and behind them those that the database keeps of these versions. */
export async function findBooksOfVersions(environment: Environment, versions: readonly string[]): Promise<readonly PriceBook[]> {
  const { config, priceBookData } = await loadConfigAndPrices(environment);
  const inForce = buildPriceBook(config, priceBookData);
  const others = versions.filter((version) => version !== inForce.version);
  if (others.length === 0) return [inForce];
  const kept = await readPriceBooks(environment, (store) => Promise.all(others.map((version) => store.findRecordedPrices(version))));
  const found = (kept ?? []).filter((prices) => prices !== undefined);
  // The version is computed from what is kept: what somebody has changed is the book of no row.
  return [inForce, ...found.map(({ basis }) => createPriceBook(parsePriceBasis(basis)))];
}

/** The prices of one version. @throws StartError where nobody knows them any more */
export async function findBookOfVersion(environment: Environment, version: string): Promise<PriceBook> {
  const found = (await findBooksOfVersions(environment, [version])).find((book) => book.version === version);
  if (found === undefined) throw new StartError(`the prices ${version} are neither in force nor kept in the database`);
  return found;
}
