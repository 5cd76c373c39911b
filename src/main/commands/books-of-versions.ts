import { parsePriceBasis } from '../../billing/rating/price-basis.ts';
import { createPriceBook } from '../../billing/rating/price-book.ts';
import type { PriceBook } from '../../billing/rating/rating.ts';
import { buildPriceBook } from '../config/build-price-book.ts';
import type { Environment } from '../environment.ts';
import { loadConfigAndPrices, readPriceBooks } from './stored-prices.ts';

/** The prices in force, followed by the prices of these versions that the database has. */
export async function findBooksOfVersions(environment: Environment, versions: readonly string[]): Promise<readonly PriceBook[]> {
  const { config, priceBookData } = await loadConfigAndPrices(environment);
  const inForce = buildPriceBook(config, priceBookData);
  const others = versions.filter((version) => version !== inForce.version);
  if (others.length === 0) return [inForce];
  const recorded = await readPriceBooks(environment, (store) => Promise.all(others.map((version) => store.findRecordedPrices(version))));
  const found = (recorded ?? []).filter((prices) => prices !== undefined);
  // The version is recomputed from the stored prices, so prices that were changed in the database match no ledger row.
  return [inForce, ...found.map(({ basis }) => createPriceBook(parsePriceBasis(basis)))];
}
