import { PageHead } from '../../components/page-head.tsx';
import { usePathPart } from '../../components/use-page.ts';
import { Copy } from '../../ui/copy.tsx';
import { CallDetails } from './call-panel.tsx';
import styles from './calls-page.module.css';

/** One call, by any id that names it. */
export function CallPage() {
  const id = usePathPart('id');
  return (
    <>
      <PageHead title={`Call ${id}`}>
        <Copy text={id} label="Copy the id" />
      </PageHead>
      <div className={styles['single']}>
        <CallDetails id={id} />
      </div>
    </>
  );
}
