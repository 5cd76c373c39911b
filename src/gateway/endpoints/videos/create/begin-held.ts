import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { BeginResult, NewVideoTask } from '../../../../tasks/submit-task.ts';
import { takeCredit } from '../../../admission/credits/call-credit.ts';

/**
 * Holds the highest cost of a video until its task is recorded; then the task holds it.
 * @param record records the task; of its errors, only `idempotency_conflict` proves that nothing was recorded
 * @throws GatewayError the errors of `takeCredit` and of `record`
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
    const { heldNanoUsd: _held, ...held } = credit.describe();
    const begun = await record({ ...intent, ...held });
    if (begun.type === 'begun') charge();
    return begun;
  } catch (error) {
    // A store that failed to answer may have recorded it.
    if (!(error instanceof GatewayError) || error.code !== 'idempotency_conflict') charge();
    throw error;
  } finally {
    credit.end();
  }
}
