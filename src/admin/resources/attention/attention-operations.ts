import { type Static, Type } from 'typebox';

import { type AttentionItem, listAttention } from '../../../alerts/attention.ts';
import { alertRuleCodes, severities } from '../../../alerts/alert.ts';
import type { AlertStore } from '../../../alerts/alert-store.ts';
import { instant, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { shareAnswer } from '../../share-answers.ts';
import { maySeeProblem } from '../alerts/alert-operations.ts';

export type AttentionServices = { readonly alerts: Pick<AlertStore, 'listAlerts'> };

const itemsMax = 200;

export const attentionSchema = record(
  {
    code: Type.Enum(alertRuleCodes),
    subject: Type.String({ examples: ['upstream:openai', 'user:ann'] }),
    period: Type.String({ description: 'The day or month of a limit; otherwise empty.' }),
    severity: Type.Enum(severities),
    since: Type.String(),
    summary: Type.String(),
    action: Type.String({ description: 'The action that ends it.' }),
  },
  'A present problem.',
);

const encode = ({ code, subject, period, severity, sinceMs, summary, action }: AttentionItem): Static<typeof attentionSchema> => ({
  code,
  subject,
  period,
  severity,
  since: instant(sinceMs),
  summary,
  action,
});

/**
 * The present problems that the caller may see, the most urgent first. A caller of some users sees theirs only.
 * @param sharedMs may be as old as this, and then asked for once for several callers
 */
export async function readAttention(
  { services: { alerts }, principal }: AdminContext<AttentionServices>,
  sharedMs?: number,
): Promise<readonly Static<typeof attentionSchema>[]> {
  const list = (): ReturnType<typeof listAttention> => listAttention(alerts, 10_000);
  const items = sharedMs === undefined ? await list() : await shareAnswer(alerts, 'attention', list, () => sharedMs);
  return items
    .filter(({ subject }) => maySeeProblem(principal, subject))
    .slice(0, itemsMax)
    .map(encode);
}

const listItems = operation({
  id: 'attention.list',
  method: 'GET',
  path: '/attention',
  summary: 'The present problems, the most urgent first, each with the action that ends it',
  access: 'usage:read',
  reply: pageSchema(attentionSchema),
  handle: async (_input, context: AdminContext<AttentionServices>) => {
    const items = [...(await readAttention(context))];
    return { body: { items, next_cursor: null, as_of: instant(context.nowMs()) } };
  },
});

export const attentionOperations: readonly Operation<AttentionServices>[] = [listItems];
