import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { root } from '../source-files.ts';
import { alertPages } from './alert-rules.ts';
import { readMetricTable } from './metric-table.ts';
import { checkQuery, readQuery } from './read-query.ts';

const table = readMetricTable();

test('a query that names what does not exist is refused, and the message names it', () => {
  const wrong: readonly (readonly [query: string, message: RegExp])[] = [
    ['sum(rate(weir_call_total[5m]))', /no metric weir_call_total/],
    ['sum by (user) (rate(weir_calls_total[5m]))', /weir_calls_total has no label user, but dialect, upstream/],
    ['weir_calls_total{vendor="x"}', /has no label vendor/],
    // A histogram has no series of its own name, and only its buckets have bounds.
    ['weir_queue_wait_seconds', /no metric weir_queue_wait_seconds/],
    ['sum by (le) (weir_queue_wait_seconds_count)', /no label le/],
    ['weir_calls_total_count', /no metric/],
    ['weir_streams_in_flight * on (upstream) group_left (model) weir_calls_total', /has no label upstream/],
    ['sum(rate(weir_calls_total[5m])', /not PromQL/],
    ['rate(weir_calls_total[]', /not PromQL/],
  ];
  for (const [query, message] of wrong) assert.throws(() => checkQuery(query, table), { message }, query);
  const right = [
    'histogram_quantile(0.9, sum by (le) (rate(weir_queue_wait_seconds_bucket{job="weir"}[$__rate_interval])))',
    'sum by (instance) (up{job="weir"})',
  ];
  for (const query of right) assert.equal(checkQuery(query, table), query);
});

test('labels of a group belong to the series below it only', () => {
  const query =
    'sum by (model) (weir_calls_total{end=~"failed|cut"}) / on (model) sum by (model) (weir_cost_usd_total) > scalar(weir_journal_unavailable)';
  assert.deepEqual(
    readQuery(query).map(({ metric, labels }) => [metric, labels]),
    [
      ['weir_calls_total', ['end', 'model']],
      ['weir_cost_usd_total', ['model']],
      ['weir_journal_unavailable', []],
    ],
  );
  assert.deepEqual(readQuery(query)[0]?.matchers, [{ label: 'end', operator: '=~', value: 'failed|cut' }]);
});

test('each alert names a page that exists', () => {
  assert.deepEqual(
    alertPages.filter((page) => !existsSync(join(root, page))),
    [],
  );
});
