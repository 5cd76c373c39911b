import assert from 'node:assert/strict';
import { test } from 'node:test';

import { writeCsv } from './csv.ts';

test('fields with commas, quotes and lines are quoted, and names cannot become formulas', () => {
  assert.equal(
    writeCsv([
      ['user', 'difference'],
      ['a,"b"\nc', '-1.5'],
      ['=HYPERLINK("x")', '0.000000001'],
      ['-cmd', '+1'],
    ]),
    'user,difference\r\n"a,""b""\nc",-1.5\r\n"\'=HYPERLINK(""x"")",0.000000001\r\n\'-cmd,\'+1\r\n',
  );
});
