import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';

import type { Body } from '../../api/client.ts';
import { curlOf, quote } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { lacks } from '../../api/sign-in.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { CheckProgress } from '../../components/upstream-check/check-progress.tsx';
import { useChange } from '../../components/use-change.ts';
import { hasEnded, useOperation } from '../../components/use-operation.ts';
import { useAddress, useSession, useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import styles from './upstreams-page.module.css';

/** The doctor for one upstream. The address names the check that is shown, so that it can be shared and opened again. */
export function CheckPanel({ upstream, isNew }: { readonly upstream: string; readonly isNew: boolean }) {
  const session = useSession();
  const refused = lacks(session, 'upstreams:write');
  const [search, change] = useAddress();
  const shown = one(search, 'check');
  const { work, problem } = useOperation(shown);
  return (
    <Panel title="Check">
      <div className={styles['stack']}>
        {refused === undefined ? (
          <CheckForm
            upstream={upstream}
            isNew={isNew && shown === undefined}
            isRunning={work !== undefined && !hasEnded(work)}
            onStarted={(id) => change({ check: id, added: undefined }, isNew)}
          />
        ) : (
          <p className={styles['note']}>{refused}</p>
        )}
        {shown === undefined && refused === undefined && <LastChecks upstream={upstream} onOpen={(id) => change({ check: id })} />}
        {problem !== undefined && <Failure error={problem} />}
        {work !== undefined && <CheckProgress work={work} />}
      </div>
    </Panel>
  );
}

type FormProps = {
  readonly upstream: string;
  readonly isNew: boolean;
  readonly isRunning: boolean;
  readonly onStarted: (id: string) => void;
};

function CheckForm({ upstream, isNew, isRunning, onStarted }: FormProps) {
  const models = useQuery(question('models.list', { query: { upstream, limit: 500 } }));
  const names = [...new Set((models.data?.items ?? []).flatMap(({ targets }) => targets.map(({ model }) => model)))];
  const [mayCall, setMayCall] = useState(true);
  const [model, setModel] = useState('');
  const start = useChange('upstreams.check', ['operations']);
  const begin = (input: Body<'upstreams.check'>): void =>
    void start.run({ params: { name: upstream }, body: input }).then((started) => started !== undefined && onStarted(started.body.id));
  const hasBegun = useRef(false);
  useEffect(() => {
    if (!isNew || hasBegun.current) return;
    hasBegun.current = true;
    // Nobody has agreed to the cost of calls yet.
    begin({ may_call: false });
  });
  const body: Body<'upstreams.check'> = { may_call: mayCall, ...(model !== '' && { model }) };
  const command = `weir upstreams check ${quote(upstream)}${mayCall ? '' : ' --no-calls'}${model === '' ? '' : ` --model ${quote(model)}`}`;
  return (
    <form
      className={styles['stack']}
      onSubmit={(event) => {
        event.preventDefault();
        begin(body);
      }}
    >
      <div className={styles['form']}>
        <TextField
          label="Model at the upstream"
          value={model}
          list={names}
          placeholder="the first one configured, else the cheapest"
          onChange={setModel}
        />
        <CheckField
          label="Make small calls, which the vendor bills"
          help="About ten calls for each interface, of 16 to 160 tokens. Without them, connection and credential are checked."
          checked={mayCall}
          onChange={setMayCall}
        />
      </div>
      <div className={styles['bar']}>
        <Button type="submit" kind="main" busy={start.busy} disabledBecause={isRunning ? 'A check is running.' : undefined}>
          Check now
        </Button>
      </div>
      {start.problem !== undefined && <Failure error={start.problem} />}
      <Equivalent command={command} curl={curlOf(location.origin, 'upstreams.check', { params: { name: upstream }, body })} />
    </form>
  );
}

const listedMax = 3;

function LastChecks({ upstream, onOpen }: { readonly upstream: string; readonly onOpen: (id: string) => void }) {
  const zone = useZone();
  const { data } = useQuery(question('operations.list', { query: { kind: 'upstreams.check', limit: 50 } }));
  const own = (data?.items ?? []).filter(({ input }) => isAbout(input, upstream)).slice(0, listedMax);
  if (own.length === 0) return null;
  return (
    <p className={styles['bar']}>
      Last checks:
      {own.map(({ id, created_at: at }) => (
        <Button key={id} kind="quiet" onClick={() => onOpen(id)}>
          {showMinute(at, zone)}
        </Button>
      ))}
    </p>
  );
}

const isAbout = (input: unknown, upstream: string): boolean =>
  typeof input === 'object' && input !== null && 'upstream' in input && input.upstream === upstream;
