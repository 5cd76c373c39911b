import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { quote } from '../../api/equivalents.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { changeOf, emptyDraft, optionsOf } from '../../components/limits/limits-draft.ts';
import { LimitsFields } from '../../components/limits/limits-fields.tsx';
import { useZone } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { CheckField, TextField } from '../../ui/field.tsx';

/** Makes a team, with limits that all its users share. */
export function NewTeamDialog({ onClose }: { readonly onClose: () => void }) {
  const zone = useZone();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [prepaid, setPrepaid] = useState(false);
  const [draft, setDraft] = useState(emptyDraft);
  const limits = changeOf(emptyDraft, draft, zone);
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="New team"
      action="Make the team"
      size="large"
      operation="teams.create"
      input={{ body: { name, ...(prepaid && { prepaid }), ...(Object.keys(limits).length > 0 && { limits }) } }}
      command={`weir teams create ${quote(name || 'NAME')}${prepaid ? ' --prepaid' : ''}${optionsOf(limits)}`}
      forgets={['teams', 'search']}
      disabledBecause={name === '' ? 'A team needs a name.' : undefined}
      onDone={(made) => void navigate({ to: paths.team(made.name) })}
    >
      {(errors) => (
        <>
          <TextField label="Name" value={name} error={errors['name']} required autoFocus onChange={setName} />
          <CheckField
            label="Prepaid"
            help="Calls of its users are paid from its balance, unless a user is prepaid itself."
            checked={prepaid}
            onChange={setPrepaid}
          />
          <LimitsFields draft={draft} onChange={setDraft} errors={errors} />
        </>
      )}
    </ChangeDialog>
  );
}
