import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { BeginResult, NewVideoTask } from '../../../../tasks/submit-task.ts';
import { takeCredit } from '../../../admission/credits/call-credit.ts';

/**
 * Holds what a video may cost until its task is recorded, which holds it from then on.
 * @param record records the task; after it was tried, only `idempotency_conflict` says for certain that it was not
 * @throws GatewayError as `takeCredit` does, and what `record` throws
 */
export async function beginHeld(
  desk: Parameters<typeof takeCredit>[0],
  caller: Parameters<typeof takeCredit>[1],
  intent: NewVideoTask,
  record: (intent: NewVideoTask) => Promise<BeginResult>,
): Promise<BeginResult> {
  const { createdAtMs, heldNanoUsd } = intent;
  const credit = await takeCredit(desk, caller, createdAtMs, () => heldNanoUsd);
  if (credit === undefined) return await record(intent);
  const charge = (): void => credit.charge({ charge: { amountNanoUsd: heldNanoUsd, lines: [] } });
  try {
    const { heldPots } = credit.describe();
    const begun = await record({ ...intent, ...(heldPots === undefined ? {} : { heldPots }) });
    if (begun.type === 'begun') charge();
    return begun;
  } catch (error) {
    // A store that did not say may have recorded it all the same.
    if (!(error instanceof GatewayError) || error.code !== 'idempotency_conflict') charge();
    throw error;
  } finally {
    credit.end();
  }
}
