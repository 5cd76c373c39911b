import { RE2JS } from 're2js';

import type { Span } from './span.ts';

/** A pattern of the operator: a text as it is, or a regular expression in the syntax of RE2. */
export type OwnPattern = {
  /** What replaces a finding, in brackets: lower-case letters, digits and hyphens. */
  readonly name: string;
  readonly text?: string;
  readonly expression?: string;
};

export const ownPatternLimits = { patterns: 50, characters: 500 };

/** The most findings of one pattern in one text; the rest of the text is masked as a whole. */
const findingsMax = 20_000;

export type Finder = (text: string) => readonly Span[];

/** Why an expression cannot be used; undefined if it can. RE2 has no look-around and no back references. */
export function refuseExpression(expression: string): string | undefined {
  try {
    const compiled = RE2JS.compile(expression);
    if (compiled.matches('')) return 'it matches the empty text';
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it is not a regular expression of RE2';
  }
}

/** A finder for each pattern. Each takes linear time. @throws Error if an expression cannot be compiled */
export function compileOwnPatterns(patterns: readonly OwnPattern[]): readonly Finder[] {
  return patterns.map(({ name, text, expression }) =>
    expression === undefined ? findText(name, text ?? '') : findExpression(name, RE2JS.compile(expression)),
  );
}

function findText(name: string, wanted: string): Finder {
  return (text) => {
    const spans: Span[] = [];
    if (wanted === '') return spans;
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
      if (spans.length === findingsMax) return [...spans, { start: at, end: text.length, kind: name }];
      spans.push({ start: at, end: at + wanted.length, kind: name });
    }
    return spans;
  };
}

function findExpression(name: string, compiled: RE2JS): Finder {
  return (text) => {
    const spans: Span[] = [];
    const matcher = compiled.matcher(text);
    while (matcher.find()) {
      if (spans.length === findingsMax) return [...spans, { start: matcher.start(), end: text.length, kind: name }];
      if (matcher.end() > matcher.start()) spans.push({ start: matcher.start(), end: matcher.end(), kind: name });
    }
    return spans;
  };
}
