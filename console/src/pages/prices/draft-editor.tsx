import { useEffect, useRef, useState } from 'react';

import { curlOf } from '../../api/equivalents.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { one } from '../../components/search-params.ts';
import { useChange } from '../../components/use-change.ts';
import { useAddress } from '../../components/use-page.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { say } from '../../ui/toasts.tsx';
import { BookProblems } from './book-problems.tsx';
import type { DraftProps } from './draft-props.ts';
import { PriceTable } from './price-table.tsx';
import { asBook, type PriceBookFile } from './price-words.ts';
import styles from './prices-page.module.css';

const textOf = (book: unknown): string => JSON.stringify(book, undefined, 2);

/** The text of a draft, and whether somebody else has changed the draft since it was filled. */
function useDraftText({ draft, version }: DraftProps) {
  const [text, setText] = useState(() => textOf(draft.book));
  // What the server had when the form was filled: another version is somebody else's.
  const [seen, setSeen] = useState({ version, text: textOf(draft.book) });
  const saving = useChange('price_drafts.update', ['price_drafts']);
  const isChanged = text !== seen.text;
  if (version !== seen.version && !isChanged && !saving.busy) {
    const present = textOf(draft.book);
    setSeen({ version, text: present });
    setText(present);
  }
  const input = { params: { id: draft.id }, body: { text }, version: seen.version };
  const save = async (): Promise<void> => {
    const saved = await saving.run(input);
    if (saved === undefined) return;
    const present = textOf(saved.body.book);
    setText(present);
    setSeen({ version: undefined, text: present });
    say('The draft is kept', 'It has no problem. It charges nothing yet.');
  };
  const isStale = saving.problem?.code === 'version_mismatch' || (version !== seen.version && isChanged);
  const acceptPresent = (): void => {
    saving.clear();
    setSeen({ version, text: textOf(draft.book) });
  };
  return { text, setText, undo: () => setText(seen.text), input, save, saving, isChanged, isStale, acceptPresent };
}

/** The prices of a draft: single numbers as a table, and all of it as text. */
export function DraftEditor({ draft, version }: DraftProps) {
  const [search, change] = useAddress();
  const isText = one(search, 'as') === 'text';
  const { text, setText, undo, input, save, saving, isChanged, isStale, acceptPresent } = useDraftText({ draft, version });
  const area = useRef<HTMLTextAreaElement>(null);
  const [wanted, setWanted] = useState<number>();
  useEffect(() => {
    // The address changes first, and then the text is there.
    if (!isText || wanted === undefined) return;
    selectLine(area.current, wanted);
    setWanted(undefined);
  }, [isText, wanted]);
  const goTo = (line: number): void => {
    change({ as: 'text' });
    setWanted(line);
  };
  return (
    <>
      <div className={styles['controls']}>
        <Button pressed={!isText} onClick={() => change({ as: undefined })}>
          Table
        </Button>
        <Button pressed={isText} onClick={() => change({ as: 'text' })}>
          Text
        </Button>
        <Button kind="main" busy={saving.busy} disabledBecause={isChanged ? undefined : 'Nothing is changed.'} onClick={() => void save()}>
          Check and keep
        </Button>
        {isChanged && <Button onClick={undo}>Undo all</Button>}
      </div>
      {isStale && (
        <Notice tone="warning" action={<Button onClick={acceptPresent}>Keep mine over it</Button>}>
          Somebody else changed the draft meanwhile. Keep yours over theirs, or undo all to see it.
        </Notice>
      )}
      {saving.problem !== undefined && saving.problem.code !== 'version_mismatch' && (
        <BookProblems problem={saving.problem} text={text} onLine={goTo} />
      )}
      {isText ? (
        <textarea
          ref={area}
          className={styles['book']}
          aria-label="The book of the draft, as JSON or YAML"
          value={text}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
      ) : (
        <TextAsTable text={text} onChange={setText} />
      )}
      <Equivalent
        command="weir prices check prices.json"
        curl={curlOf(location.origin, 'price_drafts.update', { ...input, body: { text: '…' } })}
      />
    </>
  );
}

function TextAsTable({ text, onChange }: { readonly text: string; readonly onChange: (text: string) => void }) {
  const book = readBook(text);
  if (book === undefined) return <Notice tone="info">The text is no JSON, so it has no table. Check and keep it first.</Notice>;
  return <PriceTable book={book} onChange={(next) => onChange(textOf(next))} />;
}

/** The book of a text; undefined if it is no JSON, or lacks the form of a book. */
function readBook(text: string): PriceBookFile | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const entries = typeof value === 'object' && value !== null && 'entries' in value ? value.entries : undefined;
    const isList = Array.isArray(entries) && entries.every((each) => typeof each === 'object' && each !== null && 'model' in each);
    return isList ? asBook(value) : undefined;
  } catch {
    return undefined;
  }
}

function selectLine(area: HTMLTextAreaElement | null, line: number): void {
  if (area === null) return;
  const lines = area.value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = Math.max(0, (line - 6) * 18);
}
