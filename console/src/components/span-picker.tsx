import { useState } from 'react';

import { instantIn, showMinute } from '../format/times.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { InlineSelect, TextField } from '../ui/field.tsx';
import { useKeys } from '../ui/use-keys.ts';
import { one } from './search-params.ts';
import { isSpanName, moveSpan, namedSpans, type SpanName } from './span.ts';
import { useAddress, useSession, useSpan, useZone } from './use-page.ts';

/** The span of time of a page: a named one, or two times in the zone of the page. */
export function SpanPicker({ fallback }: { readonly fallback: SpanName }) {
  const [search, change] = useAddress();
  const span = useSpan(fallback);
  const zone = useZone();
  const { time_zone: reporting } = useSession();
  const [isChoosing, setIsChoosing] = useState(false);
  const isChosen = one(search, 'from') !== undefined;
  const name = isSpanName(one(search, 'r')) ? (one(search, 'r') ?? fallback) : fallback;
  const move = (step: 1 | -1): void => change({ ...moveSpan(span, step), r: undefined });
  const nextZone = zone === reporting ? 'UTC' : zone === 'UTC' ? 'browser' : undefined;
  useKeys({
    '[': () => move(-1),
    ']': () => move(1),
    t: () => change({ r: 'today', from: undefined, to: undefined }),
    z: () => change({ tz: nextZone }),
  });
  return (
    <>
      <Button kind="quiet" icon="left" label="The time before" shortcut="[" onClick={() => move(-1)} />
      <InlineSelect
        label="Span of time"
        value={isChosen ? 'chosen' : name}
        options={[
          ...Object.entries(namedSpans).map(([value, { text }]) => ({ value, text })),
          { value: 'chosen', text: isChosen ? `${showMinute(span.from, zone)} to ${showMinute(span.to, zone)}` : 'from … to …' },
        ]}
        onChange={(value) => (value === 'chosen' ? setIsChoosing(true) : change({ r: value, from: undefined, to: undefined }))}
      />
      {isChosen && <Button kind="quiet" icon="clock" label="Change the times" onClick={() => setIsChoosing(true)} />}
      <Button kind="quiet" icon="right" label="The time after" shortcut="]" onClick={() => move(1)} />
      <Chooser
        open={isChoosing}
        onClose={() => setIsChoosing(false)}
        from={showMinute(span.from, zone)}
        to={showMinute(span.to, zone)}
        zone={zone}
      />
    </>
  );
}

type ChooserProps = {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly from: string;
  readonly to: string;
  readonly zone: string;
};

function Chooser({ open, onClose, from, to, zone }: ChooserProps) {
  return (
    <Dialog open={open} onClose={onClose} title="Span of time">
      {open && <Times {...{ onClose, from, to, zone }} />}
    </Dialog>
  );
}

function Times({ onClose, from, to, zone }: Omit<ChooserProps, 'open'>) {
  const [, change] = useAddress();
  const [start, setStart] = useState(from.replace(' ', 'T'));
  const [end, setEnd] = useState(to.replace(' ', 'T'));
  const isWrong = start === '' || end === '' || instantIn(start, zone) >= instantIn(end, zone);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isWrong) return;
        const instant = (wall: string): string => new Date(instantIn(wall, zone)).toISOString();
        change({ from: instant(start), to: instant(end), r: undefined });
        onClose();
      }}
    >
      <TextField label="From" type="datetime-local" value={start} onChange={setStart} help={`On the clocks of ${zone}.`} />
      <TextField
        label="To (not included)"
        type="datetime-local"
        value={end}
        onChange={setEnd}
        error={isWrong ? 'The end must be after the beginning.' : undefined}
      />
      <Button kind="main" type="submit" disabledBecause={isWrong ? 'The end must be after the beginning.' : undefined}>
        Show
      </Button>
    </form>
  );
}
