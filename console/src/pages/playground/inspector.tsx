import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';

import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { codeWithBytes } from '../../playground/pictures.ts';
import type { Run, Sent } from '../../playground/runs.ts';
import { Button } from '../../ui/button.tsx';
import { CodeLine } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import styles from './playground-page.module.css';

const Wires = lazy(() => import('./wires.tsx').then(({ Wires: component }) => ({ default: component })));

type Props = {
  readonly title: string;
  /** The next request. */
  readonly next: Sent;
  readonly isEdited: boolean;
  /** Takes the text as it was rewritten; undefined puts the form's own back. Absent where a request is no JSON. */
  readonly onEdit?: (body: string | undefined) => void;
  readonly run: Run | undefined;
};

const views = ['request', 'code', 'events', 'wires'] as const;
type View = (typeof views)[number];
const viewTexts = { request: 'Next request', code: 'Code', events: 'Events', wires: 'Wires' } as const;

/** What will be sent, as text and as code, and what went over the wires. */
export function Inspector({ title, next, isEdited, onEdit, run }: Props) {
  const [search, change] = useAddress();
  const shown = one(search, 'show');
  const view: View = views.find((each) => each === shown) ?? 'request';
  return (
    <Panel
      title={title}
      tools={
        <div className={styles['views']} role="group" aria-label="Views of the call">
          {views.map((each) => (
            <Button
              key={each}
              kind="quiet"
              pressed={each === view}
              onClick={() => change({ show: each === 'request' ? undefined : each }, true)}
            >
              {viewTexts[each]}
            </Button>
          ))}
        </div>
      }
    >
      {view === 'request' && <RequestView next={next} isEdited={isEdited} {...(onEdit !== undefined && { onEdit })} />}
      {view === 'code' && <CodeView {...next} />}
      {view === 'events' && <EventsView run={run} />}
      {view === 'wires' && (
        <Suspense fallback={<Skeleton rows={8} />}>
          <Wires run={run} />
        </Suspense>
      )}
    </Panel>
  );
}

function RequestView({ next: { method, path, body }, isEdited, onEdit }: Pick<Props, 'next' | 'isEdited' | 'onEdit'>) {
  if (onEdit === undefined)
    return (
      <div className={styles['request']}>
        <CodeLine text={`${method} ${path}\n\n${body}`} label="The parts of the form" />
        <p className={styles['quiet']}>This is sent as a form, with the bytes of the file.</p>
      </div>
    );
  const problem = isEdited ? jsonProblem(body) : undefined;
  const lines = Math.min(24, Math.max(6, body.split('\n').length + 1));
  return (
    <div className={styles['request']}>
      <TextField
        label={`${method} ${path}`}
        help={
          isEdited
            ? 'You have edited this text. It is sent exactly as it stands here, until you put it back.'
            : 'This text is sent, exactly. You may edit it; ‹…› stands for the bytes of an image.'
        }
        mono
        lines={lines}
        value={body}
        error={problem}
        onChange={onEdit}
      />
      {isEdited && (
        <Button icon="undo" onClick={() => onEdit(undefined)}>
          Put it back
        </Button>
      )}
    </div>
  );
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `This is not JSON, and is sent all the same: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const languages = [
  { id: 'curl', text: 'curl' },
  { id: 'websocat', text: 'websocat' },
  { id: 'typescript', text: 'TypeScript' },
  { id: 'python', text: 'Python' },
  { id: 'go', text: 'Go' },
] as const;

/** The request as a program makes it, with the key as a variable. */
function CodeView({ method, path, body }: Sent) {
  const [chosen, setChosen] = useState<(typeof languages)[number]['id']>('curl');
  const parsed = parseObject(body);
  const { data, error } = useQuery({
    ...question('playground.snippet', {
      body: { ...(method === 'WS' ? { socket: true } : { method }), path, ...(parsed !== undefined && { body: parsed }) },
    }),
    enabled: body === '' || parsed !== undefined,
    placeholderData: (before) => before,
  });
  if (body !== '' && parsed === undefined) return <Empty title="The request is no object of JSON, so there is no code for it." />;
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Skeleton rows={6} />;
  const isMessage = method === 'WS';
  const offered = languages.filter(({ id }) => id !== (isMessage ? 'curl' : 'websocat'));
  const { id: language, text: title } = offered.find(({ id }) => id === chosen) ?? offered[0] ?? languages[0];
  const { text, missing } = codeWithBytes(data[language] ?? '');
  return (
    <div className={styles['code']}>
      <div className={styles['views']} role="group" aria-label="Languages">
        {offered.map((each) => (
          <Button key={each.id} kind="quiet" pressed={each.id === language} onClick={() => setChosen(each.id)}>
            {each.text}
          </Button>
        ))}
      </div>
      {data[language] === null ? (
        <Empty title="There is no official SDK for this interface in this language.">{offered[0]?.text} makes the same request.</Empty>
      ) : (
        <>
          {missing.map((mark) => (
            <Notice key={mark} tone="warning">
              {mark} stands for the bytes of this image, which are too many for a line: put its base64 there (<code>base64 -w0</code>).
            </Notice>
          ))}
          <CodeLine text={text} label={title} />
        </>
      )}
    </div>
  );
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    // It is being edited.
    return undefined;
  }
}

/** The events of the last stream, as this browser received them. */
function EventsView({ run }: { readonly run: Run | undefined }) {
  if (run === undefined) return <Empty title="Nothing was sent yet." />;
  if (run.events.length === 0) return <Empty title="The last call had no events.">It was not a stream, or it has not begun.</Empty>;
  return (
    <ol className={styles['events']} tabIndex={0} aria-label="Events of the last call">
      {run.events.map(({ atMs, event, data }, at) => (
        <li key={at}>
          <span className="figures">{Math.round(atMs)} ms</span>
          <b>{event ?? ''}</b>
          <code>{data}</code>
        </li>
      ))}
    </ol>
  );
}
