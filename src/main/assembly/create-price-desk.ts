import type { PriceDesk } from '../../billing/price-books/price-desk.ts';
import { PriceBookError } from '../../billing/rating/parse-price-book.ts';
import { buildPriceBook, priceBasisOf } from '../config/build-price-book.ts';
import { ConfigError } from '../config/config-error.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Environment } from '../environment.ts';

/** Prices as a gateway with the configuration of this environment loads them. The file is read each time. */
export function createPriceDesk(environment: Pick<Environment, 'configPath' | 'variable' | 'secrets'>): PriceDesk {
  const { configPath } = environment;
  return {
    load: (published) => {
      try {
        const { config, priceBookData, layers } = loadConfig(configPath, environment, { published });
        const { overrides = [] } = priceBasisOf(config, priceBookData);
        return { layers, book: priceBookData, overrides, prices: buildPriceBook(config, priceBookData) };
      } catch (error) {
        if (error instanceof ConfigError) throw new PriceBookError([error.message]);
        throw error;
      }
    },
    price: (book) => buildPriceBook(loadConfig(configPath, environment).config, book),
    basisOf: (book) => priceBasisOf(loadConfig(configPath, environment).config, book),
  };
}
