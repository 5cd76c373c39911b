import { checkNames, type CheckName, type DoctorReport, type Finding, type MatrixRow, type Section, type Verdict } from './finding.ts';

export type RenderStyle = {
  readonly width: number;
  readonly colour: boolean;
  /** False if the terminal's character set has no check marks. */
  readonly unicode: boolean;
};

/** Headings of the matrix. A tilde means: streamed. */
const headings: Readonly<Record<CheckName, string>> = {
  reply: 'reply',
  stream: 'reply~',
  usage: 'usage',
  'stream-usage': 'usage~',
  stop: 'stop',
  system: 'sys',
  tool: 'tool',
  'tool-stream': 'tool~',
  'tool-result': 'result',
  json: 'json',
  image: 'img',
  utf8: 'utf8',
  count: 'count',
  error: 'err',
};

const unicodeMarks: Readonly<Record<Verdict, string>> = { good: '✓', bad: '✗', warning: '!', none: '–' };
const asciiMarks: Readonly<Record<Verdict, string>> = { good: '+', bad: 'x', warning: '!', none: '-' };
const colours: Readonly<Record<Verdict, number>> = { good: 32, bad: 31, warning: 33, none: 90 };

function cutWord(word: string, length: number): readonly string[] {
  return word.length <= length ? [word] : [word.slice(0, length), ...cutWord(word.slice(length), length)];
}

/**
 * Breaks a text into lines of at most `width` characters, at spaces if possible. Continued lines are indented by
 * `indent`.
 */
