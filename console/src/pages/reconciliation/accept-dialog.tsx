import { useState } from 'react';

import { curlOf } from '../../api/equivalents.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { useChange } from '../../components/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { say } from '../../ui/toasts.tsx';
import type { Detail } from './month-days.ts';

type Props = { readonly found: Detail; readonly version: string | undefined; readonly open: boolean; readonly onClose: () => void };

/** Keeps a note, and accepts the comparison or takes that back. */
export function AcceptDialog(props: Props) {
  const { found, open, onClose } = props;
  return (
    <Dialog open={open} onClose={onClose} title={found.accepted === null ? 'Accept this comparison' : 'Note of this comparison'}>
      {open && <Form {...props} />}
    </Dialog>
  );
}

function Form({ found, version, onClose }: Props) {
  const [note, setNote] = useState(found.note ?? '');
  // The version that the person has seen: another one is somebody else's change.
  const [seen, setSeen] = useState(version);
  const change = useChange('reconciliations.update', ['reconciliations']);
  const isStale = change.problem?.code === 'version_mismatch';
  const inputFor = (accepted: boolean | undefined) => ({
    params: { id: found.id },
    body: { note: note === '' ? null : note, ...(accepted !== undefined && { accepted }) },
    version: seen,
  });
  const keep = async (accepted: boolean | undefined): Promise<void> => {
    if ((await change.run(inputFor(accepted))) === undefined) return;
    say(accepted === undefined ? 'The note is kept' : accepted ? 'The comparison is accepted' : 'It is open again');
    onClose();
  };
  const wanted = found.accepted === null ? true : undefined;
  return (
    <>
      <p>
        {found.accepted === null
          ? 'The differences stay as they are, and the days count as reconciled. The audit log says who accepted them.'
          : `Accepted by ${found.accepted.by}.`}
      </p>
      <TextField label="Note" value={note} lines={3} placeholder="Credit note 77 settles it" onChange={setNote} />
      {isStale && (
        <Notice
          tone="warning"
          action={
            <Button
              onClick={() => {
                setSeen(change.problem?.version ?? '*');
                change.clear();
              }}
            >
              Go on all the same
            </Button>
          }
        >
          Somebody else changed it meanwhile: their note is “{found.note ?? ''}”
          {found.accepted !== null && `, accepted by ${found.accepted.by}`}.
        </Notice>
      )}
      {change.problem !== undefined && !isStale && <Failure error={change.problem} />}
      <div>
        <Button kind="main" busy={change.busy} onClick={() => void keep(wanted)}>
          {found.accepted === null ? 'Accept' : 'Keep the note'}
        </Button>{' '}
        {found.accepted === null ? (
          <Button busy={change.busy} onClick={() => void keep(undefined)}>
            Only keep the note
          </Button>
        ) : (
          <Button busy={change.busy} onClick={() => void keep(false)}>
            Open it again
          </Button>
        )}
      </div>
      <Equivalent
        command="# the console keeps notes and acceptances"
        curl={curlOf(location.origin, 'reconciliations.update', inputFor(wanted))}
      />
    </>
  );
}
