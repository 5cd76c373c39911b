import type { ApiProblem } from '../../api/problem.ts';
import { Failure } from '../../components/failure.tsx';
import { Notice } from '../../ui/notice.tsx';
import { lineOfProblem } from './line-of-pointer.ts';
import styles from './prices-page.module.css';

type Props = { readonly problem: ApiProblem; readonly text: string; readonly onLine?: (line: number) => void };

/** What is wrong with prices, each at its line of the text. Other refusals are shown as they are. */
export function BookProblems({ problem, text, onLine }: Props) {
  const { errors = [], detail } = problem.body;
  if (problem.code !== 'invalid_request' || errors.length === 0) return <Failure error={problem} />;
  return (
    <Notice tone="bad">
      <p>{detail}</p>
      <ul className={styles['problems']}>
        {errors.map((error) => {
          const line = lineOfProblem(text, error);
          return (
            <li key={`${error.pointer}${error.detail}`}>
              {line !== undefined &&
                (onLine === undefined ? (
                  <b>Line {line}: </b>
                ) : (
                  <button type="button" onClick={() => onLine(line)}>
                    Line {line}
                  </button>
                ))}{' '}
              {error.detail}
            </li>
          );
        })}
      </ul>
    </Notice>
  );
}