export function wrap(text: string, width: number, indent: number): string {
  const room = Math.max(width - indent, 20);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((whole) => cutWord(whole, room))) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`);
}

/** Writes a report for people. */
export function renderReport(report: DoctorReport, style: RenderStyle): string {
  const painter = new Painter(style);
  const parts = [
    ...report.sections.map((section) => painter.section(section)),
    ...report.upstreams.map((upstream) => painter.section(upstream)),
    painter.matrix(report.upstreams.flatMap(({ matrix }) => matrix)),
    painter.conclusion(report),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

type Aside = {
  readonly verdict: Verdict;
  readonly says: string;
  readonly advice: string | undefined;
  readonly names: Set<string>;
  readonly rows: Set<string>;
};

const asideOrder: readonly Verdict[] = ['bad', 'warning', 'none', 'good'];

class Painter {
  readonly #style: RenderStyle;

  constructor(style: RenderStyle) {
    this.#style = style;
  }

  section({ title, findings }: Section): string {
    const subjectWidth = Math.max(...findings.map(({ subject }) => subject.length), 0);
    return [this.#bold(title), ...findings.map((finding) => this.#finding(finding, subjectWidth))].join('\n');
  }

  #finding({ verdict, subject, says, advice, tookMs }: Finding, subjectWidth: number): string {
    const indent = subjectWidth + 6;
    const took = tookMs === undefined ? '' : ` (${Math.max(1, Math.round(tookMs))} ms)`;
    const first = `  ${this.#mark(verdict)} ${subject.padEnd(subjectWidth)}  ${wrap(says + took, this.#style.width, indent)}`;
    return advice === undefined ? first : `${first}\n${this.#advice(advice, indent)}`;
  }

  #advice(advice: string, indent: number): string {
    const arrow = this.#style.unicode ? '→' : '>';
    return `${' '.repeat(indent)}${arrow} ${wrap(advice, this.#style.width, indent + 2)}`;
  }

  matrix(rows: readonly MatrixRow[]): string {
    if (rows.length === 0) return '';
    const columns = checkNames.filter((name) => rows.some(({ results }) => results.some(({ check }) => check === name)));
    const labels = rows.map(({ upstream, model, title }) => `${upstream}  ${model}  ${title}`);
    const labelWidth = Math.max(...labels.map((label) => label.length));
    const tableWidth = columns.reduce((sum, name) => sum + headings[name].length + 1, -1);
    const lines =
      4 + labelWidth + tableWidth <= this.#style.width
        ? this.#besideLabels(rows, columns, labels, labelWidth)
        : 4 + tableWidth <= this.#style.width
          ? this.#belowLabels(rows, columns, labels)
          : this.#asList(rows, labels);
    const asides = this.#asides(rows);
    const legend = `  ${(['good', 'bad', 'warning', 'none'] as const).map((verdict) => `${this.#mark(verdict)} ${legendWords[verdict]}`).join('   ')}   ~ streamed`;
    return [this.#bold('Conformance'), ...lines, legend, ...(asides.length === 0 ? [] : ['', ...asides])].join('\n');
  }

  #besideLabels(
    rows: readonly MatrixRow[],
    columns: readonly CheckName[],
    labels: readonly string[],
    labelWidth: number,
  ): readonly string[] {
    const head = `  ${' '.repeat(labelWidth)}  ${columns.map((name) => headings[name]).join(' ')}`;
    return [head, ...rows.map((row, at) => `  ${(labels[at] ?? '').padEnd(labelWidth)}  ${this.#cells(row, columns)}`)];
  }

  #belowLabels(rows: readonly MatrixRow[], columns: readonly CheckName[], labels: readonly string[]): readonly string[] {
    const head = `    ${columns.map((name) => headings[name]).join(' ')}`;
    return [head, ...rows.flatMap((row, at) => [`  ${labels[at] ?? ''}`, `    ${this.#cells(row, columns)}`])];
  }

  #cells({ results }: MatrixRow, columns: readonly CheckName[]): string {
    return columns
      .map((name) => {
        const { verdict } = results.find(({ check }) => check === name) ?? { verdict: 'none' as const };
        return this.#mark(verdict) + ' '.repeat(headings[name].length - 1);
      })
      .join(' ')
      .trimEnd();
  }

  #asList(rows: readonly MatrixRow[], labels: readonly string[]): readonly string[] {
    return rows.flatMap(({ results }, at) => {
      // A mark and its name stay on one line: the space between them is inserted afterwards.
      const cells = results.map(({ check, verdict }) => `${this.#plainMark(verdict)}\u00a0${headings[check]}`).join(' ');
      return [`  ${labels[at] ?? ''}`, `    ${wrap(cells, this.#style.width, 4).replaceAll('\u00a0', ' ')}`];
    });
  }

  /** Explains the cells that are not green. A text of several cells is shown once, with its rows. */
  #asides(rows: readonly MatrixRow[]): readonly string[] {
    const groups = new Map<string, Aside>();
    for (const { upstream, title, results } of rows) {
      for (const { check, verdict, says, advice } of results) {
        if (verdict === 'good' || says === undefined) continue;
        const key = `${verdict} ${says} ${advice ?? ''}`;
        const group = groups.getOrInsertComputed(key, () => ({ verdict, says, advice, names: new Set(), rows: new Set() }));
        group.names.add(headings[check]);
        group.rows.add(`${upstream} ${title}`);
      }
    }
    // Problems come before information.
    const told = [...groups.values()].toSorted((one, other) => asideOrder.indexOf(one.verdict) - asideOrder.indexOf(other.verdict));
    return told.flatMap(({ verdict, says, advice, names, rows: about }) => {
      const place = rows.length === 1 ? '' : ` (${[...about].join(', ')})`;
      const line = `  ${this.#mark(verdict)} ${wrap(`${[...names].join(', ')}: ${says}${place}`, this.#style.width, 4)}`;
      return advice === undefined ? [line] : [line, this.#advice(advice, 4)];
    });
  }

  conclusion({ healthy, aborted, simulated, sections, upstreams }: DoctorReport): string {
    const findings = [...sections, ...upstreams].flatMap((section) => section.findings.map(({ verdict }) => verdict));
    const cells = upstreams.flatMap(({ matrix }) => matrix.flatMap(({ results }) => results.map(({ verdict }) => verdict)));
    const count = (wanted: Verdict): number => [...findings, ...cells].filter((verdict) => verdict === wanted).length;
    const counts = `${count('good')} good, ${count('bad')} bad, ${count('warning')} to look at`;
    const about = simulated ? ' These were the simulated vendors: set a vendor key or write weir.yaml to check real ones.' : '';
    if (aborted)
      return `${this.#mark('bad')} ${wrap(`Interrupted: ${counts}. Checks that did not run are not judged.`, this.#style.width, 2)}`;
    const verdict = healthy ? 'good' : 'bad';
    return `${this.#mark(verdict)} ${wrap(`${healthy ? 'Healthy' : 'Not healthy'}: ${counts}.${about}`, this.#style.width, 2)}`;
  }

  #plainMark(verdict: Verdict): string {
    return (this.#style.unicode ? unicodeMarks : asciiMarks)[verdict];
  }

  #mark(verdict: Verdict): string {
    const mark = this.#plainMark(verdict);
    return this.#style.colour ? `\u001b[${colours[verdict]}m${mark}\u001b[0m` : mark;
  }

  #bold(text: string): string {
    return this.#style.colour ? `\u001b[1m${text}\u001b[0m` : text;
  }
}

const legendWords: Readonly<Record<Verdict, string>> = { good: 'good', bad: 'bad', warning: 'look at it', none: 'not offered, or not run' };
