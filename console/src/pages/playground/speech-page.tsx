import { useState } from 'react';

import type { Payer } from '../../playground/payer.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { JobPage, ModelField } from './job-page.tsx';
import styles from './playground-page.module.css';
import { useModel } from './use-model.ts';

const formats = ['mp3', 'wav', 'opus', 'aac', 'flac'].map((format) => ({ value: format, text: format }));

/** A text that is spoken. */
export function SpeechPage({ payer }: { readonly payer: Payer }) {
  const [model, setModel] = useModel();
  const [input, setInput] = useState('');
  const [voice, setVoice] = useState('nova');
  const [format, setFormat] = useState('mp3');
  return (
    <JobPage
      kind="speech"
      payer={payer}
      path="/v1/audio/speech"
      body={{ model, input, voice, response_format: format }}
      unreadyBecause={model === '' || input.trim() === '' ? 'Choose a model, and write what it says.' : undefined}
      result={({ address }) =>
        address === undefined ? null : (
          <>
            {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- the text that it speaks stands beside it */}
            <audio className={styles['player']} src={address} controls autoPlay aria-label="The speech" />
            <a href={address} download={`speech.${format}`}>
              Download
            </a>
          </>
        )
      }
    >
      <ModelField kind="speech" value={model} onChange={setModel} />
      <TextField label="What it says" lines={4} value={input} placeholder="The kettle is on." onChange={setInput} />
      <TextField
        label="Voice"
        value={voice}
        list={['alloy', 'ash', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer']}
        onChange={setVoice}
      />
      <SelectField label="Format" value={format} options={formats} onChange={setFormat} />
    </JobPage>
  );
}
