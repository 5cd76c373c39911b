import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Receipt } from '../../../src/billing/receipts/receipt.ts';
import { Amount } from '../components/amount.tsx';
import { countOf, showCount, showDuration } from '../format/numbers.ts';
import { paths } from '../paths.ts';
import { Panel } from '../ui/panel.tsx';
import { State } from '../ui/state.tsx';
import { recomputeReceipt } from './recompute.ts';
import styles from './receipt-view.module.css';

type Row = Receipt['rows'][number];

/** The arithmetic of a receipt, and whether this page computes the same. */
export function ReceiptView({ receipt }: { readonly receipt: Receipt }) {
  return (
    <Panel title="Receipt" tools={<Proof receipt={receipt} />}>
      {receipt.rows.map((row) => (
        <RowView key={row.id} row={row} isOnly={receipt.rows.length === 1} />
      ))}
      {receipt.rows.length > 1 && (
        <p className={styles['total']}>
          <span>Total of {countOf(receipt.rows.length, 'row')}</span> <Amount money={receipt.total} digits={9} />
        </p>
      )}
    </Panel>
  );
}

function Proof({ receipt }: { readonly receipt: Receipt }) {
  const { data, error } = useQuery({
    queryKey: ['recomputed', receipt.request_id, receipt.digest],
    queryFn: () => recomputeReceipt(receipt),
    staleTime: Infinity,
  });
  if (error !== null) return <State sign="✗" word="cannot be recomputed here" tone="bad" />;
  if (data === undefined) return null;
  if (data.length === 0) return <State sign="✓" word="recomputed here: the same" tone="good" />;
  return (
    <ul className={styles['differences']} role="alert">
      {data.map(({ place, says, computed }) => (
        <li key={place}>
          <State sign="✗" word={`${place} says ${says}, computed ${computed}`} tone="bad" />
        </li>
      ))}
    </ul>
  );
}

function RowView({ row, isOnly }: { readonly row: Row; readonly isOnly: boolean }) {
  return (
    <table className={styles['receipt']}>
      <caption>
        {isOnly ? '' : `${row.kind} · `}
        {row.price.id ?? 'no price'}{' '}
        <small>
          <Link to={paths.priceVersion(row.price.version)}>{row.price.version}</Link>
        </small>
      </caption>
      <tbody>
        {row.lines.map((line, index) => (
          <tr key={`${line.meter} ${index}`}>
            <th scope="row">{line.meter.replaceAll('_', ' ')}</th>
            <td>
              {showCount(line.quantity)} × ${line.unit_price_usd} / {showCount(line.per)}
              {Object.entries(line.multipliers).map(([name, factor]) => (
                <span key={name} title={name}>
                  {' '}
                  × {factor} <small>{name}</small>
                </span>
              ))}
              {line.formula !== null && <small> {line.formula}</small>}
            </td>
            <td className={styles['amount']}>${line.amount_usd}</td>
          </tr>
        ))}
        {row.lines.length === 0 && (
          <tr>
            <td colSpan={3}>No charge.</td>
          </tr>
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Sum</th>
          <td>
            ${row.sum_usd} <small>rounded once, half up</small>
          </td>
          <td className={styles['amount']}>
            <Amount money={row.amount} digits={9} estimated={row.estimated} />
          </td>
        </tr>
        {row.held !== null && (
          <tr>
            <th scope="row">Held at most</th>
            <td />
            <td className={styles['amount']}>
              <Amount money={row.held} />
            </td>
          </tr>
        )}
      </tfoot>
    </table>
  );
}

/** The road of a call: earlier attempts, the first content, and the end. */
export function Timeline({ row }: { readonly row: Row }) {
  const { first_byte_ms: first, duration_ms: duration } = row.timings;
  const share = (ms: number): number => (duration === 0 ? 0 : Math.min(100, (ms / duration) * 100));
  return (
    <Panel title="Timeline">
      <ol className={styles['timeline']}>
        {row.attempts.map((attempt, index) => (
          <li key={index}>
            <span className={styles['who']}>
              <State sign="✗" word={`${attempt.upstream}/${attempt.upstream_model}`} tone="bad" />
            </span>
            <span>{describeAttempt(attempt)}</span>
          </li>
        ))}
        <li>
          <span className={styles['who']}>
            {row.error_code === null ? (
              `${row.upstream}/${row.upstream_model}`
            ) : (
              <State sign="✗" word={`${row.upstream}/${row.upstream_model}`} tone="bad" />
            )}
          </span>
          {row.error_code !== null && <span>{describeError(row)}</span>}
          <span
            className={styles['bar']}
            role="img"
            aria-label={`First content after ${showDuration(first ?? duration)}, end after ${showDuration(duration)}`}
          >
            <span style={{ width: `${share(first ?? duration)}%` }} />
            <span style={{ width: `${100 - share(first ?? duration)}%` }} />
          </span>
          <span className={styles['times']}>
            <span>{first === null ? 'no content' : `${showDuration(first)} to the first content`}</span>
            <span>{showDuration(duration)}</span>
          </span>
        </li>
      </ol>
    </Panel>
  );
}

function describeAttempt({ duration_ms: ms, upstream_request_id: id, ...failed }: Row['attempts'][number]): string {
  return [describeError(failed), `in ${showDuration(ms)}`, ...(id === null ? [] : [id])].join(' · ');
}

function describeError({ error_code: code, upstream_status: status }: Pick<Row, 'error_code' | 'upstream_status'>): string {
  return status === null ? (code ?? '') : `${status} ${code ?? ''}`;
}
