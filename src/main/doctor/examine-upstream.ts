import { upstreamDialects } from '../../dialects/registry.ts';
import { upstreamAt } from '../../gateway/attempts/routing/target.ts';
import type { AskLimits } from '../../platform/http/ask-upstream.ts';
import type { UsableConfiguration } from './check-configuration.ts';
import { checkServices } from './check-services.ts';
import { checkCredential } from './check-credential.ts';
import { chooseModel } from './choose-model.ts';
import { listPictureModels } from './list-picture-models.ts';
import { examineModel } from './examine-model.ts';
import type { CheckName, Finding, MatrixRow, UpstreamReport } from './finding.ts';
import type { CheckedUpstream } from './checked-upstream.ts';
import { probeConnection } from './probe-connection.ts';

export type ExamineOptions = {
  readonly limits: AskLimits;
  readonly configuration: UsableConfiguration;
  /** The model to check with, if the operator names one. */
  readonly model: string | undefined;
  readonly checks: ReadonlySet<CheckName>;
  readonly nowMs: () => number;
  readonly newId: (prefix: string) => string;
  /** Called before each step, to show progress. */
  readonly onStep: (what: string) => void;
  readonly onResult?: ((row: MatrixRow) => void) | undefined;
};

export type UpstreamExamination = {
  readonly report: UpstreamReport;
  readonly clockSkewMs?: number;
  /** The models that it lists; empty if it lists none, or was not reached. */
  readonly models: readonly string[];
};

/** Examines one upstream: the connection, its credential, and each interface that it speaks. */
export async function examineUpstream(checked: CheckedUpstream, options: ExamineOptions): Promise<UpstreamExamination> {
  const { upstream, address } = checked;
  const { limits, configuration, nowMs, newId, onStep, onResult, checks } = options;
  // Several credentials of one upstream are examined separately, each under its position in the list.
  const title = `${upstream.credentialId.replace(/~.*$/, '')} (${upstream.vendor.title}, ${address})`;
  const done = (findings: readonly Finding[], matrix: readonly MatrixRow[] = []): UpstreamReport => ({
    upstream: upstream.id,
    title,
    findings,
    matrix,
  });
  onStep(`${upstream.id}: connecting`);
  const way = await probeConnection(checked, limits, nowMs());
  if (way.at(-1)?.verdict === 'bad') return { report: done(way), models: [] };
  onStep(`${upstream.id}: credential`);
  const { findings: credential, models, clockSkewMs, mayCall } = await checkCredential(checked, limits, nowMs);
  const pictures = mayCall ? listPictureModels(upstream, configuration, models) : [];
  const findings = [...credential, ...pictures];
  const found = { models, ...(clockSkewMs !== undefined && { clockSkewMs }) };
  if (!mayCall) return { report: done([...way, ...findings]), ...found };
  onStep(`${upstream.id}: services`);
  const known = [...way, ...(await checkServices(checked, limits)), ...findings];
  if (checks.size === 0) return { report: done(known), ...found };
  const model = options.model ?? chooseModel(upstream, configuration, models, nowMs());
  if (model === undefined) {
    if (pictures.length > 0) return { report: done(known), ...found };
    const says = 'neither the configuration nor the upstream names one';
    const none: Finding = { verdict: 'warning', subject: 'model', says, advice: 'say which: weir doctor --model NAME' };
    return { report: done([...known, none]), ...found };
  }
  const matrix: MatrixRow[] = [];
  const at = upstreamAt(upstream, model, findModelBehind(configuration, upstream.id, model));
  for (const id of at.dialects) {
    const conversation = { checked: { ...checked, upstream: at }, dialect: upstreamDialects[id], model, limits, newId };
    matrix.push(await examineModel(conversation, checks, { onCheck: (check) => onStep(`${upstream.id} ${id}: ${check}`), onResult }));
  }
  return { report: done(known, matrix), ...found };
}

/** The model behind a name at an upstream, if the configuration says which. */
function findModelBehind({ config }: UsableConfiguration, upstreamId: string, model: string): string | undefined {
  const targets = Object.entries(config.models ?? {}).flatMap(([name, { targets: own }]) =>
    own.map((target) => ({ model: name, ...target })),
  );
  return targets.find((target) => target.upstream === upstreamId && target.model === model)?.is;
}
