import { useState } from 'react';

import { asCount, asList, asObject, asText } from '../../playground/conversation.ts';
import type { Output } from '../../playground/jobs.ts';
import type { Payer } from '../../playground/payer.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { JobPage, ModelField } from './job-page.tsx';
import styles from './playground-page.module.css';
import { useModel } from './use-model.ts';

const formats = [
  { value: 'json', text: 'text' },
  { value: 'verbose_json', text: 'text with times' },
  { value: 'srt', text: 'subtitles (SRT)' },
  { value: 'vtt', text: 'subtitles (VTT)' },
];
const tasks = [
  { value: 'transcriptions', text: 'write it down' },
  { value: 'translations', text: 'translate it into English' },
];

/** A recording as text. */
export function TranscriptionPage({ payer }: { readonly payer: Payer }) {
  const [model, setModel] = useModel();
  const [file, setFile] = useState<File>();
  const [format, setFormat] = useState('json');
  const [task, setTask] = useState('transcriptions');
  const fields = { model, response_format: format };
  return (
    <JobPage
      kind="transcription"
      payer={payer}
      path={`/v1/audio/${task}`}
      body={{ ...fields, file: file?.name ?? '' }}
      form={formOf(fields, file)}
      quoted={{ ...fields, file: { bytes: file?.size ?? 0 } }}
      unreadyBecause={model === '' || file === undefined ? 'Choose a model, and a recording.' : undefined}
      result={(output) => <Transcript output={output} />}
    >
      <ModelField kind="transcription" value={model} onChange={setModel} />
      <label className={styles['file']}>
        <Icon name="plus" /> {file === undefined ? 'Choose a recording' : `${file.name}, ${Math.ceil(file.size / 1024)} KiB`}
        <input
          type="file"
          className="visually-hidden"
          accept="audio/*,video/mp4,video/webm"
          onChange={(event) => setFile(event.target.files?.[0])}
        />
      </label>
      <SelectField label="What to do" value={task} options={tasks} onChange={setTask} />
      <SelectField label="As" value={format} options={formats} onChange={setFormat} />
    </JobPage>
  );
}

function formOf(fields: Readonly<Record<string, string>>, file: File | undefined): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (file !== undefined) form.set('file', file);
  return form;
}

function Transcript({ output: { json, text } }: { readonly output: Output }) {
  const body = asObject(json);
  const segments = asList(body['segments']).map(asObject);
  return (
    <>
      <p className={styles['said']} dir="auto">
        {text ?? asText(body['text'])}
      </p>
      {segments.length > 0 && (
        <DataTable
          caption="Parts of the recording"
          rows={segments.map((segment, at) => ({ segment, at }))}
          keyOf={({ at }) => String(at)}
          columns={[
            { id: 'from', title: 'From, s', figures: true, render: ({ segment }) => asCount(segment['start'])?.toFixed(2) ?? '—' },
            { id: 'to', title: 'To, s', figures: true, render: ({ segment }) => asCount(segment['end'])?.toFixed(2) ?? '—' },
            { id: 'text', title: 'Text', render: ({ segment }) => asText(segment['text']) },
          ]}
        />
      )}
    </>
  );
}
