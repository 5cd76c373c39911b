import { cloneElement, type ReactElement, type SyntheticEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';

import styles from './hint.module.css';

/** How long a pointer rests before the text shows, and how long it may be on its way from the element to the text. */
const delayMs = { show: 400, hide: 120 };
const gap = 6;

/**
 * A short text at an element, for pointer and keyboard. It is an addition: nothing is said only here. The browser's
 * popover puts it above everything; a library for it would be a quarter of the first load.
 */
export function Hint({ text, children }: { readonly text: string; readonly children: ReactElement<Record<string, unknown>> }) {
  const id = useId();
  const [anchor, setAnchor] = useState<Element>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const change = (next: Element | undefined, waitMs: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setAnchor(next), waitMs);
  };
  const hide = (): void => change(undefined, delayMs.hide);
  useEffect(() => () => clearTimeout(timer.current), []);
  const trigger = cloneElement(children, {
    'aria-describedby': anchor === undefined ? undefined : id,
    onPointerEnter: ({ currentTarget }: SyntheticEvent) => change(currentTarget, delayMs.show),
    onPointerLeave: hide,
    onPointerDown: () => change(undefined, 0),
    onFocus: ({ currentTarget }: SyntheticEvent) => {
      if (currentTarget.matches(':focus-visible')) change(currentTarget, 0);
    },
    onBlur: () => change(undefined, 0),
  });
  return (
    <>
      {trigger}
      {anchor !== undefined && (
        <Text id={id} anchor={anchor} onEnter={() => change(anchor, 0)} onLeave={hide}>
          {text}
        </Text>
      )}
    </>
  );
}

type TextProps = {
  readonly id: string;
  readonly anchor: Element;
  readonly children: string;
  readonly onEnter: () => void;
  readonly onLeave: () => void;
};

function Text({ id, anchor, children, onEnter, onLeave }: TextProps) {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    element.current?.showPopover();
    if (element.current !== null) place(element.current, anchor);
  }, [anchor]);
  useEffect(() => {
    const closeByKey = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') onLeave();
    };
    document.addEventListener('keydown', closeByKey);
    return () => document.removeEventListener('keydown', closeByKey);
  });
  return (
    <span
      ref={element}
      id={id}
      role="tooltip"
      popover="manual"
      className={styles['hint']}
      onPointerEnter={onEnter}
      onPointerLeave={onLeave}
    >
      {children}
    </span>
  );
}

/** Above the element if there is room, else below it, and never beyond the window. */
function place(text: HTMLElement, anchor: Element): void {
  const at = anchor.getBoundingClientRect();
  const { width, height } = text.getBoundingClientRect();
  const left = Math.max(4, Math.min(at.left + (at.width - width) / 2, innerWidth - width - 4));
  const top = at.top - height - gap;
  text.style.left = `${left}px`;
  text.style.top = `${top < 4 ? at.bottom + gap : top}px`;
}
