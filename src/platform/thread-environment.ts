import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The environment of a thread that runs our own code: the compile cache of the process, if it has one, and nothing
 * else, because the environment of the process may hold vendor keys. Without the cache a thread compiles its sources at
 * each start, which takes most of its start time.
 */
export function threadEnvironment(): Record<string, string> {
  // It ends with a folder for the version of Node, which the thread adds by itself.
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
}
