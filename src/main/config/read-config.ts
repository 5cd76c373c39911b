import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';

import { wordProblem } from '../../dialects/word-problem.ts';
import { compileCheck } from '../../platform/schema/compile-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import { type Config, configSchema } from './config-schema.ts';

/** Something wrong with a configuration file, and where. Lines and columns count from 1. */
export type ConfigProblem = { readonly line: number; readonly column: number; readonly path: string; readonly message: string };

/** A configuration that cannot be used. Its message lists every problem. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];
  constructor(file: string, problems: readonly ConfigProblem[]) {
    const lines = problems.map(
      ({ line, column, path, message }) => `  ${file}:${line}:${column} ${path === '' ? '' : `${path}: `}${message}`,
    );
    super(`the configuration cannot be used:\n${lines.join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type Path = readonly (string | number)[];

/** Finds the node that a problem is about, or the nearest parent that exists. */
function nodeAt(root: Node | null, path: Path): Node | null {
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

const reference = /\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

export type ReadConfigOptions = {
  readonly text: string;
  /** Name of the file for messages. */
  readonly file: string;
  readonly variable: (name: string) => string | undefined;
};

/**
 * Reads a configuration: YAML 1.2, `${NAME}` and `${NAME:-fallback}` references in values (`$${` for a literal `${`), then the schema and
 * the references between its parts. @throws ConfigError naming every problem with its position
 */
export function readConfig(options: ReadConfigOptions): Config {
  const { text, file, variable } = options;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const problems: ConfigProblem[] = [];
  const at = (offset: number, path: Path, message: string): void => {
    const { line, col } = lines.linePos(offset);
    problems.push({ line, column: col, path: path.join('.'), message });
  };
  for (const error of document.errors) at(error.pos[0], [], error.message);
  if (problems.length > 0) throw new ConfigError(file, problems);

  visit(document, {
    Alias: (_key, node) => {
      if (node.resolve(document) === undefined) at(node.range?.[0] ?? 0, [], `there is no anchor for the alias *${node.source}`);
    },
    Scalar: (key, node) => {
      if (key === 'key' || typeof node.value !== 'string') return;
      node.value = node.value.replaceAll(reference, (whole, escaped: string | undefined, name: string, fallback: string | undefined) => {
        if (escaped !== undefined) return whole.slice(1);
        const value = variable(name) ?? fallback;
        if (value === undefined) at(node.range?.[0] ?? 0, [], `environment variable ${name} is not set`);
        return value ?? '';
      });
    },
  });
  if (problems.length > 0) throw new ConfigError(file, problems);

  const value: unknown = document.toJS() ?? {};
  for (const { path, message } of findProblems(value)) at(nodeAt(document.contents, path)?.range?.[0] ?? 0, path, message);
  if (problems.length > 0) throw new ConfigError(file, problems);
  return value as Config;
}

const isConfig = compileCheck(configSchema);

function findProblems(value: unknown): readonly { readonly path: Path; readonly message: string }[] {
  if (!isConfig(value))
    return describeProblems(configSchema, value, 20).map((problem) => ({ path: problem.path, message: wordProblem(problem) }));
  return findBrokenReferences(value);
}

/** What a schema cannot say: targets name upstreams that exist, servers without an address of their own have one, the zone exists. */
function findBrokenReferences(config: Config): readonly { readonly path: Path; readonly message: string }[] {
  const found: { path: Path; message: string }[] = [];
  const names = Object.keys(config.upstreams ?? {});
  for (const [name, upstream] of Object.entries(config.upstreams ?? {})) {
    if (upstream.vendor === 'openai-compatible' && upstream.baseUrl === undefined) {
      found.push({ path: ['upstreams', name], message: 'baseUrl is required for openai-compatible, for example http://127.0.0.1:8000/v1' });
    }
    const { dialects, optionalDialects } = upstreamVendors[upstream.vendor];
    for (const [index, dialect] of (upstream.dialects ?? []).entries()) {
      if ([...dialects, ...optionalDialects].includes(dialect)) continue;
      const message = `${upstream.vendor} does not speak ${dialect}; it speaks ${[...dialects, ...optionalDialects].join(', ')}`;
      found.push({ path: ['upstreams', name, 'dialects', index], message });
    }
    if (upstream.baseUrl !== undefined && !URL.canParse(upstream.baseUrl)) {
      found.push({ path: ['upstreams', name, 'baseUrl'], message: `"${upstream.baseUrl}" is no valid address` });
    }
  }
  for (const [name, model] of Object.entries(config.models ?? {})) {
    for (const [index, target] of model.targets.entries()) {
      if (names.length === 0 || names.includes(target.upstream)) continue;
      found.push({
        path: ['models', name, 'targets', index, 'upstream'],
        message: `there is no upstream "${target.upstream}"; there are: ${names.join(', ')}`,
      });
    }
  }
  if (config.timeZone !== undefined && !isTimeZone(config.timeZone)) {
    found.push({ path: ['timeZone'], message: `"${config.timeZone}" is no IANA time zone; write for example "UTC" or "Asia/Shanghai"` });
  }
  return found;
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    // Intl has no other way to ask whether it knows a zone.
    return false;
  }
}
