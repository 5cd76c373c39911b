import { useState, type ClipboardEvent, type ReactNode } from 'react';

import { chat } from '../../playground/chat.ts';
import { keyFor, type Payer } from '../../playground/payer.ts';
import { addPicture, pictureAddress, pictureTypes, refusePicture } from '../../playground/pictures.ts';
import type { Sent } from '../../playground/runs.ts';
import { Icon } from '../../ui/icon.tsx';
import styles from './playground-page.module.css';
import { RunBar } from './run-bar.tsx';

type Props = {
  readonly payer: Payer;
  /** What would be sent now, by lane. */
  readonly requests: readonly Sent[];
  readonly isReady: boolean;
  readonly isRunning: boolean;
  readonly onRun: () => void;
  readonly onStop: () => void;
  readonly children: ReactNode;
};

/** The next thing that is said, in all lanes, with what it would cost. */
export function Composer({ payer, requests, isReady, isRunning, onRun, onStop, children }: Props) {
  const { text } = chat.use();
  const [refused, setRefused] = useState<string>();
  const add = async (files: readonly File[]): Promise<void> => {
    const problem = files.map(refusePicture).find((each) => each !== undefined);
    setRefused(problem);
    if (problem !== undefined) return;
    const added = await Promise.all(files.map(addPicture));
    chat.change((state) => ({ ...state, pictures: [...state.pictures, ...added] }));
  };
  const paste = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  };
  // The key is made when somebody begins to write: a gateway needs a moment to know that its wires are kept.
  const prepare = (): void => void keyFor(payer).catch(() => undefined);
  return (
    <section className={styles['composer']} aria-label="Your message">
      <textarea
        aria-label="Message to all lanes"
        placeholder={requests.length > 1 ? 'Write a message to all lanes' : 'Write a message'}
        rows={3}
        value={text}
        onFocus={prepare}
        onPaste={paste}
        onChange={(event) => chat.change((state) => ({ ...state, text: event.target.value }))}
      />
      <Pictures />
      {refused !== undefined && (
        <p className={styles['wrong']} role="alert">
          {refused}
        </p>
      )}
      <div className={styles['composerRow']}>
        <label className={styles['file']}>
          <Icon name="plus" /> Image
          <input
            type="file"
            className="visually-hidden"
            accept={pictureTypes.join(',')}
            multiple
            onChange={(event) => {
              void add([...(event.target.files ?? [])]);
              event.target.value = '';
            }}
          />
        </label>
        {children}
        <RunBar
          {...{ payer, requests, isReady, isRunning, onRun, onStop }}
          unreadyBecause="Write a message, and choose a model in each lane."
        />
      </div>
    </section>
  );
}

/** The images of the next message. */
function Pictures() {
  const { pictures } = chat.use();
  if (pictures.length === 0) return null;
  return (
    <p className={styles['pictures']}>
      {pictures.map((picture) => (
        <button
          key={picture.mark}
          type="button"
          aria-label={`Remove the image ${picture.name}`}
          onClick={() => chat.change((state) => ({ ...state, pictures: state.pictures.filter(({ mark }) => mark !== picture.mark) }))}
        >
          <img src={pictureAddress(picture)} alt="" />
          {picture.name} <Icon name="close" />
        </button>
      ))}
    </p>
  );
}
