import { useState } from 'react';

import type { Receipt } from '../../../../src/billing/receipts/receipt.ts';
import { type Reply, runOperation } from '../../api/client.ts';
import { quote } from '../../api/equivalents.ts';
import { type ApiProblem, toProblem } from '../../api/problem.ts';
import { may } from '../../api/sign-in.ts';
import { Amount } from '../../components/amount.tsx';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { useSession, useZone } from '../../components/use-page.ts';
import { exactMoney, nanosOf } from '../../format/money.ts';
import { showTime } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { say } from '../../ui/toasts.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import styles from './calls-page.module.css';

type Props = { readonly receipt: Receipt; readonly transactions: Reply<'calls.get'>['transactions'] };

/** What can be done about the cost of a call: prove it with the stored prices, or give it back. */
export function CallActions({ receipt, transactions }: Props) {
  const session = useSession();
  const [isRefunding, setIsRefunding] = useState(false);
  const total = nanosOf(receipt.total);
  return (
    <Panel title="Books">
      <p className={styles['links']}>
        <Verification id={receipt.request_id} />
        {may(session, 'credits:write') && (
          <Button icon="undo" disabledBecause={total === 0n ? 'The call cost nothing.' : undefined} onClick={() => setIsRefunding(true)}>
            Refund …
          </Button>
        )}
      </p>
      <Postings transactions={transactions} total={total} />
      <RefundDialog receipt={receipt} open={isRefunding} onClose={() => setIsRefunding(false)} />
    </Panel>
  );
}

/** The postings of the ledger that have the call. Calls that are booked together have one. @param total cost of the call */
function Postings({ transactions, total }: Pick<Props, 'transactions'> & { readonly total: bigint }) {
  const zone = useZone();
  if (transactions.length === 0) return null;
  return (
    <Facts
      rows={transactions.map(({ id, posted_at: at, amount }) => [
        at === null ? 'Posting' : showTime(at, zone),
        <span key={id}>
          <Amount money={amount} digits={9} /> {id.startsWith('usage:') && nanosOf(amount) !== -total && 'with other calls '}
          <code>{id}</code>
        </span>,
      ])}
    />
  );
}

/** Recomputes the receipt on the server, with the prices that it has stored. */
function Verification({ id }: { readonly id: string }) {
  const [found, setFound] = useState<Reply<'receipts.verify'>>();
  const [problem, setProblem] = useState<ApiProblem>();
  const [busy, setBusy] = useState(false);
  const verify = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      setFound((await runOperation('receipts.verify', { params: { id } })).body);
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(false);
    }
  };
  useKeys({ v: () => void verify() });
  return (
    <>
      <Button icon="check" busy={busy} shortcut="v" onClick={() => void verify()}>
        Prices: verify
      </Button>
      {found?.is_right === true && <State sign="✓" word="the stored prices give the same" tone="good" />}
      {found?.is_right === false && (
        <span role="alert">
          {found.problems.map(({ path, problem: what }) => (
            <State key={path} sign="✗" word={`${path}: ${what}`} tone="bad" />
          ))}
        </span>
      )}
      {problem !== undefined && <Failure error={problem} />}
    </>
  );
}

type RefundProps = { readonly receipt: Receipt; readonly open: boolean; readonly onClose: () => void };

function RefundDialog({ receipt, open, onClose }: RefundProps) {
  const [note, setNote] = useState('');
  const { request_id: id, user, key, total } = receipt;
  return (
    <ChangeDialog
      open={open}
      onClose={onClose}
      title={`Refund the call ${id}`}
      action={`Refund ${exactMoney(nanosOf(total))}`}
      operation="credits.refund"
      input={{ params: { id }, body: note === '' ? {} : { note } }}
      command={`weir credits refund ${id}${note === '' ? '' : ` --note ${quote(note)}`}`}
      forgets={['calls', 'credits', 'users', 'teams', 'standing']}
      onDone={({ repeated, level, user: payer, team, amount, balance }) => {
        const whose = payer ?? team ?? 'the organization';
        say(
          repeated ? 'It was refunded before; nothing was posted now' : `${exactMoney(nanosOf(amount))} refunded`,
          `The balance of the ${level}, ${whose}, is ${exactMoney(nanosOf(balance))}.`,
        );
      }}
    >
      {(errors) => (
        <>
          <p>
            The cost of this call of {user}/{key.name} goes back, once, to the balance that paid it. Revenue is less by the same amount. The
            call stays in the statistics and in spend limits.
          </p>
          <Facts
            rows={[
              ['Credit', <Amount key="credit" money={total} digits={9} />],
              ['Against', 'revenue'],
            ]}
          />
          <TextField label="Note" value={note} error={errors['note']} onChange={setNote} />
        </>
      )}
    </ChangeDialog>
  );
}
