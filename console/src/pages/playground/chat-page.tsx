import { useEffect, useRef } from 'react';

import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { changeLane, chat, type ChatState, laneAt, requestOf, runLane, stopLane, writtenTurn } from '../../playground/chat.ts';
import { chatInterfaces } from '../../playground/interfaces/registry.ts';
import { lanesMax } from '../../playground/lanes.ts';
import type { Payer } from '../../playground/payer.ts';
import { Button } from '../../ui/button.tsx';
import { ChatLane } from './chat-lane.tsx';
import { ChatSettings } from './chat-settings.tsx';
import { Composer } from './composer.tsx';
import { Inspector } from './inspector.tsx';
import styles from './playground-page.module.css';
import { useLanes, useModels, useParameters } from './use-playground.ts';

const letters = ['A', 'B', 'C', 'D'];

/** The same conversation with up to four models and interfaces. */
export function ChatPage({ payer }: { readonly payer: Payer }) {
  const { models, error } = useModels('chat');
  const { lanes, change, add, remove } = useLanes(models);
  const parameters = useParameters();
  const state = chat.use();
  const [search, changeAddress] = useAddress();
  const shown = Math.min(lanes.length - 1, Math.max(0, Number(one(search, 'of') ?? 0) || 0));
  const written = writtenTurn(state);
  const isRunning = lanes.some((_lane, index) => isUnderWay(state, index));
  const isReady = lanes.every(({ model }, index) => laneAt(state, index).edited !== undefined || (model !== '' && written.length > 0));
  const inspect = (index: number): void => changeAddress({ of: index === 0 ? undefined : String(index) }, true);
  const run = (): void => {
    if (!isReady || isRunning) return;
    lanes.forEach((lane, index) => void runLane(index, lane, parameters, payer, written));
    chat.change((before) => ({ ...before, text: '', pictures: [] }));
  };
  const stop = (): void => lanes.forEach((_lane, index) => stopLane(index));
  useRunKeys(run, stop, (index) => index < lanes.length && inspect(index));
  const lane = lanes[shown] ?? lanes[0];
  return (
    <>
      {error !== null && <Failure error={error} />}
      <ChatSettings parameters={parameters} />
      <ModelNames models={models} />
      <div className={styles['lanes']} data-count={lanes.length}>
        {lanes.map((each, index) => (
          <ChatLane
            key={index}
            index={index}
            letter={letters[index] ?? ''}
            lane={each}
            parameters={parameters}
            payer={payer}
            isInspected={index === shown}
            isAlone={lanes.length === 1}
            onChange={(changed) => change(index, changed)}
            onRemove={lanes.length > 1 ? () => remove(index) : undefined}
            onInspect={() => inspect(index)}
          />
        ))}
      </div>
      <Composer
        payer={payer}
        requests={lanes.map((each, index) => requestOf(state, each, index, parameters, written))}
        isReady={isReady}
        isRunning={isRunning}
        onRun={run}
        onStop={stop}
      >
        {lanes.length < lanesMax && (
          <Button icon="plus" onClick={add}>
            Lane
          </Button>
        )}
      </Composer>
      {lane !== undefined && (
        <Inspector
          title={lanes.length > 1 ? `Lane ${letters[shown] ?? ''}: ${chatInterfaces[lane.by].title}` : 'Request and wires'}
          next={requestOf(state, lane, shown, parameters, written)}
          isEdited={laneAt(state, shown).edited !== undefined}
          onEdit={(edited) => changeLane(shown, (before) => ({ ...before, edited }))}
          run={lastRun(laneAt(state, shown).entries)}
        />
      )}
    </>
  );
}

/** The names that the fields of models offer. */
function ModelNames({ models }: Pick<ReturnType<typeof useModels>, 'models'>) {
  return (
    <datalist id="playground-models">
      {models?.map(({ name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

function isUnderWay(state: ChatState, index: number): boolean {
  const last = laneAt(state, index).entries.at(-1);
  return last?.kind === 'run' && last.run.state === 'running';
}

function lastRun(entries: ReturnType<typeof laneAt>['entries']) {
  const last = entries.findLast(({ kind }) => kind === 'run');
  return last?.kind === 'run' ? last.run : undefined;
}

/** With the control key: Enter runs, a period stops. With Alt: a digit chooses the lane whose wires are shown. */
function useRunKeys(run: () => void, stop: () => void, inspect: (index: number) => void): void {
  const latest = useRef({ run, stop, inspect });
  latest.current = { run, stop, inspect };
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const isCommand = (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey;
      const digit = /^Digit([1-4])$/.exec(event.code)?.[1];
      if (isCommand && event.key === 'Enter') latest.current.run();
      else if (isCommand && event.key === '.') latest.current.stop();
      else if (event.altKey && !event.ctrlKey && !event.metaKey && digit !== undefined) latest.current.inspect(Number(digit) - 1);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
