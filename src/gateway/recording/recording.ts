import type { IncomingMessage } from 'node:http';

import type { ApiKey } from '../../accounts/api-key.ts';
import type { CallReport } from '../telemetry/call-report.ts';

/** Decides for each call whether its content is kept. */
export type Recording = {
  /** Sets the recorder of a call's report if something of the call is kept. Cheap for all other calls. */
  readonly begin: (caller: ApiKey, report: CallReport, request: IncomingMessage) => void;
};
