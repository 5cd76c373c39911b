import type { CreditUnit } from '../../billing/rating/rating.ts';
import type { Environment } from '../environment.ts';
import { readConfigNaming } from './find-config.ts';
import { type ConfiguredPrices, pricesOf } from './prices-schema.ts';

/** The custom unit of a configuration. */
export function creditUnitOf({ credits }: ConfiguredPrices): CreditUnit | undefined {
  return credits === undefined ? undefined : { name: credits.name ?? 'credits', perUsd: credits.perUsd };
}

/** Reads the custom unit for a command that needs nothing else of the configuration. @throws ConfigError, StartError */
export function readCreditUnit(environment: Environment): CreditUnit | undefined {
  return creditUnitOf(pricesOf(readConfigNaming('perUsd', environment)?.prices));
}
