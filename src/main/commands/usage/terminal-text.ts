/** The properties of the terminal, or of the pipe instead of it. */
export type Terminal = {
  /** Columns of a line. */
  readonly columns: number;
  /** Whether it is a terminal that accepts control codes, such as those for bold text. */
  readonly isRich: boolean;
};

/** Combining marks and joiners take no column. Wide blocks of East Asian scripts and emoji take two. */
const NO_WIDTH = /^(?:\p{Mn}|\p{Me}|\u200b|\u200c|\u200d)$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;
/** Control characters and direction marks. Model names come from clients, and a terminal executes control codes. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Replaces characters that would control the terminal. */
export function inert(text: string): string {
  return text.toWellFormed().replace(UNSAFE, '\ufffd');
}

/** The number of terminal columns that a text takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Cuts a text to `width` columns. An ellipsis marks the cut. */
export function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let cut = '';
  let taken = 1;
  for (const character of text) {
    taken += displayWidth(character);
    if (taken > width) break;
    cut += character;
  }
  return `${cut}…`;
}

export function padTo(text: string, width: number, side: 'left' | 'right'): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return side === 'left' ? blanks + text : text + blanks;
}

export function bold(text: string, { isRich }: Terminal): string {
  return isRich ? `\u001b[1m${text}\u001b[22m` : text;
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar for a share of the greatest value: blocks in a terminal, number signs elsewhere. Each share above 0 shows. */
export function bar(share: number, width: number, { isRich }: Terminal): string {
  if (share <= 0 || width <= 0) return '';
  if (!isRich) return '#'.repeat(Math.max(1, Math.round(share * width)));
  const parts = Math.max(1, Math.round(share * width * 8));
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
}
