import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { quote } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { exactMoney, type Money, nanosOf } from '../../format/money.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { say } from '../../ui/toasts.tsx';
import { type AccountOwner, commandOf, paramsOf, postingOf, readOwner, readUsd } from './account-owner.ts';
import styles from './credits-page.module.css';
import { OwnerField, useFirstOwner } from './owner-field.tsx';

const kinds = {
  top_up: { text: 'a payment', verb: 'top-up', against: 'deposits' },
  grant: { text: 'a gift', verb: 'grant', against: 'promo' },
  correct: { text: 'a correction', verb: 'correct', against: 'suspense' },
  refund: { text: 'the refund of a call', verb: 'refund', against: 'revenue' },
} as const;
type Kind = keyof typeof kinds;
const accounts = ['suspense', 'revenue', 'deposits', 'promo', 'write_off'] as const;
type Against = (typeof accounts)[number];

/** One form for all postings. It shows the balance after it and both sides before it is sent. */
export function PostingDialog({ onClose }: { readonly onClose: () => void }) {
  const [search] = useAddress();
  const first = useFirstOwner().owner ?? '';
  const [kind, setKind] = useState<Kind>('top_up');
  const [chosen, setChosen] = useState(one(search, 'account') ?? '');
  const account = chosen === '' ? first : chosen;
  const owner = readOwner(account) ?? { level: 'organization' };
  const shared = { onKind: setKind, onClose };
  if (kind === 'refund') return <RefundForm {...shared} kind={kind} />;
  return <PostingForm {...shared} kind={kind} owner={owner} chosen={account} onOwner={setChosen} />;
}

type Shared<Of extends Kind> = { readonly kind: Of; readonly onKind: (kind: Kind) => void; readonly onClose: () => void };

function KindField({ kind, onKind }: { readonly kind: Kind; readonly onKind: (kind: Kind) => void }) {
  const options = (Object.keys(kinds) as Kind[]).map((value) => ({ value, text: kinds[value].text }));
  return <SelectField label="What is booked" value={kind} options={options} onChange={onKind} />;
}

type FormProps = Shared<Exclude<Kind, 'refund'>> & {
  readonly owner: AccountOwner;
  readonly chosen: string;
  readonly onOwner: (value: string) => void;
};

function PostingForm({ kind, onKind, onClose, owner, chosen, onOwner }: FormProps) {
  const [usd, setUsd] = useState('');
  const [reference, setReference] = useState('');
  const [note, setNote] = useState('');
  const [other, setOther] = useState<Against>('suspense');
  const against = kind === 'correct' ? other : kinds[kind].against;
  const sent = usd.trim().replace('−', '-');
  const body = { kind, usd: sent, reference, ...(note !== '' && { note }), ...(kind === 'correct' && { against }) };
  const options = `${reference === '' ? '' : ` --reference ${quote(reference)}`}${note === '' ? '' : ` --note ${quote(note)}`}${kind === 'correct' ? ` --against ${against}` : ''}`;
  const amount = readUsd(usd);
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="Book a payment or correction"
      action={amount === undefined ? 'Book it' : `Book ${exactMoney(amount)}`}
      operation={postingOf(owner)}
      input={{ params: paramsOf(owner), body }}
      command={`${commandOf(owner, kinds[kind].verb)}${options} -- ${quote(sent || 'USD')}`}
      forgets={['credits', 'standing', 'users', 'teams', 'organization', 'audit']}
      disabledBecause={
        amount === undefined ? 'An amount such as 25 or 0.5 is missing.' : reference === '' ? 'A reference is missing.' : undefined
      }
      onDone={(done) =>
        say(
          done.repeated ? 'This reference was booked before: nothing was booked now' : `${exactMoney(nanosOf(done.amount))} is booked`,
          `The balance is ${exactMoney(nanosOf(done.balance))}.`,
        )
      }
    >
      {(errors) => (
        <>
          <KindField kind={kind} onKind={onKind} />
          <OwnerField value={chosen} onChange={onOwner} />
          <TextField
            label="Amount (USD)"
            inputMode="decimal"
            value={usd}
            error={errors['usd']}
            help={kind === 'correct' ? 'Negative to reduce the balance.' : undefined}
            required
            onChange={setUsd}
          />
          <TextField
            label="Reference"
            help="Your id of the payment. Booked twice with the same reference, it counts once."
            value={reference}
            error={errors['reference']}
            required
            onChange={setReference}
          />
          <TextField label="Note" value={note} error={errors['note']} onChange={setNote} />
          {kind === 'correct' && (
            <SelectField label="Other side" value={other} options={accounts.map((value) => ({ value, text: value }))} onChange={setOther} />
          )}
          <Sides owner={owner} amount={amount} against={against} />
        </>
      )}
    </ChangeDialog>
  );
}

