import { Amount } from '../../components/amount.tsx';
import { useMinute, useZone } from '../../components/use-page.ts';
import { showDuration } from '../../format/numbers.ts';
import { showAgo, showTime } from '../../format/times.ts';
import { Icon } from '../../ui/icon.tsx';
import { Meter } from '../../ui/meter.tsx';
import { State } from '../../ui/state.tsx';
import { Poster } from './poster.tsx';
import { hasFile, isOpen, phases, type Video } from './video-words.ts';
import styles from './videos-page.module.css';

type Props = {
  readonly videos: readonly Video[];
  readonly hasPictures: boolean;
  readonly open: string | undefined;
  readonly onOpen: (video: Video) => void;
};

/** Videos as cards: those that need somebody first. */
export function Gallery({ videos, hasPictures, open, onOpen }: Props) {
  return (
    <ul className={styles['gallery']} aria-label="Videos">
      {videos.map((video) => (
        <li key={video.id}>
          <Card video={video} hasPicture={hasPictures} isOpened={video.id === open} onOpen={() => onOpen(video)} />
        </li>
      ))}
    </ul>
  );
}

type CardProps = { readonly video: Video; readonly hasPicture: boolean; readonly isOpened: boolean; readonly onOpen: () => void };

function Card({ video, hasPicture, isOpened, onOpen }: CardProps) {
  const zone = useZone();
  const nowMs = useMinute();
  const { id, user, model, phase, progress, created_at: at, alert, charged, held, duration_ms: duration } = video;
  return (
    <button type="button" className={styles['card']} aria-pressed={isOpened} onClick={onOpen}>
      <span className={styles['poster']}>
        {hasPicture && hasFile(video, nowMs) ? <Poster id={id} label={`First frame of ${id}`} /> : <Icon name="videos" size={24} />}
      </span>
      <span className={styles['line']}>
        <State {...phases[phase]} />
        {isOpen(video) && <span className="figures">{Math.round(progress)} %</span>}
        {duration !== null && <span className="figures">{showDuration(duration)}</span>}
      </span>
      {isOpen(video) && <Meter label={`Progress of ${id}`} share={progress / 100} tone={alert === null ? 'plain' : 'warning'} />}
      {alert !== null && <span className={styles['alert']}>▲ {alert.reason}</span>}
      <span className={styles['name']}>{model}</span>
      <span className={styles['line']}>
        <span>{user}</span>
        <Amount money={charged ?? held} estimated={charged === null} />
      </span>
      <time className={styles['faint']} dateTime={at} title={showTime(at, zone)}>
        {showAgo(at, nowMs)}
      </time>
    </button>
  );
}
