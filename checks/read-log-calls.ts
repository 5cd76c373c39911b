import { parseSync, Visitor, type Node } from 'oxc-parser';

import { readSourceFiles } from './source-files.ts';

/** A call of a logger in the source. */
export type LogCall = {
  readonly path: string;
  readonly line: number;
  readonly level: string;
  /** Undefined where the message is computed. */
  readonly message: string | undefined;
  /** Names of the fields. `...` stands for the members of another object. */
  readonly fields: readonly string[];
};

const levels = new Set(['debug', 'info', 'warn', 'error']);

function fieldsOf(node: Node | undefined): readonly string[] {
  if (node === undefined || node.type === 'Literal') return [];
  if (node.type !== 'ObjectExpression') return ['...'];
  return node.properties.map((member) =>
    member.type === 'Property' && !member.computed && member.key.type === 'Identifier' ? member.key.name : '...',
  );
}

function readFile(path: string, text: string): readonly LogCall[] {
  const calls: LogCall[] = [];
  new Visitor({
    CallExpression: ({ callee, arguments: values, start }) => {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier' || !levels.has(callee.property.name)) return;
      if (!/log(?:ger)?$/i.test(text.slice(callee.object.start, callee.object.end))) return;
      const last = values.at(-1);
      calls.push({
        path,
        line: text.slice(0, start).split('\n').length,
        level: callee.property.name,
        message: last?.type === 'Literal' && typeof last.value === 'string' ? last.value : undefined,
        fields: fieldsOf(values[0]),
      });
    },
  }).visit(parseSync(path, text).program);
  return calls;
}

/** Every call of a logger in a folder of `src`, without tests. */
export function readLogCalls(folder: string): readonly LogCall[] {
  return readSourceFiles(`src/${folder}`)
    .filter(({ path, text }) => !path.endsWith('.test.ts') && !path.includes('/testing/') && /[lL]og/.test(text))
    .flatMap(({ path, text }) => readFile(path, text));
}
