import type { ChargeLine } from '../../../billing/ledger/call-entry.ts';
import { buildReceipt } from '../../../billing/receipts/build-receipt.ts';
import { creditsOf } from '../../../billing/rating/format-credits.ts';
import { formatUsd } from '../../../billing/receipts/exact-text.ts';
import { describeUnit, showCredits } from '../../../billing/receipts/show-credits.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { VideoTask } from '../../../tasks/video-task.ts';
import { findTask, statusOf, type VideoHandler } from './video-context.ts';

/** The state of the hold: held, charged, or released. */
function stateOf({ phase, chargedNanoUsd }: VideoTask): 'held' | 'settled' | 'released' {
  if (phase !== 'completed' && phase !== 'failed') return 'held';
  return phase === 'completed' || (chargedNanoUsd ?? 0n) > 0n ? 'settled' : 'released';
}

function encodeLine({ meter, quantity, unitPrice, per, multipliers }: ChargeLine): JsonObject {
  return { meter, quantity, unit_price_usd: unitPrice, per, ...(multipliers === undefined ? {} : { multipliers: { ...multipliers } }) };
}

/** `GET /v1/videos/{id}/receipt`: the hold and the charge, so that both can be recomputed. */
export const showReceipt: VideoHandler = async (context, id) => {
  const task = await findTask(context, id);
  const state = stateOf(task);
  const unit = context.settings.routing.priceBook.credits;
  const writeAmount = (nanoUsd: bigint): JsonObject => ({
    amount_usd: formatUsd(nanoUsd),
    ...(unit === undefined ? {} : { credits: creditsOf(nanoUsd, unit) }),
  });
  const entry = state === 'held' ? undefined : await context.videos.ledger.findEntry(task.callId);
  const charge: JsonObject | null =
    entry === undefined
      ? null
      : {
          ...writeAmount(entry.charge.amountNanoUsd),
          price_id: entry.charge.priceId ?? null,
          usage: { ...entry.usage },
          estimated: entry.estimated,
          lines: entry.charge.lines.map(encodeLine),
        };
  const receipt = {
    id: task.id,
    object: 'video.receipt',
    request_id: task.callId,
    model: task.requestedModel,
    status: statusOf(task),
    state,
    created_at: Math.floor(task.createdAtMs / 1000),
    settled_at: task.endedAtMs === undefined ? null : Math.floor(task.endedAtMs / 1000),
    price_version: task.priceVersion,
    pricing_parameters: { ...task.pricingParameters },
    held: { ...writeAmount(task.heldNanoUsd), usage: { ...task.heldUsage } },
    charged: charge,
    receipt: entry === undefined ? null : showCredits(buildReceipt([entry], true), unit),
    ...describeUnit(unit),
  };
  return { status: 200, text: JSON.stringify(receipt) };
};
