import { useEffect, useRef, useState } from 'react';

import { chat, laneAt, openCalls, removeLane, runLane, stopLane, takeBack } from '../../playground/chat.ts';
import type { Reply } from '../../playground/conversation.ts';
import { chatInterfaces, interfaceIds } from '../../playground/interfaces/registry.ts';
import { type Lane, type Parameters, readNumber, type Way, ways } from '../../playground/lanes.ts';
import type { Payer } from '../../playground/payer.ts';
import { pictureAddress } from '../../playground/pictures.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, InlineSelect, SelectField, TextField } from '../../ui/field.tsx';
import { thinkings } from './chat-settings.tsx';
import styles from './playground-page.module.css';
import { RunView } from './run-view.tsx';

type Props = {
  readonly index: number;
  readonly letter: string;
  readonly lane: Lane;
  readonly parameters: Parameters;
  readonly payer: Payer;
  readonly isInspected: boolean;
  readonly isAlone: boolean;
  readonly onChange: (change: Partial<Lane>) => void;
  readonly onRemove: (() => void) | undefined;
  readonly onInspect: () => void;
};

/** A conversation that is shown to its end, or nearly, goes on being shown to its end. */
const followPx = 240;

const wayTexts: Readonly<Record<Way, string>> = { post: 'HTTP', background: 'background', socket: 'WebSocket' };
const wayOptions = ways.map((way) => ({ value: way, text: wayTexts[way] }));
const interfaceOptions = interfaceIds.map((id) => ({ value: id, text: chatInterfaces[id].title }));

/** One model in one interface, and what was said with it. */
export function ChatLane(props: Props) {
  const { index, letter, lane, parameters, payer, isInspected, onInspect } = props;
  const { entries, edited } = laneAt(chat.use(), index);
  const calls = openCalls(entries);
  const last = entries.at(-1);
  const log = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = log;
    // If the page was scrolled up, it stays there.
    if (current !== null && current.scrollHeight - current.scrollTop - current.clientHeight < followPx)
      current.scrollTop = current.scrollHeight;
  }, [entries]);
  const again = (): void => void runLane(index, lane, parameters, payer, takeBack(index));
  return (
    <section
      className={styles['lane']}
      data-inspected={isInspected && !props.isAlone}
      data-alone={props.isAlone}
      aria-label={`Lane ${letter}`}
    >
      <LaneHead {...props} />
      <div ref={log} className={styles['entries']} tabIndex={0} role="log" aria-label={`Conversation of lane ${letter}`}>
        {entries.length === 0 && (
          <p className={styles['quiet']}>{edited === undefined ? 'Nothing was said yet.' : 'The request as you edited it is sent.'}</p>
        )}
        {entries.map((entry, at) =>
          entry.kind === 'turn' ? (
            <TurnView key={at} turn={entry.turn} />
          ) : (
            <RunView
              key={at}
              run={entry.run}
              sdk={chatInterfaces[entry.by].sdk}
              onStop={() => stopLane(index)}
              onAgain={entry === last && edited === undefined ? again : undefined}
            />
          ),
        )}
        {calls.length > 0 && edited === undefined && (
          <Answers
            key={calls.map(({ id }) => id).join(' ')}
            calls={calls}
            onAnswer={(answers) => void runLane(index, lane, parameters, payer, [{ role: 'answers', answers }])}
          />
        )}
      </div>
      {isInspected || (
        <p className={styles['laneFoot']}>
          <Button kind="quiet" onClick={onInspect}>
            Show request and wires
          </Button>
        </p>
      )}
    </section>
  );
}

function LaneHead({ index, letter, lane, onChange, onRemove }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <header className={styles['laneHead']}>
      <div className={styles['laneRow']}>
        <span className={styles['letter']} aria-hidden="true">
          {letter}
        </span>
        <InlineSelect
          label={`Interface of lane ${letter}`}
          value={lane.by}
          options={interfaceOptions}
          onChange={(by) => onChange({ by })}
        />
        {lane.by === 'responses' && (
          <InlineSelect label={`Way of lane ${letter}`} value={lane.way} options={wayOptions} onChange={(way) => onChange({ way })} />
        )}
        <Button kind="quiet" icon="settings" label={`Parameters of lane ${letter}`} pressed={isOpen} onClick={() => setIsOpen(!isOpen)} />
        {onRemove !== undefined && (
          <Button
            kind="quiet"
            icon="close"
            label={`Remove lane ${letter}`}
            onClick={() => {
              removeLane(index);
              onRemove();
            }}
          />
        )}
      </div>
      <input
        className={styles['model']}
        aria-label={`Model of lane ${letter}`}
        list="playground-models"
        placeholder="model"
        spellCheck={false}
        value={lane.model}
        onChange={(event) => onChange({ model: event.target.value.trim() })}
      />
      {isOpen && <OwnParameters lane={lane} onChange={onChange} />}
    </header>
  );
}

