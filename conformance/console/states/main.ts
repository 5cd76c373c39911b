import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { openSignedIn } from '../open-pages.ts';
import { serveConsole } from '../serve-console.ts';
import { findFaults } from './find-faults.ts';
import { makeState, type Size, sizes } from './make-state.ts';
import { pagesOf } from './pages.ts';
import { forms, show } from './show.ts';

// `npm run console:states -- FOLDER [SIZE ...]`: screenshots of every page in every state, and their faults.
const [folder, ...wanted] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name a folder for the images: npm run console:states -- /tmp/states 12');
const chosen = sizes.filter((size) => wanted.length === 0 || wanted.includes(String(size)));
for (const size of chosen) await takeState(size, join(folder, String(size)));

async function takeState(size: Size, into: string): Promise<void> {
  await mkdir(into, { recursive: true });
  await using weir = await serveConsole();
  await using pages = await openSignedIn(weir);
  const keys = await makeState(weir, pages, size);
  for (const path of pagesOf(keys))
    for (const form of forms) {
      await show(pages, weir.consoleUrl, path, form);
      const name = `${path.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 60)}-${form.width}-${form.theme}.png`;
      await pages.page.screenshot({ path: join(into, name), fullPage: true, animations: 'disabled' });
      for (const fault of await findFaults(pages.page)) process.stdout.write(`${size} rows, ${path}, ${form.width} px: ${fault}\n`);
    }
}
