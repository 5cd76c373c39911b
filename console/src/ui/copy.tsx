import { useEffect, useState } from 'react';

import { Icon } from './icon.tsx';
import styles from './copy.module.css';

const shownMs = 1600;

/** A button that copies a text, and says that it has. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return undefined;
    const timer = setTimeout(() => setState('idle'), shownMs);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  };
  const words = { idle: label, copied: 'Copied', failed: 'Copying is not permitted: select the text instead' }[state];
  return (
    <button type="button" className={styles['copy']} aria-label={words} onClick={copy}>
      <Icon name={state === 'copied' ? 'check' : 'copy'} />
      <span className="visually-hidden" aria-live="polite">
        {state === 'idle' ? '' : words}
      </span>
    </button>
  );
}

/** A text to copy: a line of a shell, a secret, an id. */
export function CodeLine({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className={styles['line']}>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <Copy text={text} label={`Copy: ${label}`} />
    </div>
  );
}
