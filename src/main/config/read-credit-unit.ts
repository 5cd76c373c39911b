import type { CreditUnit } from '../../billing/rating/rating.ts';
import type { Environment } from '../environment.ts';
import { readConfigNaming } from './find-config.ts';
import { type ConfiguredPrices, pricesOf } from './prices-schema.ts';

/** The unit in which a configuration shows amounts; undefined where it says nothing of one. */
export function creditUnitOf({ credits }: ConfiguredPrices): CreditUnit | undefined {
  return credits === undefined ? undefined : { name: credits.name ?? 'credits', perUsd: credits.perUsd };
}

/** The same, for a command that needs nothing else of the configuration. Throws ConfigError, StartError. */
export function readCreditUnit(environment: Environment): CreditUnit | undefined {
  return creditUnitOf(pricesOf(readConfigNaming('perUsd', environment)?.prices));
}
