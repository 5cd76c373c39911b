import { showUsd } from '../format/money.ts';
import styles from './price.module.css';

/** The decimals of the longest price of a column, at least two. */
export function priceDigits(prices: readonly string[]): number {
  return Math.max(2, ...prices.map((price) => price.split('.')[1]?.length ?? 0));
}

/** A price in a column: with two decimals or more, and room for those that others have, so that the points align. */
export function Price({ usd, digits }: { readonly usd: string; readonly digits: number }) {
  const [whole = '', fraction = ''] = usd.split('.');
  const shown = fraction.padEnd(2, '0');
  return (
    <span>
      {showUsd(`${whole}.${shown}`)}
      {shown.length < digits && (
        <span className={styles['room']} aria-hidden="true">
          {'0'.repeat(digits - shown.length)}
        </span>
      )}
    </span>
  );
}
