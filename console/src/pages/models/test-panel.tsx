import { Link } from '@tanstack/react-router';

import { curlOf, quote } from '../../api/equivalents.ts';
import { lacks } from '../../api/sign-in.ts';
import type { Money } from '../../format/money.ts';
import { Amount } from '../../components/amount.tsx';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { LongWorkLink } from '../../components/long-work-link.tsx';
import { one } from '../../components/search-params.ts';
import { useChange } from '../../components/use-change.ts';
import { hasEnded, type LongWork, useOperation } from '../../components/use-operation.ts';
import { useAddress, useSession } from '../../components/use-page.ts';
import { showDuration } from '../../format/numbers.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State, type StateTone } from '../../ui/state.tsx';
import { interfaceTitles } from './model-words.ts';
import styles from './models-page.module.css';
import { useKeyNames } from './use-keys-list.ts';

/** The outcome of one call, as the operation has it. */
type Tested = {
  readonly interface: string;
  readonly verdict: 'passed' | 'failed' | 'refused' | 'skipped';
  readonly detail: string | null;
  readonly target: string | null;
  readonly maximum: Money | null;
  readonly call_id: string | null;
  readonly first_byte_ms: number | null;
  readonly total_ms: number | null;
  readonly amount: Money | null;
  readonly notes: readonly { readonly kind: string; readonly field: string }[];
};

/** Calls the model once for each interface, with the rights of a key, which pays. The address names key and test. */
export function TestPanel({ name }: { readonly name: string }) {
  const [search, change] = useAddress();
  const keys = useKeyNames();
  const refused = lacks(useSession(), 'upstreams:write');
  const shown = one(search, 'test');
  const key = one(search, 'key') ?? '';
  const keyId = keys.get(key);
  const { work, problem } = useOperation(shown);
  const start = useChange('models.test', ['operations', 'calls']);
  const body = { key_id: keyId ?? '<key>' };
  const isRunning = work !== undefined && !hasEnded(work);
  const missing = keyId === undefined ? 'Choose a key above: it pays for the calls.' : undefined;
  return (
    <Panel title="Test">
      <div className={styles['stack']}>
        <p className={styles['note']}>
          One call for each interface, of a few words, with the rights of the key above. The calls are real: the key pays, and they are in
          its books.
        </p>
        {refused === undefined ? (
          <div className={styles['bar']}>
            <Button
              kind="main"
              busy={start.busy || isRunning}
              disabledBecause={missing}
              onClick={() =>
                void start.run({ params: { name }, body }).then((started) => started !== undefined && change({ test: started.body.id }))
              }
            >
              Test now
            </Button>
          </div>
        ) : (
          <p className={styles['note']}>{refused}</p>
        )}
        {start.problem !== undefined && <Failure error={start.problem} />}
        {problem !== undefined && <Failure error={problem} />}
        {work !== undefined && <Outcome work={work} />}
        <Equivalent
          command={`weir models test ${quote(name)} --key ${key === '' ? '<user/name>' : quote(key)}`}
          curl={curlOf(location.origin, 'models.test', { params: { name }, body })}
        />
      </div>
    </Panel>
  );
}

const callsOf = (value: unknown): readonly Tested[] =>
  typeof value === 'object' && value !== null && 'calls' in value && Array.isArray(value.calls) ? (value.calls as readonly Tested[]) : [];

const verdicts: Readonly<Record<Tested['verdict'], { readonly sign: string; readonly word: string; readonly tone: StateTone }>> = {
  passed: { sign: '✓', word: 'answered', tone: 'good' },
  failed: { sign: '✗', word: 'failed', tone: 'bad' },
  refused: { sign: '✗', word: 'refused', tone: 'bad' },
  skipped: { sign: '–', word: 'not called', tone: 'muted' },
};

const columns: readonly Column<Tested>[] = [
  { id: 'interface', title: 'Interface', render: (each) => interfaceTitles[each.interface] ?? each.interface },
  { id: 'verdict', title: 'Result', render: ({ verdict }) => <State {...verdicts[verdict]} /> },
  { id: 'most', title: 'At most', figures: true, priority: 3, render: ({ maximum }) => maximum !== null && <Amount money={maximum} /> },
  { id: 'amount', title: 'Cost', figures: true, priority: 2, render: ({ amount }) => amount !== null && <Amount money={amount} /> },
  {
    id: 'first',
    title: 'First byte',
    figures: true,
    priority: 2,
    render: ({ first_byte_ms: ms }) => (ms === null ? '' : showDuration(ms)),
  },
  { id: 'total', title: 'Total', figures: true, priority: 3, render: ({ total_ms: ms }) => (ms === null ? '' : showDuration(ms)) },
  {
    id: 'notes',
    title: 'Changes, or the problem',
    priority: 2,
    render: ({ detail, notes }) => detail ?? notes.map(({ kind, field }) => `${kind} ${field}`).join(', '),
  },
  { id: 'call', title: 'Call', priority: 3, render: ({ call_id: id }) => id !== null && <Link to={paths.call(id)}>receipt</Link> },
];

function Outcome({ work }: { readonly work: LongWork }) {
  const calls = callsOf(work.result ?? work.progress?.partial);
  return (
    <>
      <p role="status">
        {hasEnded(work) ? `Ended: ${calls.filter(({ verdict }) => verdict === 'passed').length} of ${calls.length} answered` : 'Calling…'}{' '}
        <LongWorkLink id={work.id} />
      </p>
      {work.problem !== null && <Notice tone="bad">{work.problem.detail}</Notice>}
      {calls.length > 0 && <DataTable caption="Calls of the test" columns={columns} rows={calls} keyOf={(each) => each.interface} />}
    </>
  );
}
