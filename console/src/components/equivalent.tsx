import { CodeLine } from '../ui/copy.tsx';
import styles from './equivalent.module.css';

/** The command line, if there is one, and the curl line that do the same as a form. */
export function Equivalent({ command, curl }: { readonly command: string | undefined; readonly curl: string }) {
  return (
    <details className={styles['same']}>
      <summary>The same without this page</summary>
      {command !== undefined && <CodeLine text={command} label="Command" />}
      <CodeLine text={curl} label="curl" />
    </details>
  );
}
