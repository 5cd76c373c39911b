import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { type ConsoleSuite, serveSuite } from './serve-suite.ts';
import { skipPages } from './open-pages.ts';
import { findFaults } from './states/find-faults.ts';
import { makeState } from './states/make-state.ts';
import type { OddKey } from './states/odd-ledger.ts';
import { pagesOf } from './states/pages.ts';
import { forms, show } from './states/show.ts';

/** Rows of every list, the fullest first. */
const checked = [12, 0, 1] as const;

for (const size of checked)
  describe(`pages with ${size} rows of odd names and amounts of eighteen digits`, { skip: skipPages }, () => {
    let keys: readonly OddKey[] = [];
    const suite: ConsoleSuite = serveSuite(async ({ weir, pages }) => {
      keys = await makeState(weir, pages, size);
    });

    test('no figure is cut, every name can be read whole, and no text lies over another', async () => {
      const { weir, pages } = suite;
      const faults: string[] = [];
      for (const path of pagesOf(keys))
        for (const form of forms) {
          await show(pages, weir.consoleUrl, path, form);
          for (const fault of await findFaults(pages.page)) faults.push(`${path} at ${form.width} px: ${fault}`);
        }
      assert.deepEqual(faults, []);
      // No gateway serves the model with the long name.
      pages.assertQuiet(/status of 404/);
    });
  });
