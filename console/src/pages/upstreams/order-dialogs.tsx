import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Body } from '../../api/client.ts';
import { curlOf, quote } from '../../api/equivalents.ts';
import { question, versionedQuestion } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { HistoryLink } from '../../components/history-link.tsx';
import { useChange } from '../../components/use-change.ts';
import { useZone } from '../../components/use-page.ts';
import { instantIn, showMinute } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts } from '../../ui/panel.tsx';
import { say } from '../../ui/toasts.tsx';
import { type Target, wholeCredential } from './target-words.ts';

type Props = { readonly target: Target; readonly onClose: () => void };

const hourMs = 3_600_000;
const ends = [
  { value: '0.25', text: 'in 15 minutes' },
  { value: '1', text: 'in an hour' },
  { value: '4', text: 'in 4 hours' },
  { value: '24', text: 'in a day' },
  { value: '168', text: 'in a week' },
  { value: 'chosen', text: 'at a time …' },
];

/** Models that would have no other target. */
function useLastTargets({ id, upstream }: Target, whole: boolean): readonly string[] {
  const { data } = useQuery(question('models.list', { query: { upstream, limit: 500 } }));
  const credential = id.slice(0, id.indexOf('/') + 1);
  return (data?.items ?? [])
    .filter(({ targets }) => targets.every((each) => (whole ? each.id.startsWith(credential) : each.id === id)))
    .map(({ name }) => name);
}

/** Sends a target no calls until a time. */
export function TakeOutDialog({ target, onClose }: Props) {
  const zone = useZone();
  const [scope, setScope] = useState<'target' | 'credential'>('target');
  const [end, setEnd] = useState('1');
  const [reason, setReason] = useState('');
  const [openedMs] = useState(() => Date.now());
  const change = useChange('targets.take_out', ['targets', 'overview', 'models']);
  const id = scope === 'target' ? target.id : wholeCredential(target);
  const until = new Date(end.includes('T') ? instantIn(end, zone) : openedMs + Number(end) * hourMs).toISOString();
  const body: Body<'targets.take_out'> = { state: 'out', until, reason };
  const lost = useLastTargets(target, scope === 'credential');
  const seen = useQuery({ ...versionedQuestion('targets.get', { params: { id } }), retry: false });
  // An order about all models of a credential is no target that a gateway has used.
  const version = change.problem?.version ?? seen.data?.version ?? '*';
  const present = change.problem?.code === 'version_mismatch' ? seen.data?.body.override : undefined;
  const errors = change.problem?.fieldErrors() ?? {};
  const run = async (): Promise<void> => {
    if ((await change.run({ params: { id }, body, version })) === undefined) return void seen.refetch();
    say(`${id} is taken out`, `It gets calls again on ${showMinute(until, zone)}.`);
    onClose();
  };
  return (
    <Dialog open onClose={onClose} title={`Take ${target.id} out of use`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <p>Every gateway stops sending calls there within two seconds. Calls that run go on. At the end it is used again by itself.</p>
        <SelectField
          label="What"
          value={scope}
          options={[
            { value: 'target', text: `this model: ${target.id}` },
            { value: 'credential', text: `all models of ${target.credential}` },
          ]}
          onChange={setScope}
        />
        <EndField zone={zone} openedMs={openedMs} value={end} until={until} error={errors['until']} onChange={setEnd} />
        <TextField
          label="Reason"
          help="Refused clients, other operators and the audit log see it."
          value={reason}
          error={errors['reason']}
          required
          autoFocus
          onChange={setReason}
        />
        <LostModels models={lost} />
        {change.problem !== undefined && <Failure error={change.problem} />}
        {present != null && <OrderFacts order={present} />}
        <Button
          kind="danger"
          type="submit"
          busy={change.busy}
          disabledBecause={reason.trim() === '' ? 'An order needs a reason, for those who meet it.' : undefined}
        >
          Take it out
        </Button>
        <Equivalent
          command={`weir targets out ${quote(id)} --until ${quote(until)} --reason ${quote(reason || 'REASON')}`}
          curl={curlOf(location.origin, 'targets.take_out', { params: { id }, body, version })}
        />
      </form>
    </Dialog>
  );
}

type EndProps = {
  readonly zone: string;
  readonly openedMs: number;
  /** Hours from now, or a time on the clocks of the zone. */
  readonly value: string;
  readonly until: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
};

function EndField({ zone, openedMs, value, until, error, onChange }: EndProps) {
  const isChosen = value.includes('T');
  return (
    <>
      <SelectField
        label="Used again"
        value={isChosen ? 'chosen' : value}
        options={ends}
        help={isChosen ? undefined : `On ${showMinute(until, zone)}, ${zone}.`}
        error={error}
        onChange={(next) => onChange(next === 'chosen' ? showMinute(openedMs + hourMs, zone).replace(' ', 'T') : next)}
      />
      {isChosen && (
        <TextField label={`Time in ${zone}`} type="datetime-local" value={value} onChange={(next) => next !== '' && onChange(next)} />
      )}
    </>
  );
}

function LostModels({ models }: { readonly models: readonly string[] }) {
  if (models.length === 0) return null;
  return (
    <Notice tone="warning">
      {models.length === 1 ? 'This model has' : 'These models have'} no other target, and calls are refused with 503 until then:{' '}
      {models.join(', ')}
    </Notice>
  );
}

/** Ends the order about a target. */
export function PutBackDialog({ target, onClose }: Props) {
  const change = useChange('targets.put_back', ['targets', 'overview', 'models']);
  // The order may be about all models of the credential.
  const id = target.override?.target ?? target.id;
  const { data, error } = useQuery({ ...versionedQuestion('targets.get', { params: { id } }), retry: false });
  const version = change.problem?.version ?? data?.version;
  const run = async (): Promise<void> => {
    if ((await change.run({ params: { id }, version: version ?? '*' })) === undefined) return;
    say(`${id} is in use again`);
    onClose();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Put ${id} back into use`}
      actions={
        <Button kind="main" busy={change.busy || (data === undefined && error === null)} onClick={() => void run()}>
          Put it back
        </Button>
      }
    >
      <p>Every gateway sends calls there again within two seconds, if nothing else keeps it from being used.</p>
      {target.override !== null && <OrderFacts order={target.override} />}
      {change.problem !== undefined && <Failure error={change.problem} />}
      <Equivalent
        command={`weir targets clear ${quote(id)}`}
        curl={curlOf(location.origin, 'targets.put_back', { params: { id }, version: version ?? '*' })}
      />
    </Dialog>
  );
}

/** The order that is in force, and the way to those before it. */
function OrderFacts({ order: { target, actor, set_at: setAt, reason, until } }: { readonly order: NonNullable<Target['override']> }) {
  const zone = useZone();
  return (
    <Facts
      rows={[
        ['Taken out by', actor],
        ['On', showMinute(setAt, zone)],
        ['Reason', reason],
        ['Until', showMinute(until, zone)],
        ['Orders before', <HistoryLink key="history" subject={`target:${target}`} />],
      ]}
    />
  );
}
