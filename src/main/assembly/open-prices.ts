import { createPriceBookFollower, type PriceBookFollower } from '../../billing/price-books/price-book-follower.ts';
import type { PublishedPriceBook } from '../../billing/price-books/price-book-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import type { LiveSettingsOptions } from '../config/live-settings.ts';
import type { Environment } from '../environment.ts';
import { keepPrices, readKeptPrices } from './kept-prices.ts';

/** Connects live settings with the price books of the store. */
export type OpenedPrices = {
  readonly published: PriceBookFollower['newest'];
  /** The price book of the last run; undefined if none is stored. */
  readonly kept: PublishedPriceBook | undefined;
  readonly onInForce: NonNullable<LiveSettingsOptions['onInForce']>;
};

/**
 * Follows the price books of the store until `opened` is closed. Resolves after the first query of the store, or when
 * it does not answer in time.
 */
export async function openPrices(
  parts: { readonly environment: Environment; readonly store: Store; readonly clock: Clock; readonly logger: Logger },
  opened: AsyncDisposableStack,
): Promise<OpenedPrices> {
  const { environment, logger } = parts;
  const kept = readKeptPrices(environment);
  const follower = createPriceBookFollower({ ...parts, cached: kept });
  opened.defer(() => follower.close());
  await follower.start();
  let lastKept = kept;
  return {
    published: follower.newest,
    kept,
    onInForce: ({ published }, { version, basis }) => {
      follower.record({ version, basis: JSON.stringify(basis) });
      if (published === lastKept) return;
      lastKept = published;
      try {
        keepPrices(environment, published);
      } catch (error) {
        logger.warn({ err: error }, 'saving published prices failed');
      }
    },
  };
}
