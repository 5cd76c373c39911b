import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { quote } from '../../api/equivalents.ts';
import { may } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { ContentDialog } from '../../components/content-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { LimitsDialog } from '../../components/limits/limits-dialog.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useChange } from '../../components/use-change.ts';
import { useSession } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { say } from '../../ui/toasts.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import type { Key } from './key-words.ts';

type Asked = 'rotate' | 'delete' | 'limits' | 'content' | 'disable';
type Props = { readonly apiKey: Key; readonly version: string | undefined };
/** Kinds of answers that a change of a key concerns. */
const forgets = ['keys', 'standing', 'audit'] as const;

/** What can be done with a key, for those who may. */
export function KeyActions({ apiKey: key, version }: Props) {
  const session = useSession();
  const [asked, setAsked] = useState<Asked>();
  const mayWrite = may(session, 'keys:write');
  const mayRotate = mayWrite && key.issuer === null;
  useKeys(mayRotate ? { r: () => setAsked('rotate') } : {});
  if (!mayWrite) return null;
  const close = (): void => setAsked(undefined);
  const whose = `${key.user}/${key.name}`;
  const shared = { params: { id: key.id }, version, subject: `key:${key.id}`, forgets } as const;
  return (
    <>
      {may(session, 'limits:write') && <Button onClick={() => setAsked('limits')}>Limits</Button>}
      <Button onClick={() => setAsked('content')}>Content</Button>
      <Button onClick={() => setAsked('disable')}>{key.state === 'disabled' ? 'Enable' : 'Disable'}</Button>
      <Button
        icon="refresh"
        disabledBecause={key.issuer === null ? undefined : 'The issuer of its tokens rotates them.'}
        onClick={() => setAsked('rotate')}
      >
        Rotate
      </Button>
      <Button kind="danger" icon="trash" onClick={() => setAsked('delete')}>
        Delete
      </Button>
      <LimitsDialog
        open={asked === 'limits'}
        onClose={close}
        whose={whose}
        limits={key.limits}
        operation="keys.update"
        command={`weir keys update ${quote(whose)}`}
        {...shared}
      />
      {asked === 'content' && (
        <ContentDialog
          onClose={close}
          whose={quote(whose)}
          content={key.content}
          otherwise="as its team says"
          operation="keys.update"
          {...shared}
        />
      )}
      {asked === 'disable' && <Switch apiKey={key} version={version} onClose={close} />}
      <Rotation apiKey={key} open={asked === 'rotate'} onClose={close} />
      <Deletion apiKey={key} version={version} open={asked === 'delete'} onClose={close} />
    </>
  );
}

function Switch({ apiKey: key, version, onClose }: Props & { readonly onClose: () => void }) {
  const isDisabled = key.state === 'disabled';
  const whose = `${key.user}/${key.name}`;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`${isDisabled ? 'Enable' : 'Disable'} ${whose}?`}
      action={isDisabled ? 'Enable the key' : 'Disable the key'}
      danger={!isDisabled}
      operation="keys.update"
      input={{ params: { id: key.id }, version, body: { disabled: !isDisabled } }}
      command={`weir keys ${isDisabled ? 'enable' : 'disable'} ${quote(whose)}`}
      forgets={forgets}
      subject={`key:${key.id}`}
      onDone={() => say(isDisabled ? 'The key works again' : 'The key is disabled')}
    >
      {() => (
        <p>
          {isDisabled
            ? 'Programs that use it may call again within a second.'
            : 'New calls are refused within a second; calls under way are finished. It can be enabled again.'}
        </p>
      )}
    </ChangeDialog>
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
