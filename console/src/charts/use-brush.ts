import { type KeyboardEvent, type PointerEvent, useState } from 'react';

type Parts = {
  readonly count: number;
  /** The bar under a place of the window, in px from its left edge. */
  readonly indexAt: (clientX: number, picture: Element) => number;
  /** Whether several bars can be chosen together. */
  readonly brushes: boolean;
  readonly onPick: ((first: number, last: number) => void) | undefined;
};

/** The first and the last bar of a choice. */
export type Range = readonly [first: number, last: number];

/**
 * Moves over bars, and chooses one or several of them. A press chooses the bar below it, and with `brushes` a drag
 * those from there on. Keys do the same: arrows move, Shift with them extends, Enter chooses, Escape lets go.
 */
export function useBrush({ count, indexAt, brushes, onPick }: Parts) {
  const [at, setAt] = useState<number>();
  const [anchor, setAnchor] = useState<number>();
  const [isDragging, setIsDragging] = useState(false);
  const range = at === undefined ? undefined : rangeOf(anchor ?? at, at);
  const letGo = (): void => {
    setAnchor(undefined);
    setIsDragging(false);
  };
  const pick = (): void => {
    letGo();
    // What follows has other bars.
    setAt(undefined);
    if (range !== undefined) onPick?.(...range);
  };
  return {
    at,
    range,
    onKeyDown: (event: KeyboardEvent): void => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step !== undefined) {
        setAnchor(event.shiftKey && brushes ? (anchor ?? at ?? 0) : undefined);
        setAt(Math.min(count - 1, Math.max(0, (at ?? -1) + step)));
      } else if (event.key === 'Enter') pick();
      else if (event.key === 'Escape') {
        letGo();
        setAt(undefined);
      } else return;
      event.preventDefault();
    },
    onPointerDown: (event: PointerEvent): void => {
      if (event.button !== 0 || onPick === undefined) return;
      const index = indexAt(event.clientX, event.currentTarget);
      event.currentTarget.setPointerCapture(event.pointerId);
      setAt(index);
      setAnchor(index);
      setIsDragging(true);
    },
    onPointerMove: (event: PointerEvent): void => {
      const index = indexAt(event.clientX, event.currentTarget);
      if (!isDragging) setAnchor(undefined);
      else if (!brushes) return;
      setAt(index);
    },
    onPointerUp: (): void => {
      if (isDragging) pick();
    },
    onPointerCancel: letGo,
    onPointerLeave: (): void => {
      if (!isDragging) setAt(undefined);
    },
  };
}

const rangeOf = (one: number, other: number): Range => [Math.min(one, other), Math.max(one, other)];
