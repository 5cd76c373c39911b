import { useId, useRef, useState } from 'react';

import { Button } from '../ui/button.tsx';
import { type BarSeries, Figures, Reading, type Show } from './bar-figures.tsx';
import { coloursOf } from './colours.ts';
import styles from './stacked-bars.module.css';
import { lengthOf, monthPlaces, roundPlaces, ticksFor } from './ticks.ts';
import { type Range, useBrush } from './use-brush.ts';
import { useWidth } from './use-width.ts';

type Props = {
  readonly title: string;
  /** What a reader needs to know of the picture, as a sentence. */
  readonly sentence: string;
  readonly series: readonly BarSeries[];
  /**
   * Of each bar: on the axis, in full, within a day the minute at which it begins, and over months whether it is the
   * first one of its month.
   */
  readonly starts: readonly { readonly tick: string; readonly full: string; readonly minute?: number; readonly isMonth?: boolean }[];
  /** Bars before it are not known. */
  readonly unknownBefore?: number | undefined;
  /** From here on bars are unfinished. */
  readonly unfinishedFrom?: number | undefined;
  readonly show: Show;
  /** The sums of the period before, as a line. */
  readonly before?: readonly bigint[] | undefined;
  readonly height?: number;
  /** The first and the last bar that were chosen: the same one, unless the chart `brushes`. */
  readonly onPick?: (first: number, last: number) => void;
  /** Whether several bars can be chosen together: by a drag, or by Shift with the arrow keys and Enter. */
  readonly brushes?: boolean;
  /** The labels of series that are in the legend alone. */
  readonly hidden?: readonly string[];
  /** Takes a series out of the question, by its entry of the legend. */
  readonly onLeaveOut?: (name: string) => void;
};

/** The least room for the words of the axis, and the width of one of their characters. */
const leftMin = 64;
const characterPx = 6.4;
const bottom = 24;
const top = 8;

/** Sums over time as stacked bars. Arrow keys move over the bars; a table has the same figures. */
export function StackedBars(props: Props) {
  const { title, sentence, series: all, starts, show, before, onPick, brushes = false, onLeaveOut, hidden = [] } = props;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const id = useId();
  const [isTable, setIsTable] = useState(false);
  const chosen = coloursOf(all.map(({ name }) => name)).map((colour, index) => all[index]?.colour ?? colour);
  const isDrawn = (index: number): boolean => !hidden.includes(all[index]?.label ?? '');
  const series = all.filter((_line, index) => isDrawn(index));
  const colours = chosen.filter((_colour, index) => isDrawn(index));
  const sums = starts.map((_start, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0n), 0n));
  const scale = scaleOf(sums, before, show);
  const { left } = scale;
  const { at, range, ...handlers } = useBrush({
    count: starts.length,
    indexAt: (clientX, picture) => barAt(clientX - picture.getBoundingClientRect().left - left, width - left, starts.length),
    brushes,
    onPick,
  });
  const [first = 0, last = 0] = range ?? [];
  return (
    <figure>
      <figcaption className="visually-hidden" id={id}>
        {title}. {sentence}
      </figcaption>
      <div ref={frame} className={styles['picture']} hidden={isTable}>
        <Picture {...props} {...{ series, id, width, range, handlers, colours, sums, scale }} />
        {at !== undefined && first === last && (
          <Reading
            {...{ series, colours, at, show, before }}
            when={starts[at]?.full ?? ''}
            sum={sums[at] ?? 0n}
            side={at > starts.length / 2 ? 'left' : 'right'}
          />
        )}
        {first < last && (
          <p className={styles['reading']} data-side={first > starts.length / 2 ? 'left' : 'right'} role="status">
            {starts[first]?.full} to {starts[last]?.full}: Enter, or letting go, narrows to it
          </p>
        )}
      </div>
      {isTable && <Figures {...{ title, series, starts, show, sums }} />}
      <div className={styles['foot']}>
        <ul className={styles['legend']}>
          {all.map(({ name, label }, index) => (
            <li key={label} data-hidden={!isDrawn(index)}>
              {name === undefined || onLeaveOut === undefined ? (
                <LegendEntry label={label} colour={chosen[index]} />
              ) : (
                <button type="button" aria-label={`Leave out ${label}`} title={`Leave out ${label}`} onClick={() => onLeaveOut(name)}>
                  <LegendEntry label={label} colour={chosen[index]} />
                </button>
              )}
              {!isDrawn(index) && ' (hidden)'}
            </li>
          ))}
          {before !== undefined && <li>┄ the period before</li>}
        </ul>
        <Button kind="quiet" pressed={isTable} onClick={() => setIsTable(!isTable)}>
          Table
        </Button>
      </div>
    </figure>
  );
}

function LegendEntry({ label, colour }: { readonly label: string; readonly colour: string | undefined }) {
  return (
    <>
      <span style={{ background: colour }} aria-hidden="true" /> <bdi title={label}>{label}</bdi>
    </>
  );
}

/** The bar at a place of the picture, in px from its axis. */
function barAt(x: number, width: number, count: number): number {
  const slot = Math.max(40, width) / Math.max(1, count);
  return Math.min(count - 1, Math.max(0, Math.floor(x / slot)));
}

