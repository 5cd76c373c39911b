import { useState } from 'react';

import type { Body } from '../../api/client.ts';
import { curlOf, quote } from '../../api/equivalents.ts';
import { Amount } from '../../components/amount.tsx';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { useChange } from '../../components/use-change.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { type Explanation, interfaceTitles, showPart, targetStates } from './model-words.ts';
import styles from './models-page.module.css';
import { useKeyNames } from './use-keys-list.ts';

type Facts = Body<'models.explain'>;
type Asked = NonNullable<Facts['interface']>;

const asked = [
  { value: '', text: 'as the model usually is' },
  ...Object.entries(interfaceTitles).map(([value, text]) => ({ value, text })),
] as const;

/** @param key `user/name`; empty without one */
function commandOf(name: string, facts: Facts, key: string): string {
  return [
    `weir models explain ${quote(name)}`,
    ...(facts.interface === undefined ? [] : [`--as ${facts.interface}`]),
    ...(['stream', 'images', 'tools'] as const).filter((flag) => facts[flag] === true).map((flag) => `--${flag}`),
    ...(facts.input_tokens === undefined ? [] : [`--input-tokens ${facts.input_tokens}`]),
    ...(key === '' ? [] : [`--key ${quote(key)}`]),
  ].join(' ');
}

/** What a call would do, by the gateway's own planning. The address holds the interface and the key. */
export function ExplainPanel({ name }: { readonly name: string }) {
  const [search, change] = useAddress();
  const keys = useKeyNames();
  const [flags, setFlags] = useState({ stream: true, images: false, tools: false });
  const [tokens, setTokens] = useState('');
  const [found, setFound] = useState<Explanation>();
  const explain = useChange('models.explain', []);
  const as = one(search, 'as') ?? '';
  const key = one(search, 'key') ?? '';
  const keyId = keys.get(key);
  const isCount = tokens === '' || /^[1-9][0-9]{0,6}$/.test(tokens);
  const body: Facts = {
    ...(as !== '' && { interface: as as Asked }),
    ...(flags.stream && { stream: true }),
    ...(flags.images && { images: true }),
    ...(flags.tools && { tools: true }),
    ...(tokens !== '' && isCount && { input_tokens: Number(tokens) }),
    ...(keyId !== undefined && { key_id: keyId }),
  };
  return (
    <Panel title="Explain a call">
      <form
        className={styles['stack']}
        onSubmit={(event) => {
          event.preventDefault();
          void explain.run({ params: { name }, body }).then((answer) => answer !== undefined && setFound(answer.body));
        }}
      >
        <div className={styles['form']}>
          <SelectField
            label="Interface"
            value={as}
            options={asked}
            onChange={(value) => change({ as: value === '' ? undefined : value }, true)}
          />
          <TextField
            label="Key"
            value={key}
            list={[...keys.keys()]}
            placeholder="nobody's limits"
            error={key !== '' && keyId === undefined ? 'There is no key of this user and name.' : undefined}
            onChange={(value) => change({ key: value === '' ? undefined : value }, true)}
          />
          <TextField
            label="Input in tokens"
            value={tokens}
            inputMode="numeric"
            placeholder="a short sentence"
            error={isCount ? undefined : 'A number from 1 to 1000000.'}
            onChange={setTokens}
          />
        </div>
        <div className={styles['bar']}>
          <Flags flags={flags} onChange={setFlags} />
          <Button type="submit" kind="main" busy={explain.busy} disabledBecause={isCount ? undefined : 'The number of tokens is wrong.'}>
            Explain
          </Button>
        </div>
        {explain.problem !== undefined && <Failure error={explain.problem} />}
        <Equivalent
          command={commandOf(name, body, keyId === undefined ? '' : key)}
          curl={curlOf(location.origin, 'models.explain', { params: { name }, body })}
        />
      </form>
      <div role="status">{found !== undefined && <Explained found={found} />}</div>
    </Panel>
  );
}

type CallFlags = { readonly stream: boolean; readonly images: boolean; readonly tools: boolean };

const flagTitles = { stream: 'Streamed', images: 'With an image', tools: 'With a tool' } as const;

function Flags({ flags, onChange }: { readonly flags: CallFlags; readonly onChange: (flags: CallFlags) => void }) {
  return (['stream', 'images', 'tools'] as const).map((flag) => (
    <CheckField key={flag} label={flagTitles[flag]} checked={flags[flag]} onChange={(checked) => onChange({ ...flags, [flag]: checked })} />
  ));
}

type Target = Explanation['targets'][number];

const columns: readonly Column<Target & { readonly order: number }>[] = [
  { id: 'order', title: 'Order', figures: true, render: ({ order }) => order },
  { id: 'target', title: 'Target', grows: true, render: ({ id }) => id },
  {
    id: 'state',
    title: 'State',
    render: ({ state }) => <State {...(targetStates[state] ?? { sign: '', word: state, tone: 'neutral' })} />,
  },
  { id: 'share', title: 'Share', figures: true, priority: 3, render: ({ share }) => (share === null ? '' : showPart(share)) },
  { id: 'way', title: 'Way', priority: 2, render: ({ way }) => way ?? '' },
  {
    id: 'notes',
    title: 'Changed or lost',
    priority: 2,
    render: ({ notes }) =>
      notes === null
        ? 'depends on the media'
        : notes.length === 0
          ? 'nothing'
          : notes.map(({ kind, field, reason }) => (
              <span key={`${kind} ${field}`} title={reason}>
                {kind} {field}{' '}
              </span>
            )),
  },
  { id: 'expected', title: 'Expected', figures: true, priority: 3, render: ({ expected }) => <Amount money={expected} /> },
  { id: 'most', title: 'At most', figures: true, render: ({ maximum }) => <Amount money={maximum} /> },
];

const credits: Readonly<Record<Explanation['credit'], string>> = {
  unknown: '',
  unlimited: 'Nothing limits the payer.',
  covered: 'The payer has credit for it.',
  refused: 'The payer has no credit for it: the call would be refused.',
};

function Explained({ found }: { readonly found: Explanation }) {
  const { path, node, targets, left_out: leftOut, refusal, cost, credit } = found;
  return (
    <div className={styles['stack']}>
      <p className={styles['note']}>
        POST {path}, planned by the gateway {node}
      </p>
      {refusal !== null && (
        <Notice tone="bad">
          Refused as {refusal.code}: {refusal.message}
        </Notice>
      )}
      {targets.length > 0 && (
        <DataTable
          caption="Targets in the order of attempts"
          columns={columns}
          rows={targets.map((target, index) => ({ ...target, order: index + 1 }))}
          keyOf={({ order }) => String(order)}
        />
      )}
      {leftOut.length > 0 && (
        <ul className={styles['left']} aria-label="Left out">
          {leftOut.map(({ id, reason, detail }) => (
            <li key={`${id} ${reason}`}>
              Left out: <b>{id}</b>, because {detail}
            </li>
          ))}
        </ul>
      )}
      {cost !== null && (
        <p>
          Costs <Amount money={cost.minimum} /> to <Amount money={cost.maximum} />
          {cost.held !== null && (
            <>
              , holds <Amount money={cost.held} />
            </>
          )}
          . {credits[credit]}
        </p>
      )}
    </div>
  );
}
