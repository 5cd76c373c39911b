import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { Body } from '../../api/client.ts';
import { curlOf, quote } from '../../api/equivalents.ts';
import { versionedQuestion, question } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { LayerCheckPart, PublishButton } from '../../components/upstream-check/layer-check.tsx';
import { publicationOf, useLayerCheck } from '../../components/upstream-check/use-layer-check.ts';
import { useChange } from '../../components/use-change.ts';
import { paths } from '../../paths.ts';
import { CodeLine } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { Notice, Skeleton } from '../../ui/notice.tsx';
import { say } from '../../ui/toasts.tsx';
import { addToLayer, needsAddress, type NewUpstream, presets, vendors, yamlOf } from './new-upstream.ts';

const empty: NewUpstream = { name: '', kind: 'anthropic', baseUrl: '', apiKey: '' };

const kinds = [
  ...vendors,
  ...presets.map((value) => ({ value: String(value), text: `${value} (OpenAI-compatible)` })),
  { value: 'other', text: 'another OpenAI-compatible server' },
];

/**
 * Adds an upstream through the configuration layers, without a restart, and opens its page with a check. Where layers
 * are off, it has the text for weir.yaml.
 */
export function AddUpstreamDialog({ onClose }: { readonly onClose: () => void }) {
  const layers = useQuery(versionedQuestion('config.layers.list', { query: { limit: 1 } }));
  return (
    <Dialog open onClose={onClose} title="Add an upstream" size="large">
      {layers.error !== null && <Failure error={layers.error} onRetry={() => void layers.refetch()} />}
      {layers.data === undefined && layers.error === null && <Skeleton rows={6} />}
      {layers.data !== undefined && (
        <Form isOn={layers.data.body.is_on} newest={layers.data.body.items[0]?.number} version={layers.data.version} onClose={onClose} />
      )}
    </Dialog>
  );
}

type FormProps = {
  readonly isOn: boolean;
  readonly newest: number | undefined;
  readonly version: string | undefined;
  readonly onClose: () => void;
};

function Form({ isOn, newest, version, onClose }: FormProps) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(empty);
  const [isDropping, setIsDropping] = useState(false);
  const before = useQuery({
    ...question('config.layers.get', { params: { number: String(newest ?? 0) } }),
    enabled: newest !== undefined,
  });
  const change = useChange('config.layers.publish', ['config', 'upstreams', 'models', 'targets', 'overview']);
  const named = { ...draft, name: draft.name || draft.kind };
  const lost = change.problem?.code === 'conflict' ? (change.problem.body.models ?? []) : [];
  const layer = addToLayer(before.data?.layer, named);
  const check = useLayerCheck({ layer, upstreams: [named.name] });
  const body: Body<'config.layers.publish'> = {
    layer,
    note: `upstream ${named.name}`,
    ...(isDropping && lost.length > 0 && { drop_models: lost }),
  };
  const errors = change.problem?.fieldErrors() ?? {};
  const missing = missingOf(named, isOn && newest !== undefined && before.data === undefined);
  const publication = publicationOf(check, 'Publish');
  const run = async (): Promise<void> => {
    if ((await change.run({ body, version: version ?? '"0"' })) === undefined) return;
    say(`${named.name} is published`, 'Every gateway takes it within two seconds.');
    onClose();
    void navigate({ to: paths.upstream(named.name), search: { added: '1', check: check.work?.id } });
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isOn || missing !== undefined) return;
        if (publication.isNext) void run();
        else check.run();
      }}
    >
      <DraftFields draft={draft} errors={errors} name={named.name} onChange={setDraft} />
      {!isOn && (
        <Notice tone="info">
          This console does not publish configuration (console.editConfig). Add this to weir.yaml of the gateways:
        </Notice>
      )}
      {!isOn && <CodeLine label="Text for weir.yaml" text={yamlOf(named)} />}
      {isOn && <LayerCheckPart check={check} disabledBecause={missing} />}
      {change.problem !== undefined && <Failure error={change.problem} />}
      {lost.length > 0 && (
        <CheckField
          label={`${lost.length === 1 ? 'This model' : 'These models'} may lose the last target: ${lost.join(', ')}`}
          help="They were called in the last 24 hours. Simulated vendors answer only while there is no other upstream."
          checked={isDropping}
          onChange={setIsDropping}
        />
      )}
      {isOn && (
        <>
          <p>It is published for all gateways, without a restart, and its models can be called as soon as it lists them.</p>
          <PublishButton publication={publication} busy={change.busy} disabledBecause={missing} onPublish={() => void run()} />
          <Lines named={named} before={before.data?.layer} body={body} version={version ?? '"0"'} />
        </>
      )}
    </form>
  );
}

type LinesProps = {
  readonly named: NewUpstream;
  readonly before: Readonly<Record<string, unknown>> | undefined;
  readonly body: Body<'config.layers.publish'>;
  readonly version: string;
};

/** The same without this page. The key is a variable, never a text. */
function Lines({ named, before, body, version }: LinesProps) {
  const steps = [
    "cat > layer.yaml <<'END'",
    yamlOf(named),
    'END',
    'weir config check-layer layer.yaml --no-calls',
    `weir config publish layer.yaml --note ${quote(`upstream ${named.name}`)}`,
  ];
  const shown = { ...body, layer: addToLayer(before, { ...named, apiKey: named.apiKey === '' ? '' : 'THE KEY' }) };
  return <Equivalent command={steps.join('\n')} curl={curlOf(location.origin, 'config.layers.publish', { body: shown, version })} />;
}

function missingOf({ name, kind, baseUrl }: NewUpstream, isLoading: boolean): string | undefined {
  if (isLoading) return 'The newest layer is being read.';
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) return 'A name has letters, digits, dots, hyphens and underscores.';
  return needsAddress(kind) && baseUrl === '' ? 'A server of this kind needs its address.' : undefined;
}

type FieldsProps = {
  readonly draft: NewUpstream;
  readonly errors: Readonly<Record<string, string>>;
  readonly name: string;
  readonly onChange: (draft: NewUpstream) => void;
};

function DraftFields({ draft, errors, name, onChange }: FieldsProps) {
  const set = (member: keyof NewUpstream) => (value: string) => onChange({ ...draft, [member]: value.trim() });
  const errorOf = (member: string): string | undefined => errors[`layer.upstreams.${name}.${member}`];
  return (
    <>
      <SelectField label="Vendor or server" value={draft.kind} options={kinds} error={errorOf('preset')} onChange={set('kind')} />
      <TextField
        label="Name"
        help="Appears in the books, in metrics and in the ids of targets. It cannot be changed later."
        value={draft.name}
        placeholder={draft.kind}
        error={errors[`layer.upstreams.${name}`]}
        onChange={set('name')}
      />
      <TextField
        label="Address"
        help="In the form that the vendor's SDK takes, such as http://10.0.0.5:8000/v1."
        value={draft.baseUrl}
        placeholder={needsAddress(draft.kind) ? 'http://' : "the vendor's own"}
        error={errorOf('baseUrl')}
        required={needsAddress(draft.kind)}
        onChange={set('baseUrl')}
      />
      <TextField
        label="Key"
        type="password"
        autoComplete="off"
        help="It is sealed for this address, and is never shown again but for its last four characters. Empty: no key is sent."
        value={draft.apiKey}
        error={errorOf('apiKey')}
        onChange={set('apiKey')}
      />
    </>
  );
}
