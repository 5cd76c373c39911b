import { availabilityRows } from './availability-rows.ts';
import type { CardRow } from './card-row.ts';
import { moneyRows } from './money-rows.ts';
import { securityRows } from './security-rows.ts';

/** The promises of the reliability card. */
export const cardRows: readonly CardRow[] = [...moneyRows, ...availabilityRows, ...securityRows];
