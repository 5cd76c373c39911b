import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The environment of a thread that runs our own code: where compiled code is kept, if the process keeps it, and nothing else. The environment of the process may hold vendor keys.
 * Without that place a thread compiles its sources anew at each start, which takes most of the time of its start.
 */
export function threadEnvironment(): Record<string, string> {
  // It ends with a folder for the version of Node, which the thread adds by itself.
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}
