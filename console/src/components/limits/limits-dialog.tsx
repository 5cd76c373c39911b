import { useState } from 'react';

import type { OperationId } from '../../api/client.ts';
import { ChangeDialog } from '../change-dialog.tsx';
import { useZone } from '../use-page.ts';
import { changeOf, draftOf, type Limits, optionsOf } from './limits-draft.ts';
import { LimitsFields } from './limits-fields.tsx';
import { say } from '../../ui/toasts.tsx';

type Target = Extract<OperationId, 'users.update' | 'teams.update' | 'keys.update' | 'organization.update'>;
type Props = {
  readonly open: boolean;
  readonly onClose: () => void;
  /** Whose limits: `ann`, `the organization`. */
  readonly whose: string;
  readonly limits: Limits;
  readonly operation: Target;
  readonly params: Readonly<Record<string, string>>;
  readonly version: string | undefined;
  readonly subject: string;
  /** The command without its options: `weir users update ann`. */
  readonly command: string;
  readonly forgets: readonly string[];
};

/** The limits of one level, as a form. Only what was changed is sent. */
export function LimitsDialog(props: Props) {
  return props.open ? <Editor {...props} /> : null;
}

function Editor({ open, onClose, whose, limits, operation, params, version, subject, command, forgets }: Props) {
  const zone = useZone();
  // The draft starts from the limits that were shown when the dialog opened, and is compared with them.
  const [start] = useState(() => draftOf(limits, zone));
  const [draft, setDraft] = useState(start);
  const change = changeOf(start, draft, zone);
  const isSame = Object.keys(change).length === 0;
  return (
    <ChangeDialog
      open={open}
      onClose={onClose}
      title={`Limits of ${whose}`}
      action="Set the limits"
      size="large"
      operation={operation}
      input={{ params, version, body: { limits: change } }}
      command={`${command}${optionsOf(change)}`}
      forgets={forgets}
      subject={subject}
      disabledBecause={isSame ? 'Nothing is changed yet.' : undefined}
      onDone={() => say(`The limits of ${whose} are set`, 'Running gateways follow within a second.')}
    >
      {(errors) => <LimitsFields draft={draft} onChange={setDraft} errors={errors} />}
    </ChangeDialog>
  );
}
