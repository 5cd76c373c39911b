import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from 'react';

import styles from './data-table.module.css';
import { useKeys } from './use-keys.ts';

export type Column<Row> = {
  readonly id: string;
  readonly title: ReactNode;
  /** Figures stand at the right. */
  readonly figures?: boolean;
  /** 1 is shown at any width, 2 from 560 px, 3 from 900 px of the table's own width. */
  readonly priority?: 1 | 2 | 3;
  /** A sentence, which goes on in further lines unless the table is so long that its rows need one height. */
  readonly wraps?: boolean;
  /** Names and texts of any length: they get the width that the other columns leave, and are cut before a figure is. */
  readonly grows?: boolean;
  readonly render: (row: Row) => ReactNode;
};

type Selection<Row> = {
  readonly keys: ReadonlySet<string>;
  readonly onChange: (keys: ReadonlySet<string>) => void;
  /** The name of a row, for readers of the screen. */
  readonly nameOf: (row: Row) => string;
};

type Props<Row> = {
  /** What the rows are, for readers of the screen. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Opens a row: by click, by Enter. */
  readonly onOpen?: (row: Row) => void;
  /** The row whose panel is open. */
  readonly openKey?: string | undefined;
  /** A row of sums at the end. */
  readonly totals?: Row;
  /** The keys of chosen rows, and what changes them: a box in each row, and `x` for the row of `j` and `k`. */
  readonly selection?: Selection<Row>;
  /** Number of all rows, if more will follow. */
  readonly rowCount?: number;
};

/** Above so many rows only those near the window are in the document. */
const virtualFrom = 200;
const rowHeights = { comfortable: 40, compact: 26, normal: 32 };
/** In a table so narrow as the styles say, rows of a long one have two lines. */
const narrowPx = 560;
const narrowRowHeight = 44;

/** The height of a row in px, by the density that the person has chosen. */
function presentRowHeight(isNarrow: boolean): number {
  const density = document.documentElement.dataset['density'];
  return isNarrow ? narrowRowHeight : rowHeights[density === 'comfortable' || density === 'compact' ? density : 'normal'];
}

