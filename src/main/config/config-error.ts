/** A problem of a configuration file, and its position. Lines and columns count from 1. */
export type ConfigProblem = { readonly line: number; readonly column: number; readonly path: string; readonly message: string };

/** An invalid configuration. The message lists every problem. */
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
