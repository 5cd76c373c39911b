import { useState, type ReactNode } from 'react';

import type { Body } from '../../api/client.ts';
import { curlOf, quote } from '../../api/equivalents.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { LastChange } from '../../components/last-change.tsx';
import { LayerCheckPart, PublishButton } from '../../components/upstream-check/layer-check.tsx';
import { publicationOf, useLayerCheck } from '../../components/upstream-check/use-layer-check.ts';
import { useChange } from '../../components/use-change.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { say } from '../../ui/toasts.tsx';
import { Difference } from './layer-difference.tsx';
import { type Layer, useLayer } from './layer-words.ts';

const forgotten = ['config', 'upstreams', 'models', 'targets', 'nodes', 'overview'];

type FormProps = {
  readonly body: Pick<Body<'config.layers.publish'>, 'yaml' | 'from'>;
  readonly version: string | undefined;
  readonly action: string;
  readonly command: string;
  readonly disabledBecause: string | undefined;
  readonly onClose: () => void;
  readonly children: (errors: Readonly<Record<string, string>>) => ReactNode;
};

/** The end of both dialogs: a note, models that would lose their last target, and the publication. */
function PublishForm({ body, version, action, command, disabledBecause, onClose, children }: FormProps) {
  const [note, setNote] = useState('');
  const [isDropping, setIsDropping] = useState(false);
  const change = useChange('config.layers.publish', forgotten);
  const check = useLayerCheck(body);
  const publication = publicationOf(check, action);
  const { problem } = change;
  const lost = problem?.code === 'conflict' ? (problem.body.models ?? []) : [];
  const isStale = problem?.code === 'version_mismatch';
  const sent = { ...body, ...(note !== '' && { note }), ...(isDropping && lost.length > 0 && { drop_models: lost }) };
  const options = `${note === '' ? '' : ` --note ${quote(note)}`}${isDropping && lost.length > 0 ? ` --drop-models ${lost.map(quote).join(',')}` : ''}`;
  const publish = (): void => {
    if (disabledBecause !== undefined) return;
    void change.run({ body: sent, version: version ?? '"0"' }).then((done) => {
      if (done === undefined) return;
      say(`Layer ${done.body.number} is published`, 'Every gateway takes it within two seconds.');
      onClose();
    });
  };
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (publication.isNext) publish();
          else if (disabledBecause === undefined) check.run();
        }}
      >
        {children(problem?.fieldErrors() ?? {})}
        <TextField label="Note" help="Why, for those who read the list later." value={note} onChange={setNote} />
        <LayerCheckPart check={check} disabledBecause={disabledBecause} />
        {problem !== undefined && !isStale && <Failure error={problem} />}
        {isStale && <LastChange subject={undefined} />}
        {lost.length > 0 && (
          <CheckField
            label={`${lost.length === 1 ? 'This model' : 'These models'} may lose the last target: ${lost.join(', ')}`}
            help="They were called in the last 24 hours."
            checked={isDropping}
            onChange={setIsDropping}
          />
        )}
        <PublishButton
          publication={isStale ? { ...publication, action: `${action} all the same` } : publication}
          busy={change.busy}
          disabledBecause={disabledBecause}
          onPublish={publish}
        />
      </form>
      <Equivalent
        command={`${command}${options}`}
        curl={curlOf(location.origin, 'config.layers.publish', { body: sent, version: version ?? '"0"' })}
      />
    </>
  );
}

type RollbackProps = {
  readonly number: number;
  readonly newest: Layer | undefined;
  readonly version: string | undefined;
  readonly onClose: () => void;
};

/** Publishes an earlier layer again. It says what that changes now. */
export function RollbackDialog({ number, newest, version, onClose }: RollbackProps) {
  const [wanted, present] = [useLayer(number), useLayer(newest?.number)];
  const isRead = wanted.data !== undefined && present.data !== undefined;
  return (
    <Dialog open onClose={onClose} title={`Publish layer ${number} again?`} size="large">
      <PublishForm
        body={{ from: number }}
        version={version}
        action={`Publish layer ${number}`}
        command={`weir config rollback ${number}`}
        disabledBecause={isRead ? undefined : 'The layers are being read.'}
        onClose={onClose}
      >
        {() => (
          <>
            <p>It becomes a new layer, for all gateways, within two seconds. The layers between stay in the list.</p>
            {isRead ? (
              <Panel title={`What changes against layer ${newest?.number}`}>
                <Difference before={present.data.layer} after={wanted.data.layer} />
              </Panel>
            ) : (
              <Skeleton rows={4} />
            )}
          </>
        )}
      </PublishForm>
    </Dialog>
  );
}

type EditProps = { readonly newest: Layer | undefined; readonly version: string | undefined; readonly onClose: () => void };

/** Publishes a changed text of the newest layer. Problems are named with their lines. */
export function EditDialog({ newest, version, onClose }: EditProps) {
  // If somebody else publishes meanwhile, the form and its text stay.
  const present = useLayer(newest?.number, true);
  const isRead = newest === undefined || present.data !== undefined;
  return (
    <Dialog open onClose={onClose} title="Edit and publish the configuration" size="large">
      {present.error !== null && <Failure error={present.error} onRetry={() => void present.refetch()} />}
      {!isRead && present.error === null && <Skeleton rows={10} />}
      {isRead && <Editor before={present.data?.layer ?? {}} version={version} onClose={onClose} />}
    </Dialog>
  );
}

const textLines = 16;

function Editor({ before, version, onClose }: Omit<EditProps, 'newest'> & { readonly before: unknown }) {
  const [text, setText] = useState(() => JSON.stringify(before, undefined, 2));
  const after = readJson(text);
  return (
    <PublishForm
      body={{ yaml: text }}
      version={version}
      action="Publish"
      command={'weir config check-layer layer.yaml --no-calls\nweir config publish layer.yaml'}
      disabledBecause={text.trim() === '' ? 'A layer has an object at least: {}.' : undefined}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <p>It is published for all gateways, without a restart. A secret that stays as it is shown here is kept.</p>
          <TextField
            label="Upstreams, models and limits.perKey, as YAML or JSON"
            mono
            lines={textLines}
            value={text}
            error={errors['yaml']}
            onChange={setText}
          />
          {after !== undefined && (
            <Panel title="What changes">
              <Difference before={before} after={after} />
            </Panel>
          )}
        </>
      )}
    </PublishForm>
  );
}

/** The value of a text in JSON; undefined for YAML of other forms, which only the server reads. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
