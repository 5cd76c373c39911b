import { checkConfigLayer } from '../../admin/resources/config/check-layer-operation.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import type { DoctorReport } from '../doctor/finding.ts';
import type { Environment } from '../environment.ts';
import { type CheckResult, stepOf } from './check-on-gateways.ts';
import { type CheckOptions, examine } from './doctor.ts';
import { readLayerFile, refuseLayerFile } from './layer-file.ts';
import { awaitOperation, type ShownOperation } from './remote/await-operation.ts';
import { withService } from './remote/with-service.ts';

/** Options of `weir config check-layer`. */
export type LayerCheckOptions = CheckOptions & { readonly upstream: readonly string[] };

/**
 * `weir config check-layer`: a running gateway checks the upstreams of a file that is not published, as `weir doctor`
 * does. The exit code is that of `weir doctor`.
 */
export async function checkLayer(environment: Environment, file: string, written: LayerCheckOptions): Promise<void> {
  const read = readLayerFile(file, environment.variable);
  const { upstream: upstreams, check: checks, model, calls: mayCall, timeout, remote } = written;
  const body = {
    layer: read.layer,
    ...(upstreams.length > 0 && { upstreams: [...upstreams] }),
    checks: [...checks],
    ...(model !== undefined && { model }),
    may_call: mayCall,
    timeout_s: timeout,
  };
  const run = async (service: AdminService, control: Control): Promise<DoctorReport> => {
    const asked = service.call(checkConfigLayer, { body });
    const started = (await asked.catch((error: unknown) => refuseLayerFile(error, read))).body;
    const tell = ({ progress }: ShownOperation): void => control.onStep(stepOf(progress?.partial) ?? 'waiting for a gateway');
    const { result } = await awaitOperation(service, started, { signal: control.signal, onChange: tell });
    // Written by the gateway's operation; null if it was cancelled before it began.
    const found = result as (CheckResult & { readonly is_healthy: boolean }) | null;
    const { aborted } = control.signal;
    return {
      healthy: !aborted && found?.is_healthy === true,
      aborted,
      simulated: false,
      sections: [],
      upstreams: found?.credentials ?? [],
    };
  };
  const place = remote === undefined ? {} : { remote };
  await examine(environment, written, (control) => withService(environment, place, (service) => run(service, control)));
}

type Control = { readonly signal: AbortSignal; readonly onStep: (step: string) => void };
