import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { openOnce } from './open-once.ts';

describe('something that is opened at its first use', () => {
  test('is opened once for all users, and not without one', async () => {
    let opened = 0;
    const { get, ifOpened } = openOnce(async () => (opened += 1));
    assert.equal(await ifOpened(), undefined);
    assert.deepEqual(await Promise.all([get(), get(), get()]), [1, 1, 1]);
    assert.deepEqual([await get(), await ifOpened(), opened], [1, 1, 1]);
  });

  test('fails for those who wait for it, and is opened again for the next user', async () => {
    let opened = 0;
    const { get, ifOpened } = openOnce(async () => {
      opened += 1;
      if (opened === 1) throw new Error('no descriptor is free');
      return opened;
    });
    const failed = await Promise.allSettled([get(), get()]);
    assert.deepEqual(
      failed.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.equal(await ifOpened(), undefined);
    assert.deepEqual([await get(), await get()], [2, 2]);
  });
});