/** Rows of like things as a real table. `j` and `k` walk, Enter opens, `x` chooses. */
export function DataTable<Row>({ caption, columns: given, rows, keyOf, onOpen, openKey, totals, selection, rowCount }: Props<Row>) {
  const columns = useMemo(
    () => (selection === undefined ? given : [boxColumn(selection, rows, keyOf), ...given]),
    // `keyOf` is the same function in another guise at each drawing.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [selection?.keys, given, rows],
  );
  const body = useRef<HTMLTableSectionElement>(null);
  const [active, setActive] = useState(-1);
  const isVirtual = rows.length > virtualFrom;
  const { top, isNarrow } = usePlace(body, isVirtual);
  const rowHeight = presentRowHeight(isNarrow);
  const virtualizer = useWindowVirtualizer({
    count: isVirtual ? rows.length : 0,
    estimateSize: () => rowHeight,
    overscan: 20,
    scrollMargin: top,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  const visible = isVirtual ? virtualizer.getVirtualItems().map(({ index }) => index) : rows.map((_row, index) => index);
  const first = visible[0] ?? 0;
  const last = visible.at(-1) ?? -1;
  useWalk({
    rows,
    active,
    setActive,
    open: onOpen,
    choose: choiceOf(selection, keyOf),
    scrollTo: (index) => isVirtual && virtualizer.scrollToIndex(index),
  });
  useEffect(() => {
    if (openKey === undefined) return;
    const index = rows.findIndex((row) => keyOf(row) === openKey);
    if (index >= 0) setActive(index);
    // Only when another row is opened: the rows themselves may be new at each answer.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [openKey]);

  return (
    <Frame caption={caption} columns={columns} rowCount={isVirtual ? (rowCount ?? rows.length) + 1 : undefined}>
      <Titles columns={columns} />
      <tbody ref={body}>
        {isVirtual && first > 0 && <Gap height={first * rowHeight} columns={columns.length} />}
        {visible.map((index) => {
          const row = rows[index];
          if (row === undefined) return null;
          const key = keyOf(row);
          return (
            <Row
              key={key}
              {...{ columns, row, index, isVirtual, onOpen, onActive: setActive }}
              isOpen={key === openKey}
              isActive={index === active}
            />
          );
        })}
        {isVirtual && last < rows.length - 1 && <Gap height={(rows.length - 1 - last) * rowHeight} columns={columns.length} />}
      </tbody>
      {totals !== undefined && (
        <tfoot>
          <tr>
            <Cells columns={columns} row={totals} />
          </tr>
        </tfoot>
      )}
    </Frame>
  );
}

type RowProps<Item> = {
  readonly columns: readonly Column<Item>[];
  readonly row: Item;
  readonly index: number;
  readonly isVirtual: boolean;
  readonly isOpen: boolean;
  readonly isActive: boolean;
  readonly onOpen: ((row: Item) => void) | undefined;
  readonly onActive: (index: number) => void;
};

/** One row. While rows move, those that stay in the window are not drawn again: their links are costly. */
const Row = memo(function Row<Item>({ columns, row, index, isVirtual, isOpen, isActive, onOpen, onActive }: RowProps<Item>) {
  return (
    <tr
      aria-rowindex={isVirtual ? index + 2 : undefined}
      aria-selected={onOpen === undefined ? undefined : isOpen}
      data-open={isOpen}
      data-active={isActive}
      data-can-open={onOpen !== undefined}
      onClick={(event) => {
        if (onOpen === undefined || (event.target as HTMLElement).closest('a,button,input,label') !== null) return;
        onActive(index);
        onOpen(row);
      }}
    >
      <Cells columns={columns} row={row} />
    </tr>
  );
}) as <Item>(props: RowProps<Item>) => ReactNode;

type FrameProps<Row> = Pick<Props<Row>, 'caption' | 'columns'> & { readonly rowCount: number | undefined; readonly children: ReactNode };

/** The table with what it scrolls in, if it is wider than its place. */
function Frame<Row>({ caption, columns, rowCount, children }: FrameProps<Row>) {
  const frame = useRef<HTMLDivElement>(null);
  const scrolls = useScrolls(frame);
  const names = columns.filter(({ grows, priority = 1 }) => grows === true && priority === 1).length;
  return (
    <div ref={frame} className={styles['frame']} data-scrolls={scrolls} role="group" aria-label={caption} tabIndex={0}>
      <table className={styles['table']} data-names={names} aria-rowcount={rowCount}>
        <caption className="visually-hidden">{caption}</caption>
        {children}
      </table>
    </div>
  );
}

/** How far below the beginning of the page rows begin, in px, and whether they are narrow: it decides which are in the window. */
function usePlace(body: RefObject<HTMLElement | null>, isWanted: boolean): { readonly top: number; readonly isNarrow: boolean } {
  const [top, setTop] = useState(0);
  const [isNarrow, setIsNarrow] = useState(false);
  // After each drawing: what stands above the table may have changed.
  useLayoutEffect(() => {
    if (!isWanted || body.current === null) return;
    setTop(Math.round(body.current.getBoundingClientRect().top + window.scrollY));
    setIsNarrow((body.current.closest('[role="group"]')?.clientWidth ?? narrowPx) < narrowPx);
  });
  return { top, isNarrow };
}

/** Whether a table is wider than its frame, also in another width of the window and with other rows. */
function useScrolls(frame: RefObject<HTMLDivElement | null>): boolean {
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const { current: box } = frame;
    const table = box?.firstElementChild;
    if (box === null || table === null || table === undefined) return undefined;
    const observer = new ResizeObserver(() => setScrolls(table.scrollWidth > box.clientWidth + 1));
    observer.observe(box);
    observer.observe(table);
    return () => observer.disconnect();
  }, [frame]);
  return scrolls;
}

/** Takes a row into the selection, or out of it. */
function choiceOf<Row>(selection: Selection<Row> | undefined, keyOf: (row: Row) => string): ((row: Row) => void) | undefined {
  if (selection === undefined) return undefined;
  return (row) => {
    const keys = new Set(selection.keys);
    if (!keys.delete(keyOf(row))) keys.add(keyOf(row));
    selection.onChange(keys);
  };
}

/** The column of boxes. Its title chooses all rows, or none. */
function boxColumn<Row>(selection: Selection<Row>, rows: readonly Row[], keyOf: (row: Row) => string): Column<Row> {
  const areAll = rows.length > 0 && rows.every((row) => selection.keys.has(keyOf(row)));
  const choose = choiceOf(selection, keyOf);
  return {
    id: 'selected',
    title: (
      <input
        type="checkbox"
        aria-label="Choose all rows"
        checked={areAll}
        onChange={() => selection.onChange(new Set(areAll ? [] : rows.map(keyOf)))}
      />
    ),
    render: (row) => (
      <label className={styles['box']}>
        <input
          type="checkbox"
          aria-label={`Choose ${selection.nameOf(row)}`}
          checked={selection.keys.has(keyOf(row))}
          onChange={() => choose?.(row)}
        />
      </label>
    ),
  };
}

function Titles<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ id, title, figures, priority = 1 }) => (
          <th key={id} scope="col" data-figures={figures} data-priority={priority}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Cells<Row>({ columns, row }: { readonly columns: readonly Column<Row>[]; readonly row: Row }) {
  return columns.map(({ id, figures, priority = 1, wraps, grows, render }) => {
    const content = render(row);
    return (
      <td key={id} data-figures={figures} data-priority={priority} data-wraps={wraps} data-grows={grows}>
        {grows === true ? (
          <div className={styles['text']} title={typeof content === 'string' ? content : undefined}>
            {content}
          </div>
        ) : (
          content
        )}
      </td>
    );
  });
}

/** The room of rows that are not in the document. */
function Gap({ height, columns }: { readonly height: number; readonly columns: number }) {
  return (
    <tr aria-hidden="true">
      <td colSpan={columns} className={styles['gap']} style={{ height }} />
    </tr>
  );
}

type Walk<Row> = {
  readonly rows: readonly Row[];
  readonly active: number;
  readonly setActive: (index: number) => void;
  readonly open: ((row: Row) => void) | undefined;
  readonly choose: ((row: Row) => void) | undefined;
  readonly scrollTo: (index: number) => unknown;
};

/** `j` and `k` walk to a row, Enter opens it, `x` chooses it. */
function useWalk<Row>({ rows, active, setActive, open, choose, scrollTo }: Walk<Row>): void {
  const walk = (step: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, active + step));
    setActive(next);
    scrollTo(next);
    requestAnimationFrame(() => document.querySelector('tr[data-active="true"]')?.scrollIntoView({ block: 'nearest' }));
  };
  const withRow = (act: ((row: Row) => void) | undefined) => () => {
    const row = rows[active];
    if (row !== undefined) act?.(row);
  };
  useKeys({
    ...((open !== undefined || choose !== undefined) && { j: () => walk(1), k: () => walk(-1) }),
    ...(open !== undefined && { Enter: withRow(open) }),
    ...(choose !== undefined && { x: withRow(choose) }),
  });
}
