import { useState } from 'react';

import { Amount } from '../../components/amount.tsx';
import { useAddress } from '../../components/use-page.ts';
import { isBound, paidKey, type Payer } from '../../playground/payer.ts';
import { ChoiceField } from '../../ui/field.tsx';
import { boundDefault } from './use-playground.ts';
import styles from './playground-page.module.css';

type Props = {
  readonly users: readonly string[];
  readonly isWhole: boolean;
  readonly find: (text: string) => void;
  readonly payer: Payer;
};

/** Who pays for the calls of this page, at most how much, and what they have cost so far. */
export function PayerBar({ users, isWhole, find, payer }: Props) {
  const [, change] = useAddress();
  const key = paidKey.use();
  const isPresent = key?.user === payer.user && key.mostUsd === payer.mostUsd;
  return (
    <div className={styles['payer']}>
      {users.length > 1 || !isWhole ? (
        <ChoiceField
          inline
          label="User who pays"
          value={payer.user}
          text={payer.user}
          isWhole={isWhole}
          offered={users.map((user) => ({ value: user, text: user }))}
          onType={find}
          onChange={(user) => change({ user })}
        />
      ) : (
        <span>{payer.user}</span>
      )}
      <span>
        pays <Amount money={isPresent ? key.spent : 0n} /> of at most
      </span>
      <Bound key={payer.mostUsd} mostUsd={payer.mostUsd} onChange={(most) => change({ most: most === boundDefault ? undefined : most })} />
    </div>
  );
}

/** The most that the calls may cost. A new bound is a new key. */
function Bound({ mostUsd, onChange }: { readonly mostUsd: string; readonly onChange: (most: string) => void }) {
  const [text, setText] = useState(mostUsd);
  const take = (): void => {
    if (isBound(text) && text !== mostUsd) onChange(text);
    else setText(mostUsd);
  };
  return (
    <label className={styles['bound']}>
      $
      <input
        aria-label="The most that these calls may cost, in USD"
        inputMode="decimal"

        value={text}
        aria-invalid={!isBound(text) || undefined}
        onChange={(event) => setText(event.target.value)}
        onBlur={take}
        onKeyDown={(event) => event.key === 'Enter' && take()}
      />
    </label>
  );
}
