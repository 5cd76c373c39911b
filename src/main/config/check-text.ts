import { readWritten } from './describe-values.ts';
import { ConfigError, type ConfigProblem } from './config-error.ts';
import { readConfig } from './read-config.ts';

/**
 * The problems of a configuration that somebody sends. References to the environment are not replaced, because a
 * message could repeat a value, so that values with references are not checked.
 */
export function checkConfigText(text: string): readonly ConfigProblem[] {
  try {
    readConfig({ text, file: 'weir.yaml', variable: (name) => `\${${name}}` });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const written = readWritten(text);
    return error.problems.filter(({ path }) => path === '' || written.find(path.split('.'))?.variable === undefined);
  }
}
