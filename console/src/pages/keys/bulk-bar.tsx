import { useState } from 'react';

import type { Body, Reply } from '../../api/client.ts';
import { quote } from '../../api/equivalents.ts';
import { may } from '../../api/sign-in.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { changeOf, emptyDraft, optionsOf } from '../../components/limits/limits-draft.ts';
import { LimitsFields } from '../../components/limits/limits-fields.tsx';
import { useSession, useZone } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { say } from '../../ui/toasts.tsx';
import type { Key } from './key-words.ts';
import styles from './keys-page.module.css';

/** The API changes at most so many keys at once. */
const batchMax = 200;

type Props = { readonly keys: readonly Key[]; readonly onDone: () => void };
type Asked = 'disable' | 'enable' | 'expire' | 'limit';

/** What can be done with the chosen keys together. */
export function BulkBar({ keys, onDone }: Props) {
  const mayLimit = may(useSession(), 'limits:write');
  const [asked, setAsked] = useState<Asked>();
  const tooMany = keys.length > batchMax ? `At most ${batchMax} keys can be changed at once.` : undefined;
  const button = (name: Asked, text: string) => (
    <Button disabledBecause={tooMany} onClick={() => setAsked(name)}>
      {text}
    </Button>
  );
  return (
    <div className={styles['bulk']} role="group" aria-label="Chosen keys">
      <p role="status">{keys.length === 1 ? '1 key is chosen' : `${keys.length} keys are chosen`}</p>
      {button('disable', 'Disable')}
      {button('enable', 'Enable')}
      {mayLimit && button('expire', 'Let them expire')}
      {mayLimit && button('limit', 'Limit')}
      <Button kind="quiet" onClick={onDone}>
        Choose none
      </Button>
      {asked !== undefined && <BulkDialog asked={asked} keys={keys} onClose={() => setAsked(undefined)} onDone={onDone} />}
    </div>
  );
}

const words = {
  disable: { title: 'Disable', action: 'Disable them', text: 'New calls are refused within a second; calls under way are finished.' },
  enable: { title: 'Enable', action: 'Enable them', text: 'They may call again within a second.' },
  expire: { title: 'End of', action: 'Set the end', text: 'From this time on their calls are refused. An empty field takes the end away.' },
  limit: { title: 'Limits of', action: 'Set the limits', text: 'Only the fields that you fill are set; other limits of each key stay.' },
} as const;

function BulkDialog({ asked, keys, onClose, onDone }: Props & { readonly asked: Asked; readonly onClose: () => void }) {
  const zone = useZone();
  const [draft, setDraft] = useState(emptyDraft);
  const { title, action, text } = words[asked];
  const change = asked === 'expire' && draft.expires_at === '' ? { expires_at: null } : changeOf(emptyDraft, draft, zone);
  const isSwitch = asked === 'disable' || asked === 'enable';
  const body: Body<'keys.batch'> = {
    ids: keys.map(({ id }) => id),
    ...(isSwitch ? { disabled: asked === 'disable' } : { limits: change }),
  };
  const names = keys.map((key) => quote(`${key.user}/${key.name}`)).join(' ');
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={`${title} ${keys.length === 1 ? 'the chosen key' : `${keys.length} keys`}`}
      action={action}
      danger={asked === 'disable'}
      size={asked === 'limit' ? 'large' : 'small'}
      operation="keys.batch"
      input={{ body }}
      command={isSwitch ? `weir keys ${asked} ${names}` : `weir keys update ${names}${optionsOf(change)}`}
      forgets={['keys', 'standing', 'audit']}
      disabledBecause={asked === 'limit' && Object.keys(change).length === 0 ? 'No limit is filled in.' : undefined}
      onDone={(reply) => {
        sayResult(reply);
        onDone();
      }}
    >
      {(errors) => (
        <>
          <p>{text}</p>
          <p className="figures">{keys.map((key) => `${key.user}/${key.name}`).join(', ')}</p>
          {asked === 'expire' && (
            <TextField
              label={`Expires (${zone})`}
              type="datetime-local"
              value={draft.expires_at}
              error={errors['limits.expires_at']}
              onChange={(value) => setDraft({ ...emptyDraft, expires_at: value })}
            />
          )}
          {asked === 'limit' && <LimitsFields draft={draft} onChange={setDraft} errors={errors} />}
        </>
      )}
    </ChangeDialog>
  );
}

/** Each key has its own result: says how many were changed, and how many were not. */
function sayResult({ results }: Reply<'keys.batch'>): void {
  const changed = results.filter(({ outcome }) => outcome === 'changed').length;
  const rest = results.length - changed;
  say(`${changed} of ${results.length} keys are changed`, rest === 0 ? undefined : `${rest} are gone or could not be changed.`);
}
