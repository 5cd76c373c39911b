import { useState } from 'react';

import { asObject } from '../../playground/conversation.ts';
import { deleteVideo, followVideo, videoState } from '../../playground/follow-video.ts';
import type { Payer } from '../../playground/payer.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Meter } from '../../ui/meter.tsx';
import { JobPage, ModelField } from './job-page.tsx';
import styles from './playground-page.module.css';
import { useModel } from './use-model.ts';

/** A video from words: its progress, the film, and its receipt. */
export function VideoPage({ payer }: { readonly payer: Payer }) {
  const [model, setModel] = useModel();
  const [prompt, setPrompt] = useState('');
  const [seconds, setSeconds] = useState('4');
  const [size, setSize] = useState('');
  return (
    <JobPage
      kind="video"
      payer={payer}
      path="/v1/videos"
      body={{ model, prompt, ...(seconds !== '' && { seconds }), ...(size !== '' && { size }) }}
      unreadyBecause={model === '' || prompt.trim() === '' ? 'Choose a model, and describe the video.' : undefined}
      follow={({ json }, keyId, signal) => followVideo(asObject(json), keyId, signal)}
      result={() => <Video prompt={prompt} />}
    >
      <ModelField kind="video" value={model} onChange={setModel} />
      <TextField label="What the video shows" lines={4} value={prompt} placeholder="A red kite over dunes" onChange={setPrompt} />
      <TextField label="Seconds" inputMode="numeric" value={seconds} placeholder="not sent" onChange={setSeconds} />
      <TextField label="Size" value={size} placeholder="not sent" list={['720x1280', '1280x720']} onChange={setSize} />
    </JobPage>
  );
}

function Video({ prompt }: { readonly prompt: string }) {
  const video = videoState.use();
  const [isDeleting, setIsDeleting] = useState(false);
  if (video === undefined) return null;
  const { id, status, progress, error, address, isDeleted } = video;
  const remove = (): void => {
    setIsDeleting(true);
    void deleteVideo(video).finally(() => setIsDeleting(false));
  };
  return (
    <>
      <p>
        <code>{id}</code> {isDeleted ? 'deleted; its charge stays in the books' : status.replace('_', ' ')}
      </p>
      {status !== 'completed' && error === undefined && <Meter label={`Progress: ${progress} %`} share={progress / 100} />}
      {error !== undefined && (
        <p className={styles['wrong']} role="alert">
          {error}
        </p>
      )}
      {address !== undefined && (
        <>
          {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- it has no speech that is known */}
          <video className={styles['made']} src={address} controls aria-label={prompt} />
          <p className={styles['composerRow']}>
            <a href={address} download={`${id}.mp4`}>
              Download
            </a>
            <Button kind="danger" icon="trash" busy={isDeleting} onClick={remove}>
              Delete the video
            </Button>
          </p>
        </>
      )}
    </>
  );
}
