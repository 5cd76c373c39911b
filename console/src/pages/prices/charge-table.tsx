import type { Reply } from '../../api/client.ts';
import { Amount } from '../../components/amount.tsx';
import { showCount } from '../../format/numbers.ts';
import { Notice } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import styles from './charge-table.module.css';

type Charge = Reply<'prices.quote'>;

/** The lines of a charge, as a receipt has them. */
export function ChargeTable({ title, charge }: { readonly title: string; readonly charge: Charge }) {
  const { price_id: id, price_version: version, depends_on: dependsOn, lines, amount } = charge;
  return (
    <Panel title={title}>
      {id === null && (
        <Notice tone="warning">Nothing of these counts has a price on this day, so that the call would cost nothing or be refused.</Notice>
      )}
      <table className={styles['charge']}>
        <caption>
          {id ?? 'no price'} <small>{version}</small>
        </caption>
        <tbody>
          {lines.map((line, index) => (
            <tr key={`${line.meter} ${index}`}>
              <th scope="row">{line.meter.replaceAll('_', ' ')}</th>
              <td>
                {showCount(line.quantity)} × ${line.unit_price_usd}
                {line.per !== 1 && <> / {showCount(line.per)}</>}
                {Object.entries(line.multipliers).map(([name, factor]) => (
                  <span key={name}>
                    {' '}
                    × {factor} <small>{name}</small>
                  </span>
                ))}
                {line.formula !== null && <small> {line.formula}</small>}
              </td>
              <td>${line.amount_usd}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Cost</th>
            <td />
            <td>
              <Amount money={amount} digits={9} />
            </td>
          </tr>
        </tfoot>
      </table>
      {dependsOn.length > 0 && (
        <p className={styles['muted']}>
          The price also reads {dependsOn.join(', ')} of the request. Here they are absent; POST /v1/quote prices a whole request.
        </p>
      )}
    </Panel>
  );
}
