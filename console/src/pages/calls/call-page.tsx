import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, usePathPart } from '../../components/use-page.ts';
import { Copy } from '../../ui/copy.tsx';
import { CallDetails } from './call-panel.tsx';
import styles from './calls-page.module.css';
import { RefusalDetails } from './refusal-details.tsx';

/** One call, by any id that names it, or a request that was refused. */
export function CallPage() {
  const id = usePathPart('id');
  const [search] = useAddress();
  const isRefused = one(search, 'tab') === 'refused';
  return (
    <>
      <PageHead title={`${isRefused ? 'Refused request' : 'Call'} ${id}`}>
        <Copy text={id} label="Copy the id" />
      </PageHead>
      <div className={styles['single']}>{isRefused ? <RefusalDetails id={id} /> : <CallDetails id={id} />}</div>
    </>
  );
}
