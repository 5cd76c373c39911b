import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { lacks } from '../../api/sign-in.ts';
import { useSession, useZone } from '../../components/use-page.ts';
import { showCount, showDuration, showShare } from '../../format/numbers.ts';
import { showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { State } from '../../ui/state.tsx';
import { PutBackDialog, TakeOutDialog } from './order-dialogs.tsx';
import type { TargetDay } from './target-questions.ts';
import { figuresOf, isDisputed, stateOf, targetStates, type Target, triedAgainInMs } from './target-words.ts';

type Props = { readonly targets: readonly Target[]; readonly days: ReadonlyMap<string, TargetDay>; readonly asOf: string };

const none = '—';

/** Targets with their state and their figures, and what an operator can do about them. */
export function TargetsTable({ targets, days, asOf }: Props) {
  const zone = useZone();
  const session = useSession();
  const refused = lacks(session, 'upstreams:write');
  const [asked, setAsked] = useState<{ readonly action: 'out' | 'back'; readonly target: Target }>();
  const columns = [...stateColumns(zone, asOf), ...figureColumns(days)];
  const actions: Column<Target> = {
    id: 'actions',
    title: 'Action',
    render: (target) =>
      target.override === null ? (
        <Button kind="quiet" icon="stop" onClick={() => setAsked({ action: 'out', target })}>
          Take out
        </Button>
      ) : (
        <Button kind="quiet" icon="undo" onClick={() => setAsked({ action: 'back', target })}>
          Put back
        </Button>
      ),
  };
  return (
    <>
      <DataTable
        caption="Targets"
        columns={refused === undefined ? [...columns, actions] : columns}
        rows={targets}
        keyOf={({ id }) => id}
      />
      {asked?.action === 'out' && <TakeOutDialog target={asked.target} onClose={() => setAsked(undefined)} />}
      {asked?.action === 'back' && <PutBackDialog target={asked.target} onClose={() => setAsked(undefined)} />}
    </>
  );
}

const stateColumns = (zone: string, asOf: string): readonly Column<Target>[] => [
  {
    id: 'target',
    title: 'Target',
    grows: true,
    render: ({ upstream, credential, model }) => (
      <>
        <Link to={paths.upstream(upstream)}>{credential}</Link> / {model === '*' ? 'all models' : model}
      </>
    ),
  },
  {
    id: 'state',
    title: 'State',
    render: (target) => (
      <>
        <State {...targetStates[stateOf(target)]} />
        {isDisputed(target) && ' (gateways differ)'}
      </>
    ),
  },
  {
    id: 'again',
    title: 'Used again',
    priority: 2,
    render: (target) => {
      if (target.override !== null) return <time dateTime={target.override.until}>{showMinute(target.override.until, zone)}</time>;
      const wait = triedAgainInMs(target, asOf);
      return wait === undefined ? none : `tried in ${showDuration(wait)}`;
    },
  },
  { id: 'under-way', title: 'Under way', figures: true, priority: 2, render: (target) => showCount(figuresOf(target).underWay) },
  { id: 'failures', title: 'Failures in a row', figures: true, priority: 3, render: (target) => showCount(figuresOf(target).failures) },
];

function figureColumns(days: Props['days']): readonly Column<Target>[] {
  const dayOf = ({ upstream, model }: Target): TargetDay | undefined => days.get(`${upstream}/${model}`);
  return [
    {
      id: 'p95',
      title: 'First byte p95, 24 h',
      figures: true,
      priority: 3,
      render: (target) => {
        const ms = dayOf(target)?.firstByteMs;
        return ms === undefined ? none : showDuration(ms);
      },
    },
    {
      id: 'failed',
      title: 'Failed, 24 h',
      figures: true,
      priority: 2,
      render: (target) => {
        const share = dayOf(target)?.failedShare;
        return share === undefined ? (
          none
        ) : (
          <Link to={paths.calls} search={{ upstream: target.upstream, r: '24h', end: 'failed' }}>
            {showShare(share)}
          </Link>
        );
      },
    },
  ];
}