/** Both sides of a posting, and the balance after it. */
function Sides({
  owner,
  amount,
  against,
}: {
  readonly owner: AccountOwner;
  readonly amount: bigint | undefined;
  readonly against: string;
}) {
  const { data } = useQuery(question('credits.balances', { query: {} }));
  const row = data?.items.find(
    ({ level, user, team }) =>
      level === owner.level && (owner.level === 'organization' || (owner.level === 'user' ? user : team) === owner.name),
  );
  const before = data === undefined ? undefined : row === undefined ? 0n : nanosOf(row.balance);
  const name = owner.level === 'organization' ? 'the organization' : owner.name;
  const show = (nanos: bigint | undefined): string => (nanos === undefined ? '—' : exactMoney(nanos));
  return (
    <div className={styles['sides']} role="group" aria-label="Both sides of the posting">
      <p>
        <span>{name}</span>
        <span>{show(amount)}</span>
      </p>
      <p>
        <span>{against}</span>
        <span>{show(amount === undefined ? undefined : -amount)}</span>
      </p>
      <p>
        <span>Balance of {name} now</span>
        <span>{show(before)}</span>
      </p>
      <p>
        <b>Balance after it</b>
        <b>{show(before === undefined || amount === undefined ? undefined : before + amount)}</b>
      </p>
    </div>
  );
}

function RefundForm({ kind, onKind, onClose }: Shared<'refund'>) {
  const [call, setCall] = useState('');
  const [note, setNote] = useState('');
  const found = useQuery({ ...question('calls.get', { params: { id: call.trim() } }), enabled: call.trim().length > 8, retry: false });
  const receipt = found.data?.receipt as { readonly amount?: Money } | undefined;
  const amount = receipt?.amount === undefined ? undefined : nanosOf(receipt.amount);
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title="Refund a call"
      action="Refund it"
      operation="credits.refund"
      input={{ params: { id: call.trim() }, body: note === '' ? {} : { note } }}
      command={`weir credits refund ${quote(call.trim() || 'CALL')}${note === '' ? '' : ` --note ${quote(note)}`}`}
      forgets={['credits', 'standing', 'users', 'teams', 'audit']}
      disabledBecause={call.trim() === '' ? 'The id of a call is missing.' : undefined}
      onDone={(done) => say(done.repeated ? 'It was refunded before' : `${exactMoney(nanosOf(done.amount))} is refunded`)}
    >
      {() => (
        <>
          <KindField kind={kind} onKind={onKind} />
          <TextField label="Id of the call" mono value={call} placeholder="req_…" required onChange={setCall} />
          <TextField label="Note" value={note} onChange={setNote} />
          <p>
            {amount === undefined
              ? 'What the call cost goes back to the balance that paid, once. Statistics and spend limits keep the call.'
              : `${exactMoney(amount)} goes back from revenue to the balance that paid. Statistics and spend limits keep the call.`}
          </p>
        </>
      )}
    </ChangeDialog>
  );
}
