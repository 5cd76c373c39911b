import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { Reply } from '../api/client.ts';
import { curlOf } from '../api/equivalents.ts';
import { question } from '../api/query-client.ts';
import { may } from '../api/sign-in.ts';
import { ask } from '../api/client.ts';
import { type ApiProblem, toProblem } from '../api/problem.ts';
import { forget } from '../api/query-client.ts';
import { Equivalent } from './equivalent.tsx';
import { Failure } from './failure.tsx';
import type { Search } from './search-params.ts';
import { useChange } from './use-change.ts';
import { useAddress, useSession } from './use-page.ts';
import { Button } from '../ui/button.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, TextField } from '../ui/field.tsx';
import { Empty, Skeleton } from '../ui/notice.tsx';
import { say } from '../ui/toasts.tsx';
import { useKeys } from '../ui/use-keys.ts';

type View = Reply<'saved_views.list'>['items'][number];

/** Views that people kept: what an address holds, under a name. */
export function SavedViews({ page }: { readonly page: string }) {
  const [open, setOpen] = useState<'list' | 'save'>();
  useKeys({ s: () => setOpen('save') });
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Button icon="star" onClick={() => setOpen('list')}>
        Saved
      </Button>
      <Dialog
        open={open === 'list'}
        onClose={close}
        title="Saved views"
        size="large"
        actions={
          <Button kind="main" shortcut="s" onClick={() => setOpen('save')}>
            Save this view
          </Button>
        }
      >
        {open === 'list' && <Views page={page} onClose={close} />}
      </Dialog>
      <Dialog open={open === 'save'} onClose={close} title="Save this view">
        {open === 'save' && <SaveForm page={page} onClose={close} />}
      </Dialog>
    </>
  );
}

/** The parameters of a view: texts and lists of texts. Others are left out. */
function readView(query: View['query']): Search {
  const isText = (value: unknown): value is string => typeof value === 'string';
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]): [string, string | readonly string[]][] =>
      isText(value) ? [[name, value]] : Array.isArray(value) && value.every(isText) ? [[name, value]] : [],
    ),
  );
}

function Views({ page, onClose }: { readonly page: string; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const session = useSession();
  const [problem, setProblem] = useState<ApiProblem>();
  const { data, error } = useQuery(question('saved_views.list', { query: { page, limit: 200 } }));
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Skeleton rows={4} />;
  if (data.items.length === 0) return <Empty title="No view is saved yet.">Choose what the page shows, then save it under a name.</Empty>;
  // These are small: the version is that of the moment, and nobody else's change is lost but of a name.
  const change = (run: Promise<unknown>): void =>
    void run.then(
      () => forget('saved_views'),
      (failure: unknown) => setProblem(toProblem(failure)),
    );
  const mayChange = ({ is_own: isOwn, shared }: View): boolean => isOwn || (shared && may(session, 'config:write'));
  const columns: readonly Column<View>[] = [
    {
      id: 'name',
      title: 'View',
      grows: true,
      render: ({ name, query }) => (
        <Button
          kind="quiet"
          onClick={() => {
            onClose();
            void navigate({ to: '.', search: readView(query) } as never);
          }}
        >
          {name}
        </Button>
      ),
    },
    { id: 'whose', title: 'Of', priority: 2, render: ({ is_own: isOwn, owner }) => (isOwn ? 'you' : owner) },
    { id: 'shared', title: 'For', render: ({ shared }) => (shared ? 'everybody' : 'you alone') },
    {
      id: 'actions',
      title: 'Change',
      render: (view) =>
        mayChange(view) && (
          <>
            <Button
              kind="quiet"
              icon="share"
              label={view.shared ? `Make ${view.name} private` : `Share ${view.name}`}
              onClick={() => change(ask('saved_views.update', { params: { id: view.id }, body: { shared: !view.shared }, version: '*' }))}
            />
            <Button
              kind="quiet"
              icon="trash"
              label={`Delete ${view.name}`}
              onClick={() => change(ask('saved_views.delete', { params: { id: view.id }, version: '*' }))}
            />
          </>
        ),
    },
  ];
  return (
    <>
      {problem !== undefined && <Failure error={problem} />}
      <DataTable caption="Saved views" columns={columns} rows={data.items} keyOf={({ id }) => id} />
    </>
  );
}

function SaveForm({ page, onClose }: { readonly page: string; readonly onClose: () => void }) {
  const [search] = useAddress();
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const change = useChange('saved_views.create', ['saved_views']);
  const body = { name, page, query: { ...search }, shared };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name === '') return;
        void change.run({ body }).then((saved) => {
          if (saved === undefined) return;
          say('The view is saved', shared ? 'Everybody who may open the page finds it.' : 'You find it under Saved.');
          onClose();
        });
      }}
    >
      <TextField label="Name" value={name} error={change.problem?.fieldErrors()['name']} required autoFocus onChange={setName} />
      <CheckField
        label="Everybody who may open this page may use it"
        help="They see what the address holds: names, models and parameters, and no texts."
        checked={shared}
        onChange={setShared}
      />
      {change.problem !== undefined && <Failure error={change.problem} />}
      <Button kind="main" type="submit" busy={change.busy} disabledBecause={name === '' ? 'A view needs a name.' : undefined}>
        Save
      </Button>
      <Equivalent command="# views belong to the console" curl={curlOf(location.origin, 'saved_views.create', { body })} />
    </form>
  );
}
