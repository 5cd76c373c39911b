import { useState } from 'react';

import type { Reply } from '../api/client.ts';
import { diffLines } from '../playground/diff-lines.ts';
import { readEvents } from '../playground/read-events.ts';
import { Button } from '../ui/button.tsx';
import { Copy } from '../ui/copy.tsx';
import { Empty } from '../ui/notice.tsx';
import styles from './wires-view.module.css';

const wires = [
  { name: 'client_request', text: '① client to Weir' },
  { name: 'upstream_request', text: '② Weir to upstream' },
  { name: 'upstream_reply', text: '③ upstream to Weir' },
  { name: 'client_reply', text: '④ Weir to client' },
] as const;
type WireName = (typeof wires)[number]['name'];
type Wire = {
  readonly start: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly encoding: string;
  readonly is_cut: boolean;
};
type Shown = WireName | 'requests' | 'replies';

/** The four wires of a call: what was sent and received on both sides of the gateway, and what a translation changed. */
export function WiresView({ data }: { readonly data: Reply<'calls.wires'> }) {
  const [shown, setShown] = useState<Shown>('client_request');
  return (
    <div className={styles['wires']}>
      <div className={styles['choice']} role="group" aria-label="Wires">
        {wires.map(({ name, text }) => (
          <Button key={name} kind="quiet" pressed={shown === name} onClick={() => setShown(name)}>
            {text}
          </Button>
        ))}
        <Button kind="quiet" pressed={shown === 'requests'} onClick={() => setShown('requests')}>
          Difference ①②
        </Button>
        <Button kind="quiet" pressed={shown === 'replies'} onClick={() => setShown('replies')}>
          Difference ③④
        </Button>
      </div>
      {shown === 'requests' && <Difference before={data.client_request} after={data.upstream_request} />}
      {shown === 'replies' && <Difference before={data.upstream_reply} after={data.client_reply} />}
      {shown !== 'requests' && shown !== 'replies' && <OneWire wire={data[shown]} />}
    </div>
  );
}

function OneWire({ wire }: { readonly wire: Wire | undefined }) {
  const [isRaw, setIsRaw] = useState(false);
  if (wire === undefined) return <Empty title="Nothing went over this wire." />;
  const events = isStream(wire) ? readEvents(wire.body) : [];
  return (
    <>
      <p className={styles['start']}>
        <code>{wire.start}</code>
        <Copy text={wire.body} label="Copy the body" />
        {events.length > 0 && (
          <Button kind="quiet" pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
            Raw
          </Button>
        )}
      </p>
      <details>
        <summary>Headers ({Object.keys(wire.headers).length})</summary>
        <pre className={styles['text']} tabIndex={0} aria-label="Headers">
          {Object.entries(wire.headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </pre>
      </details>
      {events.length > 0 && !isRaw ? (
        <ol className={styles['events']} tabIndex={0} aria-label="Events">
          {events.map(({ event, data }, at) => (
            <li key={at}>
              <b>{event ?? ''}</b>
              <code>{data}</code>
            </li>
          ))}
        </ol>
      ) : (
        <pre className={styles['text']} tabIndex={0} aria-label="Body">
          {isRaw ? wire.body : pretty(wire)}
        </pre>
      )}
      {wire.is_cut && <p className={styles['cut']}>The rest was too long to be kept.</p>}
    </>
  );
}

const isStream = ({ headers }: Wire): boolean => headers['content-type']?.startsWith('text/event-stream') === true;

function pretty({ body, encoding }: Wire): string {
  if (encoding === 'base64') return `Not text: ${body.length} characters of base64.`;
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    // It is no JSON, or was cut.
    return body;
  }
}

/** The lines of a wire for a comparison: JSON, or one event on each line. */
function linesOf(wire: Wire): readonly string[] {
  if (!isStream(wire)) return pretty(wire).split('\n');
  return readEvents(wire.body).map(({ event, data }) => (event === undefined ? data : `${event}  ${data}`));
}

const signs = { same: ' ', removed: '−', added: '+' } as const;
const words = { same: '', removed: 'only before: ', added: 'only after: ' } as const;

function Difference({ before, after }: { readonly before: Wire | undefined; readonly after: Wire | undefined }) {
  if (before === undefined || after === undefined) return <Empty title="One of the two wires is empty." />;
  const lines = diffLines(linesOf(before), linesOf(after));
  if (lines === undefined) return <Empty title="The wires are too long to be compared here." />;
  if (lines.every(({ kind }) => kind === 'same')) return <Empty title="There is no difference: the bytes pass unchanged." />;
  return (
    <ol className={styles['diff']} tabIndex={0} aria-label="Difference">
      {lines.map(({ kind, text }, at) => (
        <li key={at} data-kind={kind}>
          <span aria-hidden="true">{signs[kind]}</span>
          {words[kind] !== '' && <span className="visually-hidden">{words[kind]}</span>}
          <code>{text}</code>
        </li>
      ))}
    </ol>
  );
}