/** What a lane has of its own, beside what all lanes share. */
function OwnParameters({ lane, onChange }: Pick<Props, 'lane' | 'onChange'>) {
  return (
    <div className={styles['own']}>
      {lane.by === 'responses' && (
        <CheckField
          label="Go on by id"
          help="Sends previous_response_id and what is new, not the whole conversation."
          checked={lane.byId}
          onChange={(byId) => onChange({ byId })}
        />
      )}
      <CheckField label="Stream" checked={lane.stream} onChange={(stream) => onChange({ stream })} />
      <OwnNumber
        label="Temperature"
        value={lane.own.temperature}
        onChange={(temperature) => onChange({ own: { ...lane.own, temperature } })}
      />
      <OwnNumber label="Most tokens" value={lane.own.maxTokens} onChange={(maxTokens) => onChange({ own: { ...lane.own, maxTokens } })} />
      <SelectField
        label="Thinking"
        value={lane.own.thinking ?? ''}
        options={[{ value: '', text: 'as above' }, ...thinkings.slice(1)]}
        onChange={(thinking) => onChange({ own: { ...lane.own, thinking: thinking === '' ? undefined : thinking } })}
      />
    </div>
  );
}

type OwnNumberProps = {
  readonly label: string;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
};

function OwnNumber({ label, value, onChange }: OwnNumberProps) {
  const [text, setText] = useState(value === undefined ? '' : String(value));
  return (
    <TextField
      label={label}
      inputMode="decimal"
      placeholder="as above"
      value={text}
      onChange={(written) => {
        setText(written);
        onChange(readNumber(written));
      }}
    />
  );
}

type Entry = ReturnType<typeof laneAt>['entries'][number];
type Turn = Extract<Entry, { readonly kind: 'turn' }>['turn'];

/** What the person said, and answers of tools. */
function TurnView({ turn }: { readonly turn: Turn }) {
  if (turn.role === 'answers')
    return turn.answers.map(({ id, name, output }) => (
      <div key={id} className={styles['turn']} data-role="answers">
        <span className={styles['who']}>answer of {name}</span>
        <p className={styles['said']}>{output}</p>
      </div>
    ));
  if (turn.role === 'assistant') return null;
  return (
    <div className={styles['turn']} data-role="user">
      <span className={styles['who']}>you</span>
      {turn.pictures.length > 0 && (
        <p className={styles['pictures']}>
          {turn.pictures.map((picture) => (
            <img key={picture.mark} src={pictureAddress(picture)} alt={picture.name} />
          ))}
        </p>
      )}
      <p className={styles['said']}>{turn.text}</p>
    </div>
  );
}

/** Characters of arguments that tell two calls of one function apart. */
const shownMax = 60;

type Answer = { readonly id: string; readonly name: string; readonly output: string };

/** The answers of tools, by hand. */
function Answers({ calls, onAnswer }: { readonly calls: Reply['calls']; readonly onAnswer: (answers: readonly Answer[]) => void }) {
  const { tools } = chat.get();
  const [outputs, setOutputs] = useState(() => calls.map(({ name }) => tools.find((tool) => tool.name === name)?.answer ?? ''));
  return (
    <form
      className={styles['answers']}
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(calls.map(({ id, name }, at) => ({ id, name, output: outputs[at] ?? '' })));
      }}
    >
      {calls.map(({ id, name, arguments: given }, at) => (
        <TextField
          key={id}
          label={`Your answer for ${name} ${given.length > shownMax ? `${given.slice(0, shownMax)}…` : given}`}
          lines={2}
          mono
          value={outputs[at] ?? ''}
          onChange={(output) => setOutputs(outputs.map((before, other) => (other === at ? output : before)))}
        />
      ))}
      <Button kind="main" type="submit">
        {calls.length === 1 ? 'Send the answer' : 'Send the answers'}
      </Button>
    </form>
  );
}
