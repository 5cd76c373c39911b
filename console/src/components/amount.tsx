import { columnMoney, exactMoney, type Money, nanosOf, showMoney } from '../format/money.ts';

/** An amount. Its tooltip and its copy have all nine decimals. */
export function Amount({
  money,
  digits,
  estimated = false,
}: {
  readonly money: Money | bigint;
  readonly digits?: number;
  readonly estimated?: boolean;
}) {
  const nanos = typeof money === 'bigint' ? money : nanosOf(money);
  const shown = digits === undefined || nanos === 0n ? showMoney(nanos) : columnMoney(nanos, digits);
  const exact = exactMoney(nanos);
  return (
    <data className="figures" value={exact} title={estimated ? `${exact}, estimated` : exact}>
      {shown}
      {estimated && <span aria-label="estimated"> ≈</span>}
    </data>
  );
}
