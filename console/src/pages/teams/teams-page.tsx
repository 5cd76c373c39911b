import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { isLost, question, versionedQuestion } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Amount } from '../../components/amount.tsx';
import { contentWords } from '../../components/content-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { LimitsDialog } from '../../components/limits/limits-dialog.tsx';
import { NameFilter } from '../../components/name-filter.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { PeopleTabs } from '../../components/people-tabs.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useSession } from '../../components/use-page.ts';
import { columnDigits, nanosOf } from '../../format/money.ts';
import { showCount } from '../../format/numbers.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { describeLimits } from '../keys/key-words.ts';
import { NewTeamDialog } from './new-team-dialog.tsx';

type Team = Reply<'teams.list'>['items'][number];

/** Which users share limits and a balance, and what the organization may use as a whole. */
export function TeamsPage() {
  const session = useSession();
  const navigate = useNavigate();
  const [search] = useAddress();
  const [isMaking, setIsMaking] = useState(false);
  const teams = useQuery(question('teams.list', {}));
  const balances = useQuery(question('credits.balances', { query: {} }));
  const mayMake = may(session, 'limits:write');
  useKeys({ n: () => mayMake && setIsMaking(true) });
  const wanted = (one(search, 'q') ?? '').toLowerCase();
  const shown = teams.data?.items.filter(({ name }) => name.toLowerCase().includes(wanted));
  const accounts = new Map(
    balances.data?.items.flatMap(({ level, team, balance }) =>
      level === 'team' && team !== null ? [[team, nanosOf(balance)] as const] : [],
    ),
  );
  return (
    <>
      <PageHead title="Teams">
        {mayMake && (
          <Button kind="main" icon="plus" shortcut="n" onClick={() => setIsMaking(true)}>
            New team
          </Button>
        )}
      </PageHead>
      <PeopleTabs />
      {mayMake && <Organization />}
      {(teams.data?.items.length ?? 0) > 8 && <NameFilter label="Name of the team" />}
      {teams.isError && <Failure error={teams.error} onRetry={() => void teams.refetch()} />}
      {shown === undefined && !teams.isError && <Skeleton rows={8} />}
      {shown?.length === 0 &&
        (teams.data?.items.length === 0 ? (
          <Empty title="There is no team yet." line="weir teams create atlas --spend-per-month 500">
            A team has limits and a balance that all its users share.
          </Empty>
        ) : (
          <Empty title="No team fits.">Search for a shorter part of the name.</Empty>
        ))}
      {shown !== undefined && shown.length > 0 && (
        <TeamsTable
          rows={shown}
          accounts={balances.data === undefined ? undefined : accounts}
          onOpen={({ name }) => void navigate({ to: paths.team(name) })}
        />
      )}
      {isMaking && <NewTeamDialog onClose={() => setIsMaking(false)} />}
    </>
  );
}

type TableProps = {
  readonly rows: readonly Team[];
  readonly accounts: ReadonlyMap<string, bigint> | undefined;
  readonly onOpen: (team: Team) => void;
};

function TeamsTable({ rows, accounts, onOpen }: TableProps) {
  const digits = columnDigits([...(accounts?.values() ?? [])]);
  const columns: readonly Column<Team>[] = [
    { id: 'name', title: 'Team', grows: true, render: ({ name }) => <Link to={paths.team(name)}>{name}</Link> },
    { id: 'users', title: 'Users', figures: true, render: ({ users }) => showCount(users.length) },
    {
      id: 'limits',
      title: 'Limits',
      grows: true,
      priority: 2,
      render: ({ limits }) => <span title={describeLimits(limits)}>{describeLimits(limits)}</span>,
    },
    { id: 'content', title: 'Recorded content', priority: 3, render: ({ content }) => contentWords(content, 'nothing') },
    { id: 'pays', title: 'Payment', priority: 3, render: ({ prepaid }) => (prepaid ? 'prepaid' : 'postpaid') },
    {
      id: 'balance',
      title: 'Balance',
      figures: true,
      priority: 2,
      render: ({ name }) => (accounts === undefined ? '—' : <Amount money={accounts.get(name) ?? 0n} digits={digits} />),
    },
  ];
  return <DataTable caption="Teams" columns={columns} rows={rows} keyOf={({ id }) => id} onOpen={onOpen} />;
}

/** The limits that all keys share. */
function Organization() {
  const [isOpen, setIsOpen] = useState(false);
  const { data, error, refetch } = useQuery(versionedQuestion('organization.get', {}));
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={2} />;
  const { body, version } = data;
  return (
    <Panel title="Organization" tools={<Button onClick={() => setIsOpen(true)}>Limits of all keys</Button>}>
      <Facts
        rows={[
          ['Limits of all keys together', describeLimits(body.limits)],
          ['Payment', body.prepaid ? 'prepaid: its balance pays where no team or user is prepaid' : 'postpaid'],
          ['Balance', <Amount key="balance" money={body.balance} />],
        ]}
      />
      <LimitsDialog
        open={isOpen}
        onClose={() => setIsOpen(false)}
        whose="the organization"
        limits={body.limits}
        operation="organization.update"
        params={{}}
        version={version}
        subject="organization"
        command="weir organization update"
        forgets={['organization', 'standing', 'audit']}
      />
    </Panel>
  );
}
