import type { CardRow } from './card-row.ts';

/** Security of the gateway. The console has a table of its own in docs/reference/security.md. */
export const securityRows: readonly CardRow[] = [
  {
    id: 'S1',
    promise: 'An object of one tenant does not exist for another, on each route that names an object',
    proofs: [
      { file: 'conformance/tenants/tenants.test.ts' },
      { file: 'conformance/conversations/tenants.test.ts' },
      { file: 'conformance/sdk/tenants.test.ts' },
      { file: 'conformance/faults/many-clients.test.ts' },
    ],
  },
  {
    id: 'S2',
    promise: 'Each way to send a key has the same rules, and two different keys in one request are refused',
    proofs: [
      { file: 'conformance/gateway/refusals.test.ts', title: /credential|key is accepted/ },
      { file: 'conformance/gateway/known-failures.test.ts', title: /F7[0-9]|F84|F87|F93/ },
    ],
  },
  {
    id: 'S3',
    promise: 'No planted secret or prompt is in a log, a file or an answer to somebody else',
    proofs: [{ file: 'conformance/programs/secrets.test.ts' }],
  },
  {
    id: 'S4',
    promise: 'No address of a request or of an upstream reaches a private network',
    proofs: [
      { file: 'conformance/tenants/private-media.test.ts' },
      { file: 'src/platform/http/public-address.test.ts' },
      { file: 'conformance/videos/results.test.ts' },
    ],
  },
  {
    id: 'S5',
    promise: 'Headers pass by lists, in both directions',
    proofs: [{ file: 'conformance/tenants/account-headers.test.ts' }, { file: 'conformance/videos/headers.test.ts' }],
  },
  {
    id: 'S6',
    promise: 'The time of a refusal says nothing about a key or an object',
    proofs: [
      { file: 'conformance/tenants/tenants.test.ts', title: /duration/ },
      { file: 'conformance/gateway/known-failures.test.ts', title: /F7[12]/ },
    ],
    notShown: 'a statistical test of the time of look-ups over 100,000 samples',
  },
  {
    id: 'S7',
    promise: 'A flood of wrong keys asks the database nothing',
    proofs: [{ file: 'src/accounts/key-directory.test.ts', title: /\bS7\b/ }],
  },
  {
    id: 'S8',
    promise: 'No cell of a workbook or CSV file is a formula',
    proofs: [
      { file: 'src/monitor/workbook/workbook-stream.test.ts', title: /\bS8\b/ },
      { file: 'src/monitor/files.test.ts', title: /\bS8\b/ },
    ],
  },
  {
    id: 'S9',
    promise: 'No request changes a prototype',
    proofs: [{ file: 'src/platform/json/parse-json.test.ts' }, { file: 'src/platform/json/lazy-object.test.ts' }],
  },
  {
    id: 'S10',
    promise: 'No pattern of bytes costs much more than others of its size',
    proofs: [
      { file: 'conformance/faults/scan-cost.timing.test.ts' },
      { file: 'conformance/faults/translated-complexity.deep.timing.test.ts' },
    ],
  },
  {
    id: 'S11',
    promise: 'No spelling of a target or Host opens another route, and no bytes are smuggled past a refusal',
    proofs: [{ file: 'conformance/faults/raw-requests.test.ts' }, { file: 'conformance/gateway/known-failures.test.ts', title: /F70|F83/ }],
  },
  {
    id: 'S12',
    promise: 'Pages run no foreign script; sessions end and cannot be used from elsewhere',
    proofs: [
      { file: 'conformance/admin/hijack.test.ts' },
      { file: 'conformance/admin/sign-in.test.ts' },
      { file: 'conformance/people/sessions.test.ts' },
    ],
  },
  {
    id: 'S13',
    promise: 'Unsafe settings are refused at the start',
    proofs: [{ file: 'conformance/gateway/known-failures.test.ts', title: /F76/ }],
  },
  {
    id: 'S14',
    promise: 'Few dependencies, at exact versions',
    proofs: [{ file: 'checks/house.test.ts' }],
    notShown: 'the age of each version, and who published it',
  },
  {
    id: 'S15',
    promise: 'The code of the sandbox does not get out of it; database roles cannot change the ledger',
    proofs: [{ file: 'conformance/sandbox/escaped.test.ts' }, { file: 'conformance/postgres/roles.test.ts' }],
    notShown: 'the smoke test without capabilities on a read-only file system',
  },
];
