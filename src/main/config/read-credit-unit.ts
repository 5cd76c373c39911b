import { readFileSync } from 'node:fs';

import type { CreditUnit } from '../../billing/rating/rating.ts';
import type { Environment } from '../environment.ts';
import { findConfigPath } from './find-config.ts';
import { type ConfiguredPrices, pricesOf } from './prices-schema.ts';
import { readConfig } from './read-config.ts';

/** The unit in which a configuration shows amounts; undefined where it says nothing of one. */
export function creditUnitOf({ credits }: ConfiguredPrices): CreditUnit | undefined {
  return credits === undefined ? undefined : { name: credits.name ?? 'credits', perUsd: credits.perUsd };
}

/**
 * The same for a command that needs nothing else of the configuration: one that says nothing of such a unit is not looked at further, because the secrets of upstreams may not be known here.
 * @throws ConfigError, StartError
 */
export function readCreditUnit(environment: Environment): CreditUnit | undefined {
  const file = findConfigPath(environment);
  const text = file === undefined ? '' : readFileSync(file, 'utf8');
  if (file === undefined || !/\bperUsd\b/.test(text)) return undefined;
  return creditUnitOf(pricesOf(readConfig({ text, file, variable: environment.variable }).prices));
}
