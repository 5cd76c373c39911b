import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** C headers for building native modules, and manuals. Weir builds none. */
const unusedFolders = /^node-(?:bin-)?(?:linux|darwin)-\w+\/(?:include|share)$/;

/** Source maps, lists of changes, and TypeScript, which Node refuses to run in packages. Declarations of types stay. */
const unusedFiles = /\.map$|^(?:changelog|history)\.md$|(?<!\.d)\.[cm]?ts$/i;

/**
 * Removes files of installed packages that nothing here reads: a third of what npm writes. Packages that are links, such
 * as our own, are not touched.
 * @param {string} folder a `node_modules`
 */
export function trimPackages(folder) {
  trim(folder, '');
}

function trim(base, path) {
  for (const entry of readdirSync(join(base, path), { withFileTypes: true })) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) {
      if (inner.startsWith('.')) continue;
      if (unusedFolders.test(inner)) rmSync(join(base, inner), { recursive: true });
      else trim(base, inner);
    } else if (entry.isFile() && unusedFiles.test(entry.name)) rmSync(join(base, inner));
  }
}
