import { layerCheckKind } from '../../../admin/resources/config/check-layer-operation.ts';
import { type ExplainInput, explainKind } from '../../../admin/resources/models/explain-model.ts';
import { testKind } from '../../../admin/resources/models/test-model.ts';
import { vendorDeletionKind } from '../../../admin/resources/stored/response-operations.ts';
import { credentialNameOf } from '../../../control/nodes/node-state.ts';
import { OperationFailure, type OperationHandler } from '../../../control/operations/operation-runner.ts';
import { deleteAtKeeper } from '../../../gateway/endpoints/chat/responses/delete-at-keeper.ts';
import { settleDisputeKind } from '../../../admin/resources/disputes/dispute-operations.ts';
import { decideDispute, DisputeError, type DisputeStore } from '../../../billing/ledger/decide-dispute.ts';
import { readCounts } from '../../../billing/receipts/count-names.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { alertTestKind } from '../../../admin/resources/alerts/alert-operations.ts';
import { buildAlertSettings } from '../../config/alert-settings.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { LiveSettings } from '../../config/live-settings.ts';
import type { Environment } from '../../environment.ts';
import { checkLayer } from './check-layer.ts';
import { checkUpstreams } from './check-upstreams.ts';
import type { TestParts } from './test-model.ts';

type Parts = TestParts & {
  readonly environment: Environment;
  readonly live: LiveSettings;
  readonly clock: Clock;
  readonly store: DisputeStore;
};

/** The long operations that need an upstream, by kind. Only gateways have credentials, so they run here. */
export function gatewayOperations(parts: Parts): Readonly<Record<string, OperationHandler>> {
  return {
    'upstreams.check': checkUpstreams(parts),
    [layerCheckKind]: checkLayer(parts),
    [vendorDeletionKind]: deleteAtVendor(parts),
    [alertTestKind]: testChannels(parts),
    [settleDisputeKind]: settleDisputes(parts),
    [explainKind]: explainModels(parts),
    [testKind]: async (input, context) => {
      // Loaded here, because few gateways ever run it.
      const { testModels } = await import('./test-model.ts');
      return await testModels(parts)(input, context);
    },
  };
}

/** Where a call would go, in this process. */
function explainModels(parts: Parts): OperationHandler {
  return async (input) => {
    const { explainModel } = await import('./explain-model.ts');
    // Written by the operation of the admin API, whose schema has checked it.
    return await explainModel(parts, input as ExplainInput);
  };
}

/** A test message to channels of the configuration in force. */
function testChannels({ environment, live }: Parts): OperationHandler {
  return async (input, { signal }) => {
    // Written by the operation of the admin API, whose schema has checked it.
    const { channels: names } = input as { readonly channels: readonly string[] };
    const { testAlertChannels, UnknownChannelError } = await import('../alerts/test-channels.ts');
    try {
      return { channels: await testAlertChannels(environment, buildAlertSettings(live.config()).channels, names, signal) };
    } catch (cause) {
      throw cause instanceof UnknownChannelError ? new OperationFailure('unknown_channel', cause.message, { cause }) : cause;
    }
  };
}

/** Written by the operation of the admin API. */
type VendorDeletion = { readonly response_id: string; readonly upstream: string; readonly credential: string };

/** Deletes the copy of a response at the vendor that keeps it. */
function deleteAtVendor({ live }: Parts): OperationHandler {
  return async (input) => {
    const { response_id: id, upstream, credential } = input as VendorDeletion;
    const { routing } = live.settings();
    const found = routing.upstreams.find((each) => each.id === upstream && credentialNameOf(each.credentialId) === credential);
    if (found === undefined) throw new OperationFailure('unknown_upstream', `The gateway has no credential ${credential} any more.`);
    try {
      await deleteAtKeeper(routing, { upstream, credential: found.credentialId }, id);
    } catch (cause) {
      if (cause instanceof GatewayError) throw new OperationFailure('not_deleted', `${upstream} did not delete its copy.`, { cause });
      throw cause;
    }
    return { is_deleted: true };
  };
}

/** Written by the operation of the admin API, which has checked it. */
type DisputeInput = {
  readonly row_id: string;
  readonly decision: 'accepted' | 'corrected';
  readonly counts: Readonly<Record<string, number>>;
  readonly note: string | null;
};

/** A decision about impossible figures. A second attempt after the end of a process books nothing twice. */
function settleDisputes({ store, live }: Parts): OperationHandler {
  return async (input, { operation }) => {
    const { row_id: rowId, decision, counts, note } = input as DisputeInput;
    const { actor, createdAtMs } = operation;
    const change = { actor, via: 'api', atMs: createdAtMs, ...(note !== null && { note }) } as const;
    try {
      const made = decision === 'accepted' ? { decision } : { decision, counts: readCounts(counts) };
      const parts = { store, inForce: live.settings().routing.priceBook };
      const settled = await decideDispute(parts, { rowId, decision: made, by: actor, change });
      return { row_id: rowId, decision, charged: formatMoney(settled.chargedNanoUsd), now: formatMoney(settled.nowNanoUsd) };
    } catch (cause) {
      throw cause instanceof DisputeError ? new OperationFailure(cause.code, cause.message, { cause }) : cause;
    }
  };
}
