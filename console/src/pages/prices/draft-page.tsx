import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { curlOf } from '../../api/equivalents.ts';
import { versionedQuestion } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { useChange } from '../../components/use-change.ts';
import { useAddress, usePathPart, useSession, useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { tabClass, Tabs } from '../../ui/tabs.tsx';
import { say } from '../../ui/toasts.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { DraftDifference } from './draft-difference.tsx';
import { DraftEditor } from './draft-editor.tsx';
import type { DraftProps } from './draft-props.ts';
import { DraftPublication } from './draft-publication.tsx';
import { DraftQuote } from './draft-quote.tsx';
import { DraftStaging } from './draft-staging.tsx';
import styles from './prices-page.module.css';

const steps = [
  { step: '1', text: '1 Prices', view: DraftEditor, permission: 'prices:stage' },
  { step: '2', text: '2 Difference', view: DraftDifference, permission: 'prices:stage' },
  { step: '3', text: '3 Who pays what', view: DraftStaging, permission: 'prices:stage' },
  { step: '4', text: '4 Publish', view: DraftPublication, permission: 'prices:publish' },
  { step: 'call', text: 'One call', view: DraftQuote, permission: 'prices:stage' },
] as const;

/** A draft, from its prices to their publication. */
export function PriceDraftPage() {
  const id = usePathPart('id');
  const session = useSession();
  const zone = useZone();
  const [search, change] = useAddress();
  const [isDeleting, setIsDeleting] = useState(false);
  const {
    data: { body: draft, version },
  } = useSuspenseQuery(versionedQuestion('price_drafts.get', { params: { id } }));
  const shown = steps.filter(({ permission }) => may(session, permission));
  const open = shown.find(({ step }) => step === one(search, 'step')) ?? steps[0];
  useKeys(Object.fromEntries(shown.filter(({ step }) => step.length === 1).map(({ step }) => [step, () => change({ step })])));
  return (
    <>
      <PageHead title={`Draft “${draft.name}”`}>
        <Button kind="danger" icon="trash" onClick={() => setIsDeleting(true)}>
          Delete
        </Button>
      </PageHead>
      <p className={styles['layers']}>
        <Link to={paths.prices} search={{ tab: 'drafts' }}>
          All drafts
        </Link>
        <span>
          {draft.actor}, changed {showMinute(draft.changed_at, zone)}
        </span>
        {draft.note !== null && <span>{draft.note}</span>}
        <span>It charges nothing until it is published.</span>
      </p>
      <Tabs label="Steps">
        {shown.map(({ step, text }) => (
          <Link
            key={step}
            to="."
            search={{ ...search, step }}
            className={tabClass}
            aria-current={step === open.step ? 'page' : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {text}
          </Link>
        ))}
      </Tabs>
      <open.view key={`${draft.id} ${open.step}`} draft={draft} version={version} />
      {!may(session, 'prices:publish') && (
        <p className={styles['muted']}>Your role does not publish. An operator opens this address and publishes the draft.</p>
      )}
      <Deletion draft={draft} version={version} open={isDeleting} onClose={() => setIsDeleting(false)} />
    </>
  );
}

function Deletion({ draft, version, open, onClose }: DraftProps & { readonly open: boolean; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const change = useChange('price_drafts.delete', ['price_drafts.list']);
  const input = { params: { id: draft.id }, version };
  const remove = async (): Promise<void> => {
    if ((await change.run(input)) === undefined) return;
    say(`The draft “${draft.name}” is deleted`);
    void navigate({ to: paths.prices, search: { tab: 'drafts' } });
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Delete the draft “${draft.name}”?`}
      actions={
        <Button kind="danger" busy={change.busy} onClick={() => void remove()}>
          Delete the draft
        </Button>
      }
    >
      <p>Its prices are gone, and this cannot be undone. Published books and charges do not change.</p>
      {change.problem !== undefined && <Failure error={change.problem} />}
      <Equivalent command="# a draft belongs to the console" curl={curlOf(location.origin, 'price_drafts.delete', input)} />
    </Dialog>
  );
}
