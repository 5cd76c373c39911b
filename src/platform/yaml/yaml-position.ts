import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

/** Finds the node at a path, or its nearest parent that exists. */
export function nodeAt(root: Node | null, path: readonly (string | number)[]): Node | null {
  let node = root;
  for (const step of path) {
    let next: unknown;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step));
      next = pair?.value ?? pair?.key;
    } else if (isSeq(node)) {
      next = node.items[Number(step)];
    }
    if (next === undefined || next === null) return node;
    node = next as Node;
  }
  return node;
}

/**
 * The path of a node that `visit` of the YAML library has reached. @param ancestors and @param key as it passes them
 */
export function pathOfVisited(ancestors: readonly unknown[], key: unknown): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [index, node] of ancestors.entries()) {
    const next: unknown = ancestors[index + 1];
    if (isSeq(node)) steps.push(next === undefined ? Number(key) : node.items.indexOf(next));
    else if (typeof node === 'object' && node !== null && 'key' in node && isScalar(node.key)) steps.push(String(node.key.value));
  }
  return steps;
}

/** A text in YAML, with the positions of its parts. Lines and columns count from 1. */
export type PositionedYaml = {
  readonly value: unknown;
  /** The position of the value at a path, or of its nearest parent. */
  readonly positionOf: (path: readonly (string | number)[]) => { readonly line: number; readonly column: number };
};

/** A text that is not YAML. The message names the problem and its position. */
export class YamlError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, { line, column }: { readonly line: number; readonly column: number }) {
    super(message);
    this.name = 'YamlError';
    this.line = line;
    this.column = column;
  }
}

/** @throws YamlError with the first problem */
export function readPositionedYaml(text: string): PositionedYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const [error] = document.errors;
  if (error !== undefined) throw new YamlError(error.message, at(error.pos[0]));
  let value: unknown;
  try {
    // Aliases of aliases could grow without a limit.
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (cause) {
    throw new YamlError(cause instanceof Error ? cause.message : 'the text cannot be read', { line: 1, column: 1 });
  }
  return { value, positionOf: (path) => at(nodeAt(document.contents, path)?.range?.[0] ?? 0) };
}
