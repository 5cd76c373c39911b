import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { isLong } from '../support/scale.ts';
import { findChromium } from './find-chromium.ts';
import { takeScreenshots } from './screenshots/take.ts';

const chromiumPath = findChromium();

test(
  'the screenshots of the documentation can be taken again from the console as it is now',
  { skip: !isLong ? 'before a release: set WEIR_LONG=1' : chromiumPath === undefined && 'there is no Chromium on this machine' },
  async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-screenshots-'));
    context.after(() => rm(folder, { recursive: true }));
    const files = await takeScreenshots(chromiumPath ?? '', folder);
    assert.ok(files.length > 0);
    for (const file of files) {
      const kept = new URL(`../../docs/images/${file}`, import.meta.url);
      assert.ok((await stat(kept)).size > 10_000, `${file} is in docs/images`);
      assert.ok((await stat(join(folder, file))).size > 10_000, `${file} shows something`);
    }
  },
);
