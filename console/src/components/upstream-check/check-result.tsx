import { CodeLine } from '../../ui/copy.tsx';
import { State } from '../../ui/state.tsx';
import { type CheckReport, checkTitles, type MatrixRow, quirkOf, remarksOf, verdicts } from './check-words.ts';
import styles from './upstream-check.module.css';

const checks = Object.keys(checkTitles);

/** The doctor's checks of each interface: cells fill as they are done. */
export function CheckMatrix({ rows }: { readonly rows: readonly MatrixRow[] }) {
  if (rows.length === 0) return null;
  return (
    <div className={styles['matrix']} role="group" aria-label="Checks of each interface" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Checks of each interface. A tilde means: streamed.</caption>
        <thead>
          <tr>
            <th scope="col">Interface</th>
            {checks.map((check) => (
              <th key={check} scope="col">
                {checkTitles[check]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.upstream} ${row.model} ${row.dialect}`}>
              <th scope="row">
                {row.title} <code>{row.model}</code>
              </th>
              {checks.map((check) => (
                <td key={check}>
                  <Cell row={row} check={check} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ row, check }: { readonly row: MatrixRow; readonly check: string }) {
  const result = row.results.find((each) => each.check === check);
  if (result === undefined) return <span className="visually-hidden">not yet</span>;
  const { sign, word, tone } = verdicts[result.verdict];
  const took = result.tookMs === undefined ? '' : `, ${Math.round(result.tookMs)} ms`;
  return (
    <span title={`${checkTitles[check] ?? check}: ${result.says ?? word}${took}`}>
      <State sign={sign} word="" tone={tone} />
      <span className="visually-hidden">{word}</span>
    </span>
  );
}

/** What is not good in a matrix, with what settles it. */
export function Remarks({ matrix }: { readonly matrix: readonly MatrixRow[] }) {
  const remarks = remarksOf(matrix);
  if (remarks.length === 0) return null;
  return (
    <ul className={styles['steps']} aria-label="What the checks found">
      {remarks.map(({ upstream, verdict, checks: names, rows, says, advice }) => {
        const quirk = quirkOf(advice);
        return (
          <li key={`${upstream} ${verdict} ${says} ${advice}`}>
            <State sign={verdicts[verdict].sign} word={`${names.join(', ')}:`} tone={verdicts[verdict].tone} /> {says}
            {matrix.length > 1 && ` (${rows.join(', ')})`}
            {advice !== undefined && <span className={styles['advice']}>{advice}</span>}
            {quirk !== undefined && <CodeLine label="YAML" text={`upstreams:\n  ${upstream}:\n    quirks: { ${quirk} }`} />}
          </li>
        );
      })}
    </ul>
  );
}

/** The steps before the calls: connection, credential, services. */
export function CheckFindings({ findings }: { readonly findings: CheckReport['findings'] }) {
  if (findings.length === 0) return null;
  const titles = new Set(findings.map(({ title }) => title));
  return (
    <ul className={styles['steps']} aria-label="Connection and credential">
      {findings.map(({ title, verdict, subject, says, advice }, index) => (
        <li key={index}>
          <State sign={verdicts[verdict].sign} word={subject} tone={verdicts[verdict].tone} /> {says}
          {titles.size > 1 && ` (${title})`}
          {advice !== undefined && <span className={styles['advice']}>{advice}</span>}
        </li>
      ))}
    </ul>
  );
}
