import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Body, Reply } from '../../api/client.ts';
import { curlOf, quote } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { useModelsHelp } from '../../components/limits/limits-fields.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { useChange } from '../../components/use-change.ts';
import { useSession } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FirstCall } from './first-call.tsx';

type Draft = { readonly user: string; readonly name: string; readonly monthUsd: string; readonly models: string; readonly days: string };

const empty: Draft = { user: '', name: '', monthUsd: '', models: '', days: '' };
const dayMs = 86_400_000;
const offeredMax = 50;
const expiries = [
  { value: '', text: 'never' },
  { value: '7', text: 'in 7 days' },
  { value: '30', text: 'in 30 days' },
  { value: '90', text: 'in 90 days' },
  { value: '365', text: 'in a year' },
];

function bodyOf({ user, name, monthUsd, models, days }: Draft): Body<'keys.create'> {
  const names = models
    .split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '');
  const limits = {
    ...(monthUsd !== '' && { spend_per_month_usd: monthUsd }),
    ...(names.length > 0 && { models: names }),
    ...(days !== '' && { expires_at: new Date(Math.ceil(Date.now() / dayMs) * dayMs + Number(days) * dayMs).toISOString() }),
  };
  return { user, name, ...(Object.keys(limits).length > 0 && { limits }) };
}

function commandOf({ user, name, limits = {} }: Body<'keys.create'>): string {
  const words = [
    'weir keys create',
    quote(user || 'USER'),
    quote(name || 'NAME'),
    ...(limits.spend_per_month_usd == null ? [] : ['--spend-month', quote(limits.spend_per_month_usd)]),
    ...(limits.models == null ? [] : ['--models', quote(limits.models.join(','))]),
    ...(limits.expires_at == null ? [] : ['--expires', quote(limits.expires_at)]),
  ];
  return words.join(' ');
}

/** Makes a key, and shows its secret once, with a line that works. */
export function NewKeyDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [made, setMade] = useState<Reply<'keys.create'>>();
  return (
    <>
      <Dialog open={open} onClose={onClose} title="New key">
        {open && (
          <KeyForm
            onMade={(key) => {
              onClose();
              setMade(key);
            }}
          />
        )}
      </Dialog>
      <SecretDialog
        title={made === undefined ? 'New key' : `Key ${made.user}/${made.name}`}
        secret={made?.secret}
        onStored={() => setMade(undefined)}
      >
        <p>An application uses it as the API key of its SDK, with the address of the gateway as the base address.</p>
        {made !== undefined && <FirstCall made={made} />}
      </SecretDialog>
    </>
  );
}

function KeyForm({ onMade }: { readonly onMade: (key: Reply<'keys.create'>) => void }) {
  // The owner of some users makes keys for those users only.
  const session = useSession();
  const { users: own } = session;
  const [draft, setDraft] = useState({ ...empty, user: own?.[0] ?? '' });
  // The names that fit what is typed: there may be very many.
  const users = useQuery({
    ...question('users.list', { query: { limit: offeredMax, ...(draft.user !== '' && { q: draft.user }) } }),
    enabled: own === null,
    placeholderData: keepPreviousData,
  });
  const change = useChange('keys.create', ['keys', 'users', 'search']);
  const errors = change.problem?.fieldErrors() ?? {};
  const body = bodyOf(draft);
  const set = (name: keyof Draft) => (value: string) => setDraft({ ...draft, [name]: value });
  const isIncomplete = draft.user === '' || draft.name === '';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void change.run({ body }).then((made) => made !== undefined && onMade(made.body));
      }}
    >
      {own === null ? (
        <TextField
          label="User"
          help="Who pays. A new name makes a new user."
          value={draft.user}
          error={errors['user']}
          list={users.data?.items.map(({ name }) => name) ?? []}
          required
          autoFocus
          onChange={set('user')}
        />
      ) : (
        <SelectField
          label="User"
          help="Who pays."
          value={draft.user}
          error={errors['user']}
          options={own.map((user) => ({ value: user, text: user }))}
          onChange={set('user')}
        />
      )}
      <TextField
        label="Name of the key"
        help="What it is for: ci, laptop, chat-app."
        value={draft.name}
        error={errors['name']}
        required
        onChange={set('name')}
      />
      {may(session, 'limits:write') ? (
        <KeyLimits {...{ draft, set, errors, body }} />
      ) : (
        <p>The limits of the user hold for all its keys together.</p>
      )}
      {change.problem !== undefined && <Failure error={change.problem} />}
      <Button kind="main" type="submit" busy={change.busy} disabledBecause={isIncomplete ? 'A key needs a user and a name.' : undefined}>
        Make the key
      </Button>
      <Equivalent command={commandOf(body)} curl={curlOf(location.origin, 'keys.create', { body })} />
    </form>
  );
}

type LimitsProps = {
  readonly draft: Draft;
  readonly set: (name: keyof Draft) => (value: string) => void;
  readonly errors: Readonly<Record<string, string>>;
  readonly body: Body<'keys.create'>;
};

/** The limits of a new key, for those who may set some. */
function KeyLimits({ draft, set, errors, body }: LimitsProps) {
  return (
    <>
      <TextField
        label="Spend a month, at most (USD)"
        inputMode="decimal"
        value={draft.monthUsd}
        error={errors['limits.spend_per_month_usd']}
        placeholder="no limit"
        onChange={set('monthUsd')}
      />
      <TextField
        label="Models"
        help={useModelsHelp(draft.models)}
        value={draft.models}
        error={errors['limits.models']}
        placeholder="all"
        onChange={set('models')}
      />
      <SelectField
        label="Expires"
        value={draft.days}
        options={expiries}
        help={body.limits?.expires_at == null ? undefined : `On ${body.limits.expires_at.slice(0, 10)}, at midnight UTC.`}
        onChange={set('days')}
      />
    </>
  );
}