/** The values of the axis with their words, and the room that these need at its left. */
function scaleOf(sums: readonly bigint[], before: readonly bigint[] = [], show: Show) {
  const highest = [...sums, ...before].reduce((max, value) => (value > max ? value : max), 0n);
  const ticks = ticksFor(highest, 4);
  // The words of an axis: those of its own, or those of the values.
  const words = ticks.map(show.axis?.(ticks) ?? show);
  return { ticks, words, left: Math.max(leftMin, Math.ceil(8 + characterPx * Math.max(...words.map((text) => text.length)))) };
}

type Handlers = Omit<ReturnType<typeof useBrush>, 'at' | 'range'>;

type PictureProps = Props & {
  readonly id: string;
  readonly width: number;
  readonly range: Range | undefined;
  readonly handlers: Handlers;
  readonly colours: readonly string[];
  readonly sums: readonly bigint[];
  readonly scale: ReturnType<typeof scaleOf>;
};

/** The bars that have words, `least` apart or more. */
function wordPlaces(starts: Props['starts'], least: number): ReadonlySet<number> {
  const minutes = starts.flatMap(({ minute }) => minute ?? []);
  if (minutes.length === starts.length) return roundPlaces(minutes, least);
  if (starts.some(({ isMonth }) => isMonth !== undefined))
    return monthPlaces(
      starts.map(({ isMonth = false }) => isMonth),
      least,
    );
  return new Set(starts.flatMap((_start, index) => (index % least === 0 ? [index] : [])));
}

/** Where things are in the picture. */
function placesOf({ width, height = 220, starts, scale: { ticks, left } }: PictureProps) {
  const ceiling = ticks.at(-1) ?? 1n;
  const inner = { width: Math.max(40, width - left), height: height - bottom - top };
  const slot = inner.width / Math.max(1, starts.length);
  const bar = Math.max(1, Math.min(48, slot * 0.78));
  const every = Math.ceil(64 / slot);
  return {
    height,
    left,
    inner,
    slot,
    bar,
    words: wordPlaces(starts, every),
    y: (value: bigint): number => top + inner.height * (1 - lengthOf(value, ceiling)),
    x: (index: number): number => left + slot * index + (slot - bar) / 2,
    middle: (index: number): number => left + slot * (index + 0.5),
  };
}

function Picture(props: PictureProps) {
  const { id, width, starts, handlers, brushes = false, before, scale, unknownBefore = 0 } = props;
  const places = placesOf(props);
  const { height, left, inner, slot, y, middle } = places;
  return (
    <svg {...{ width, height, ...handlers }} role="img" aria-labelledby={id} tabIndex={0} data-brushes={brushes}>
      <defs>
        <pattern id={`${id}-open`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="3" height="6" fill="var(--page)" opacity="0.55" />
        </pattern>
        <pattern id={`${id}-unknown`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="1" height="6" fill="var(--hairline)" />
        </pattern>
      </defs>
      {scale.ticks.map((tick, index) => (
        <g key={String(tick)}>
          <line x1={left} x2={width} y1={y(tick)} y2={y(tick)} className={styles['grid']} />
          <text x={left - 8} y={y(tick) + 4} className={styles['tick']} textAnchor="end">
            {scale.words[index]}
          </text>
        </g>
      ))}
      {unknownBefore > 0 && <rect x={left} width={slot * unknownBefore} y={top} height={inner.height} fill={`url(#${id}-unknown)`} />}
      {starts.map((start, index) => (
        <Slot key={start.full} {...props} {...{ places, index }} tick={start.tick} />
      ))}
      {before !== undefined && (
        <polyline
          className={styles['before']}
          points={before
            .slice(0, starts.length)
            .map((value, index) => `${middle(index)},${y(value)}`)
            .join(' ')}
        />
      )}
    </svg>
  );
}

type SlotProps = PictureProps & { readonly places: ReturnType<typeof placesOf>; readonly index: number; readonly tick: string };

/** One bar, with its place on the axis. */
function Slot({ places, index, tick, id, series, colours, sums, range, unfinishedFrom, onPick }: SlotProps) {
  const isIn = range !== undefined && index >= range[0] && index <= range[1];
  const { left, x, y, middle, slot, bar, inner, height, words } = places;
  const sum = sums[index] ?? 0n;
  return (
    <g data-pick={onPick !== undefined} className={styles['slot']}>
      <rect x={left + slot * index} y={top} width={slot} height={inner.height} className={styles['hit']} data-at={isIn} />
      <Stack {...{ series, colours, index, y }} x={x(index)} width={bar} />
      {unfinishedFrom !== undefined && index >= unfinishedFrom && (
        <rect x={x(index)} width={bar} y={y(sum)} height={Math.max(0, y(0n) - y(sum))} fill={`url(#${id}-open)`} />
      )}
      {words.has(index) && (
        <text x={middle(index)} y={height - 6} textAnchor="middle" className={styles['tick']}>
          {tick}
        </text>
      )}
    </g>
  );
}

type StackProps = {
  readonly series: readonly BarSeries[];
  readonly colours: readonly string[];
  readonly index: number;
  readonly x: number;
  readonly width: number;
  readonly y: (value: bigint) => number;
};

function Stack({ series, colours, index, x, width, y }: StackProps) {
  let below = 0n;
  return series.map(({ label, values }, place) => {
    const value = values[index] ?? 0n;
    const [from, to] = [y(below), y(below + value)];
    below += value;
    return value === 0n ? null : <rect key={label} x={x} width={width} y={to} height={Math.max(0.5, from - to)} fill={colours[place]} />;
  });
}
