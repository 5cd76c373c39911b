import { useEffect, useRef, useState } from 'react';

import { apiPath } from '../../api/client.ts';
import styles from './videos-page.module.css';

/** The address of the file of a video. It is read in parts, as the player needs them. */
export const contentOf = (id: string): string => `${apiPath}/videos/${encodeURIComponent(id)}/content`;

const widthMax = 480;
const waitMsMax = 20_000;

/** The first frame of a video as a small picture; undefined if this browser cannot show it. */
async function drawFrame(id: string): Promise<ImageBitmap | undefined> {
  const video = document.createElement('video');
  video.muted = true;
  video.preload = 'auto';
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('too slow')), waitMsMax);
      video.onloadeddata = () => {
        clearTimeout(timer);
        resolve();
      };
      video.onerror = () => {
        clearTimeout(timer);
        reject(new Error('not readable'));
      };
      video.src = contentOf(id);
    });
    const resizeWidth = Math.min(widthMax, video.videoWidth);
    return await createImageBitmap(video, { resizeWidth, resizeHeight: Math.round((resizeWidth * video.videoHeight) / video.videoWidth) });
  } catch {
    // The card says it in words instead.
    return undefined;
  } finally {
    // Ends the transfer.
    video.removeAttribute('src');
    video.load();
  }
}

/** Each file is read once for its poster, because each reading is a row of the audit log. */
const frames = new Map<string, Promise<ImageBitmap | undefined>>();
const framesMax = 200;
let line: Promise<unknown> = Promise.resolve();

/** One after the other, so that posters do not take the connections of the page. */
function frameOf(id: string): Promise<ImageBitmap | undefined> {
  const known = frames.get(id);
  if (known !== undefined) return known;
  const made = line.then(() => drawFrame(id));
  line = made;
  frames.set(id, made);
  for (const oldest of frames.keys()) {
    if (frames.size <= framesMax) break;
    frames.delete(oldest);
  }
  return made;
}

/** The first frame, drawn in this browser. */
export function Poster({ id, label }: { readonly id: string; readonly label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [state, setState] = useState<'loading' | 'drawn' | 'none'>('loading');
  useEffect(() => {
    let isShown = true;
    void frameOf(id).then((frame) => {
      const element = canvas.current;
      if (!isShown || element === null) return;
      if (frame === undefined) return setState('none');
      element.width = frame.width;
      element.height = frame.height;
      element.getContext('2d')?.drawImage(frame, 0, 0);
      setState('drawn');
    });
    return () => {
      isShown = false;
    };
  }, [id]);
  return (
    <>
      <canvas ref={canvas} className={styles['frame']} role="img" aria-label={label} hidden={state !== 'drawn'} />
      {state !== 'drawn' && <span className={styles['blank']}>{state === 'loading' ? '' : 'no picture in this browser'}</span>}
    </>
  );
}
