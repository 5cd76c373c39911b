import { Link } from '@tanstack/react-router';

import { Empty } from '../ui/notice.tsx';
import styles from './not-found.module.css';

/** An address that names no page. */
export function NotFound() {
  return (
    <main className={styles['page']}>
      <h1>Nothing is here</h1>
      <Empty title="The address names no page, or something that you may not see.">
        The <Link to="/">overview</Link> is a good place to go on. The search at the top finds any id.
      </Empty>
    </main>
  );
}
