import type { LayerCheckInput } from '../../../admin/resources/config/check-layer-operation.ts';
import { type ConfigLayer, type LayerCandidate, type LayerDocument, LayerError } from '../../../control/layers/config-layer.ts';
import { createLayerOpener } from '../../../control/layers/layer-seal.ts';
import { OperationFailure, type OperationHandler } from '../../../control/operations/operation-runner.ts';
import { type LoadOptions, loadSettings } from '../../config/load-settings.ts';
import { ConfigError } from '../../config/config-error.ts';
import type { Finding, UpstreamReport } from '../../doctor/finding.ts';
import type { UsableConfiguration } from '../../doctor/check-configuration.ts';
import type { UpstreamExamination } from '../../doctor/examine-upstream.ts';
import { loadStoreKey } from '../load-store-key.ts';
import { type CheckParts, concludeCheck, examine } from './check-upstreams.ts';

/**
 * The doctor, for upstreams of a layer that is not published. Calls of clients do not notice it: it has connections of
 * its own, and the configuration in force stays.
 */
export function checkLayer(parts: CheckParts): OperationHandler {
  return async (input, context) => {
    // Written by the operation of the admin API, whose schema has checked it.
    const { upstreams, checks, model, may_call: mayCall, timeout_s: timeoutS } = input as LayerCheckInput;
    const document = openDocument(parts, context.operation.sealed);
    await using opened = new AsyncDisposableStack();
    const usable = await useDocument(parts, document, timeoutS * 1000, opened);
    const fromLayer = usable.source.fromLayer ?? [];
    const hidden = upstreams.filter((name) => !fromLayer.includes(name));
    const asked = upstreams.filter((name) => fromLayer.includes(name));
    const checked = { upstreams: asked, checks, model, mayCall, timeoutS };
    const examined = asked.length === 0 ? [] : await examine(usable, parts, checked, context);
    const { checkModels } = await import('../../doctor/check-models.ts');
    const withModels = ({ report, models }: UpstreamExamination): UpstreamReport => ({
      ...report,
      findings: [...report.findings, ...checkModels(report.upstream, usable, models)],
    });
    return concludeCheck([...hidden.map(reportHidden), ...examined.map(withModels)]);
  };
}

function openDocument({ environment }: CheckParts, sealed: string | undefined): LayerDocument {
  // Written by the operation of the admin API; its seal shows that.
  const candidate = JSON.parse(sealed ?? 'null') as LayerCandidate | null;
  if (candidate === null) throw new Error('an operation that checks a layer has none');
  try {
    return createLayerOpener(loadStoreKey(environment)).openCandidate(candidate);
  } catch (cause) {
    if (!(cause instanceof LayerError)) throw cause;
    const advice = 'gateway and console need the same WEIR_PROOF_KEY';
    throw new OperationFailure(cause.code, `The layer cannot be opened here: ${cause.message}; ${advice}.`, { cause });
  }
}

/** The configuration of this gateway with the document in the place of the layer in force. */
async function useDocument(
  { environment, live, clock }: CheckParts,
  document: LayerDocument,
  timeoutMs: number,
  opened: AsyncDisposableStack,
): Promise<UsableConfiguration> {
  if (!live.layer().isTaken)
    throw new OperationFailure('layers_off', 'The file of this gateway does not allow layers (console.editConfig).');
  const { openReach } = await import('../../doctor/open-reach.ts');
  const reach = openReach({ environment, clock, timeoutMs }, opened);
  // It has no number, because it never comes into force.
  const layer: ConfigLayer = { number: 0, publishedAtMs: 0, actor: '', document: '', secrets: '', seal: '' };
  const options: LoadOptions = {
    path: environment.configPath,
    variable: environment.variable,
    secrets: environment.secrets,
    simulated: undefined,
    clock,
    // The findings of the check say it.
    logger: { warn: () => {}, error: () => {} },
    layers: { byDefault: true, open: () => document, newest: () => undefined, kept: undefined },
  };
  try {
    const { loaded, inForce } = loadSettings({ text: live.text(), layer }, options, reach);
    const { priceBook } = live.settings().routing;
    const { settings, source } = inForce;
    // The prices in force have the books that the store has published.
    return { config: loaded.config, source, settings: { ...settings, routing: { ...settings.routing, priceBook } } };
  } catch (cause) {
    if (cause instanceof ConfigError)
      throw new OperationFailure('problems', `This gateway cannot use the layer: ${cause.message}`, { cause });
    if (!(cause instanceof LayerError)) throw cause;
    const words = cause.problems.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    throw new OperationFailure(cause.code, `This gateway cannot use the layer: ${words || cause.message}.`, { cause });
  }
}

function reportHidden(name: string): UpstreamReport {
  const hidden: Finding = {
    verdict: 'warning',
    subject: 'layer',
    says: `this gateway has an upstream ${name} of its own, which comes before the one of the layer`,
    advice: 'choose another name, or take it out of the file or the environment of the gateway',
  };
  return { upstream: name, title: name, findings: [hidden], matrix: [] };
}
