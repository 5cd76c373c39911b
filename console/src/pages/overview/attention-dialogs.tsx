import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { quote } from '../../api/equivalents.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { useZone } from '../../components/use-page.ts';
import { instantIn, showDay } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { TextField } from '../../ui/field.tsx';
import { say } from '../../ui/toasts.tsx';
import type { OfferedChange } from './attention-offers.ts';
import { countOf, showCount } from '../../format/numbers.ts';

type Props<Name extends OfferedChange['name']> = {
  readonly change: Extract<OfferedChange, { readonly name: Name }>;
  readonly onClose: () => void;
};

/** The dialog of a change that the list of problems offers. */
export function AttentionDialog({ change, onClose }: { readonly change: OfferedChange; readonly onClose: () => void }) {
  switch (change.name) {
    case 'check':
      return <CheckDialog change={change} onClose={onClose} />;
    case 'extend':
      return <ExtendDialog change={change} onClose={onClose} />;
    case 'add-up':
      return <AddUpDialog onClose={onClose} />;
    case 'reload':
      return <ReloadDialog onClose={onClose} />;
  }
}

function CheckDialog({ change: { upstream }, onClose }: Props<'check'>) {
  const navigate = useNavigate();
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`Check ${upstream}`}
      action="Check it"
      operation="upstreams.check"
      input={{ params: { name: upstream }, body: { may_call: false } }}
      command={`weir upstreams check ${quote(upstream)} --no-calls`}
      forgets={['operations']}
      onDone={({ id }) => void navigate({ to: paths.upstream(upstream), search: { check: id } })}
    >
      {() => <p>A gateway tests the connection, the certificate and the credential. No call is made that the vendor bills.</p>}
    </ChangeDialog>
  );
}

const dayMs = 86_400_000;
const moreDays = 90;

function ExtendDialog({ change: { key }, onClose }: Props<'extend'>) {
  const zone = useZone();
  const [day, setDay] = useState(() => showDay(Date.now() + moreDays * dayMs, zone));
  const ends = /^\d{4}-\d\d-\d\d$/.test(day) ? new Date(instantIn(day, zone)).toISOString() : undefined;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="Give the key more time"
      action="Save"
      operation="keys.update"
      input={{ params: { id: key }, body: { limits: { expires_at: ends ?? null } }, version: '*' }}
      command={`weir keys update ${quote(key)} --expires ${ends ?? 'TIME'}`}
      forgets={['keys', 'overview', 'attention', 'audit']}
      subject={`key:${key}`}
      disabledBecause={ends === undefined ? 'A day is missing.' : undefined}
      onDone={() => say('The key has more time', 'The note goes with the next check of a gateway.')}
    >
      {(errors) => (
        <>
          <p>The key works until the begin of this day. Its secret stays the same.</p>
          <TextField label={`Works until (${zone})`} type="date" value={day} error={errors['limits.expires_at']} onChange={setDay} />
        </>
      )}
    </ChangeDialog>
  );
}

function AddUpDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="Add up the books"
      action="Add up"
      operation="credits.verify"
      input={{}}
      command="weir credits verify"
      forgets={['overview', 'attention']}
      onDone={({ adds_up: addsUp, checked, problem_count: count, problems }) =>
        say(
          addsUp ? 'The books add up' : `The books do not add up: ${countOf(count, 'problem')}`,
          addsUp
            ? `${checked === 1 ? '1 row was' : `${showCount(checked)} rows were`} recomputed.`
            : problems.map(({ account, what }) => `${account ?? '—'}: ${what}`).join('; '),
        )
      }
    >
      {() => <p>Every balance is computed again from its postings. Nothing is changed.</p>}
    </ChangeDialog>
  );
}

function ReloadDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="Reload all gateways?"
      action="Reload"
      operation="config.reload"
      input={{}}
      forgets={['config', 'nodes', 'overview']}
      onDone={({ nodes }) => say(`${nodes.filter((node) => node.has_followed).length} of ${nodes.length} gateways have reloaded`)}
    >
      {() => <p>Every gateway reads its file now. A file with a mistake leaves the present one in force.</p>}
    </ChangeDialog>
  );
}
