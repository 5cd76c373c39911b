import { useState } from 'react';

import { asList, asObject, asText } from '../../playground/conversation.ts';
import type { Output } from '../../playground/jobs.ts';
import type { Payer } from '../../playground/payer.ts';
import { TextField } from '../../ui/field.tsx';
import { JobPage, ModelField } from './job-page.tsx';
import styles from './playground-page.module.css';
import { useModel } from './use-model.ts';

/** Images from words. */
export function ImagesPage({ payer }: { readonly payer: Payer }) {
  const [model, setModel] = useModel();
  const [prompt, setPrompt] = useState('');
  const [size, setSize] = useState('');
  return (
    <JobPage
      kind="images"
      payer={payer}
      path="/v1/images/generations"
      body={{ model, prompt, ...(size !== '' && { size }) }}
      unreadyBecause={model === '' || prompt.trim() === '' ? 'Choose a model, and describe the image.' : undefined}
      result={(output) => <Images output={output} prompt={prompt} />}
    >
      <ModelField kind="image" value={model} onChange={setModel} />
      <TextField label="What the image shows" lines={4} value={prompt} placeholder="A lighthouse in fog" onChange={setPrompt} />
      <TextField label="Size" value={size} placeholder="not sent" list={['1024x1024', '1536x1024', '1024x1536']} onChange={setSize} />
    </JobPage>
  );
}

/** Bytes of the answer are shown; a link is one, because this page loads nothing from elsewhere. */
function Images({ output, prompt }: { readonly output: Output; readonly prompt: string }) {
  const body = asObject(output.json);
  const type = asText(body['output_format']) || 'png';
  return asList(body['data'])
    .map(asObject)
    .map((image, at) => {
      const bytes = asText(image['b64_json']);
      if (bytes !== '') return <img key={at} className={styles['made']} src={`data:image/${type};base64,${bytes}`} alt={prompt} />;
      const url = asText(image['url']);
      return (
        <p key={at}>
          <a href={url} target="_blank" rel="noreferrer">
            {url}
          </a>
        </p>
      );
    });
}
