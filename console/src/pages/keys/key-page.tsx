import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { lacks } from '../../api/sign-in.ts';
import { versionedQuestion } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useChange } from '../../components/use-change.ts';
import { useMinute, usePathPart, useSession, useZone } from '../../components/use-page.ts';
import { showAgo, showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { say } from '../../ui/toasts.tsx';
import { describeLimits, type Key, keyStates } from './key-words.ts';
import styles from './key-page.module.css';

/** One key: its limits, its use, and what can be done with it. */
export function KeyPage() {
  const id = usePathPart('id');
  const {
    data: { body: key, version },
  } = useSuspenseQuery(versionedQuestion('keys.get', { params: { id } }));
  return (
    <>
      <PageHead title={`${key.user}/${key.name}`}>
        <Actions apiKey={key} version={version} />
      </PageHead>
      <div className={styles['columns']}>
        <Details apiKey={key} />
        <Panel title="What it did">
          <p className={styles['links']}>
            <Link to={paths.usage} search={{ key_id: key.id, by: 'model', r: '30d' }}>
              Usage of 30 days
            </Link>
            <Link to={paths.calls} search={{ key_id: key.id }}>
              Calls
            </Link>
            <Link to={paths.calls} search={{ key_id: key.id, tab: 'refused' }}>
              Refused requests
            </Link>
          </p>
        </Panel>
      </div>
    </>
  );
}

function Details({ apiKey: key }: { readonly apiKey: Key }) {
  const zone = useZone();
  const nowMs = useMinute();
  const when = (at: string | null, never: string): string => (at === null ? never : `${showMinute(at, zone)}, ${showAgo(at, nowMs)}`);
  const tags = Object.entries(key.tags).map(([name, value]) => `${name}=${value}`);
  return (
    <Panel title="Key">
      <Facts
        rows={[
          ['State', <State key="state" {...keyStates[key.state]} />],
          ['Id', <code key="id">{key.id}</code>],
          ['Secret ends in', key.issuer === null ? <code key="end">…{key.ends_in}</code> : `tokens of ${key.issuer}`],
          [
            'User',
            <Link key="user" to={paths.calls} search={{ user: key.user }}>
              {key.user}
            </Link>,
          ],
          ['Team', key.team ?? '—'],
          ['Limits of the key', describeLimits(key.limits)],
          ['Expires', when(key.limits.expires_at, 'never')],
          ['Made', when(key.created_at, '—')],
          ['Last used', when(key.last_used_at, 'never')],
          ...(key.previous_until === null ? [] : ([['Old secret works until', when(key.previous_until, '—')]] as const)),
          ['Tags', tags.length === 0 ? '—' : tags.join(', ')],
          ['Translation', key.strict_translation ? 'strict: what cannot be translated is refused' : 'as configured'],
        ]}
      />
    </Panel>
  );
}

function Actions({ apiKey: key, version }: { readonly apiKey: Key; readonly version: string | undefined }) {
  const refused = lacks(useSession(), 'keys:write');
  const [asked, setAsked] = useState<'rotate' | 'delete'>();
  const change = useChange('keys.update', ['keys']);
  const isDisabled = key.state === 'disabled';
  return (
    <>
      <Button
        busy={change.busy}
        disabledBecause={refused}
        onClick={() =>
          void change
            .run({ params: { id: key.id }, body: { disabled: !isDisabled }, version })
            .then(
              (changed) =>
                changed !== undefined &&
                say(isDisabled ? 'The key works again' : 'The key is disabled', 'Running calls go on; new ones are refused.'),
            )
        }
      >
        {isDisabled ? 'Enable' : 'Disable'}
      </Button>
      <Button
        icon="refresh"
        disabledBecause={refused ?? (key.issuer === null ? undefined : 'The issuer of its tokens rotates them.')}
        onClick={() => setAsked('rotate')}
      >
        Rotate
      </Button>
      <Button kind="danger" icon="trash" disabledBecause={refused} onClick={() => setAsked('delete')}>
        Delete
      </Button>
      {change.problem !== undefined && <Failure error={change.problem} />}
      <Rotation apiKey={key} open={asked === 'rotate'} onClose={() => setAsked(undefined)} />
      <Deletion apiKey={key} version={version} open={asked === 'delete'} onClose={() => setAsked(undefined)} />
    </>
  );
}

type DialogProps = { readonly apiKey: Key; readonly open: boolean; readonly onClose: () => void };

const overlaps = [
  { value: '0', text: 'at once' },
  { value: '3600', text: 'in an hour' },
  { value: '86400', text: 'in a day' },
  { value: '604800', text: 'in a week' },
];

function Rotation({ apiKey: key, open, onClose }: DialogProps) {
  const [overlap, setOverlap] = useState('86400');
  const [secret, setSecret] = useState<string>();
  const change = useChange('keys.rotate', ['keys']);
  const rotate = async (): Promise<void> => {
    const rotated = await change.run({ params: { id: key.id }, body: { overlap_s: Number(overlap) } });
    if (rotated === undefined) return;
    onClose();
    setSecret(rotated.body.secret);
  };
  return (
    <>
      <Dialog
        open={open}
        onClose={onClose}
        title={`Rotate ${key.user}/${key.name}`}
        actions={
          <Button kind="main" busy={change.busy} onClick={() => void rotate()}>
            Make a new secret
          </Button>
        }
      >
        <p>The key gets a new secret. Limits, tags and usage stay.</p>
        <SelectField label="The old secret ends" value={overlap} options={overlaps} onChange={setOverlap} />
        {change.problem !== undefined && <Failure error={change.problem} />}
      </Dialog>
      <SecretDialog title={`New secret of ${key.user}/${key.name}`} secret={secret} onStored={() => setSecret(undefined)} />
    </>
  );
}

function Deletion({ apiKey: key, version, open, onClose }: DialogProps & { readonly version: string | undefined }) {
  const navigate = useNavigate();
  const change = useChange('keys.delete', ['keys.list', 'search']);
  const remove = async (): Promise<void> => {
    if ((await change.run({ params: { id: key.id }, version })) === undefined) return;
    say(`${key.user}/${key.name} is deleted`);
    void navigate({ to: paths.keys });
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Delete ${key.user}/${key.name}?`}
      actions={
        <Button kind="danger" busy={change.busy} onClick={() => void remove()}>
          Delete the key
        </Button>
      }
    >
      <p>Programs that use it are refused from now on. This cannot be undone. Its calls and their costs stay in the books.</p>
      {change.problem !== undefined && <Failure error={change.problem} />}
    </Dialog>
  );
}
