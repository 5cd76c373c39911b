import { parseSync, Visitor, type Comment, type Expression, type Node } from 'oxc-parser';

/** Where a passage comes from. Only some rules apply to each kind. */
type PassageKind = 'comment' | 'docstring' | 'message' | 'test-title';

/** One comment, message or title. Offsets are those of the source file. */
export type Passage = {
  readonly kind: PassageKind;
  readonly paragraphs: readonly { readonly start: number; readonly end: number }[];
  /** The declaration that a docstring describes. */
  readonly declaredName: string | undefined;
};

export type Prose = {
  /** The source with code, comment marks and `code spans` blanked out: every offset and line is that of the source. */
  readonly text: string;
  readonly passages: readonly Passage[];
};

type Span = { readonly kind: PassageKind; readonly start: number; readonly text: string; readonly declaredName?: string | undefined };

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
/** A word that matches no rule, so that a sentence keeps its length and its grammar. */
const placeholder = (text: string): string => text.replace(/[^\n]/g, '_');

const directive = /^\s*(?:#!|oxlint-|eslint-|prettier-|@ts-|knip:|c8 |Stryker )/;
const declaration =
  /^\s*(?:(?:export|default|async|declare|abstract|function\*?|class|const|let|type|interface|readonly|static|get|set)\s+)*#?([A-Za-z_$][\w$]*)/;

/** Blanks out what is code or mark-up inside prose. The length stays the same. */
function maskCode(text: string): string {
  return text
    .replace(/```[\s\S]*?```/g, blank)
    .replace(/`[^`]*`/g, placeholder)
    .replace(/https?:\/\/[^\s)>]+/g, placeholder)
    .replace(/\{@link ([^}]*)\}/g, placeholder)
    .replace(/@(?:param|throws|template|typeParam)\s+[\w$.[\]<>]+|@(?:returns?|see|example|default|deprecated|internal)\b/g, blank);
}

function spanOfBlock(comment: Comment, source: string): Span {
  const isDocstring = comment.value.startsWith('*');
  const start = comment.start + (isDocstring ? 3 : 2);
  const text = source.slice(start, comment.end - 2).replace(/^[ \t]*\*(?= |$)/gm, blank);
  const declaredName = isDocstring ? declaration.exec(source.slice(comment.end, comment.end + 300))?.[1] : undefined;
  return { kind: isDocstring ? 'docstring' : 'comment', start, text, declaredName };
}

/** Consecutive line comments are one passage, because their sentences continue on the next line. */
function spansOfLines(comments: readonly Comment[], source: string): readonly Span[] {
  const spans: Span[] = [];
  let endOfLast = -1;
  for (const comment of comments) {
    const between = endOfLast < 0 ? undefined : source.slice(endOfLast, comment.start);
    const last = spans.at(-1);
    const text = source.slice(comment.start + 2, comment.end);
    if (last !== undefined && between !== undefined && /^\r?\n[ \t]*$/.test(between)) {
      spans[spans.length - 1] = { ...last, text: `${last.text}${between}  ${text}` };
    } else spans.push({ kind: 'comment', start: comment.start + 2, text });
    endOfLast = comment.end;
  }
  return spans;
}

function spansOfComments(comments: readonly Comment[], source: string): readonly Span[] {
  const own = comments.filter(({ value }) => !directive.test(value));
  return [
    ...own.filter(({ type }) => type === 'Block').map((comment) => spanOfBlock(comment, source)),
    ...spansOfLines(
      own.filter(({ type }) => type === 'Line'),
      source,
    ),
  ];
}

/** The string literals that an expression may evaluate to. */
function literalsIn(node: Node | null | undefined, source: string): readonly Omit<Span, 'kind'>[] {
  if (node === null || node === undefined) return [];
  if (node.type === 'Literal') {
    if (typeof node.value !== 'string') return [];
    return [{ start: node.start + 1, text: source.slice(node.start + 1, node.end - 1) }];
  }
  if (node.type === 'TemplateLiteral') return [{ start: node.start + 1, text: maskExpressions(node, source) }];
  if (node.type === 'BinaryExpression') return [...literalsIn(node.left, source), ...literalsIn(node.right, source)];
  if (node.type === 'LogicalExpression') return [...literalsIn(node.left, source), ...literalsIn(node.right, source)];
  if (node.type === 'ConditionalExpression') return [...literalsIn(node.consequent, source), ...literalsIn(node.alternate, source)];
  if (node.type === 'ParenthesizedExpression') return literalsIn(node.expression, source);
  return [];
}

function maskExpressions(node: { start: number; end: number; expressions: readonly Expression[] }, source: string): string {
  let text = source.slice(node.start + 1, node.end - 1);
  for (const expression of node.expressions) {
    const from = source.lastIndexOf('${', expression.start) - node.start - 1;
    const to = source.indexOf('}', expression.end) - node.start;
    text = `${text.slice(0, from)}${placeholder(text.slice(from, to))}${text.slice(to)}`;
  }
  return text;
}

const logLevels = new Set(['debug', 'info', 'warn', 'error']);
const helpMethods = new Set(['description', 'option', 'requiredOption', 'argument', 'addHelpText', 'summary']);
const proseMembers = new Set(['description', 'help', 'meaning', 'message', 'summary', 'external', 'internal']);
const testFunctions = new Set(['test', 'it']);

function kindOfCall(callee: Node, source: string): PassageKind | undefined {
  if (callee.type === 'Identifier') return testFunctions.has(callee.name) ? 'test-title' : undefined;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined;
  const { object, property } = callee;
  if (object.type === 'Identifier' && testFunctions.has(object.name)) return 'test-title';
  if (logLevels.has(property.name)) return /log(?:ger)?$/i.test(source.slice(object.start, object.end)) ? 'message' : undefined;
  return helpMethods.has(property.name) ? 'message' : undefined;
}

/** Sentences in string literals, where the place says that they are read by people. */
function spansOfStrings(program: Parameters<Visitor['visit']>[0], source: string): readonly Span[] {
  const spans: Span[] = [];
  const add = (kind: PassageKind, nodes: readonly (Node | null | undefined)[]): void => {
    for (const span of nodes.flatMap((node) => literalsIn(node, source))) if (/\w \w/.test(span.text)) spans.push({ kind, ...span });
  };
  new Visitor({
    CallExpression: (node) => {
      const kind = kindOfCall(node.callee, source);
      if (kind === 'test-title') add(kind, node.arguments.slice(0, 1));
      else if (kind !== undefined) add(kind, node.arguments);
    },
    NewExpression: (node) => {
      if (node.callee.type === 'Identifier' && node.callee.name.endsWith('Error')) add('message', node.arguments);
    },
    Property: (node) => {
      if (node.key.type === 'Identifier' && proseMembers.has(node.key.name)) add('message', [node.value]);
    },
  }).visit(program);
  return spans;
}

/** Finds paragraphs: a blank line, a docstring tag or a list item begins a new one. */
function paragraphsOf({ start, text }: Span): Passage['paragraphs'] {
  const paragraphs: { start: number; end: number }[] = [];
  let from = 0;
  const close = (to: number): void => {
    const part = text.slice(from, to);
    const lead = part.length - part.trimStart().length;
    if (/\w/.test(part)) paragraphs.push({ start: start + from + lead, end: start + from + part.trimEnd().length });
    from = to;
  };
  for (const { index } of text.matchAll(/\n(?=[ \t]*(?:\n|@\w|- |\d+\. ))|(?<=[.\s])(?=@(?:param|throws|returns?)\b)/g)) close(index);
  close(text.length);
  return paragraphs;
}

/** Reads comments and sentences in string literals out of a TypeScript file. */
export function extractProse(path: string, source: string): Prose {
  const { program, comments } = parseSync(path, source);
  const spans = [...spansOfComments(comments, source), ...spansOfStrings(program, source)].toSorted((a, b) => a.start - b.start);
  let text = '';
  const passages: Passage[] = [];
  for (const span of spans) {
    if (span.start < text.length) continue; // A literal inside an expression of a template that is already masked.
    const isString = span.kind === 'message' || span.kind === 'test-title';
    const masked = maskCode(isString ? span.text.replace(/\\[^\n]/g, '  ') : span.text);
    text += blank(source.slice(text.length, span.start)) + masked;
    passages.push({ kind: span.kind, paragraphs: paragraphsOf(span), declaredName: span.declaredName });
  }
  return { text: text + blank(source.slice(text.length)), passages };
}
