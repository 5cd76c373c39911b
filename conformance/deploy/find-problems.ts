import { parse } from 'yaml';

import { readMetricTable } from '../../checks/dashboards/metric-table.ts';
import { environmentVariables } from '../../src/main/environment.ts';
import type { Manifest } from './read-manifests.ts';

type Members = Readonly<Record<string, any>>;

const pods = (manifests: readonly Manifest[]) =>
  manifests
    .filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
    .map((owner) => ({ owner, pod: owner['spec'].template }));

const selects = (labels: Members, selector: Members): boolean => Object.entries(selector).every(([name, value]) => labels[name] === value);

/** The names of weir.yaml's variables, and those that Weir reads itself. */
function knownVariables(config: string): readonly string[] {
  const own = [...config.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
  return [...own, ...environmentVariables.map(({ name }) => name), 'WEIR_OWNER_URL'];
}

/** What a cluster with the restricted profile of pod security would refuse, and what would not start. */
function findPodProblems(name: string, pod: Members, config: string): readonly string[] {
  const { securityContext, volumes = [], containers, initContainers = [], automountServiceAccountToken } = pod['spec'];
  const problems: string[] = [];
  const demand = (holds: boolean, problem: string): void => void (holds || problems.push(`${name}: ${problem}`));
  demand(securityContext.runAsNonRoot === true && securityContext.runAsUser === 65_532, 'not the user of the image');
  demand(securityContext.seccompProfile.type === 'RuntimeDefault', 'no seccomp profile');
  demand(automountServiceAccountToken === false, 'a token of the cluster');
  for (const container of [...containers, ...initContainers] as readonly Members[]) {
    const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = container['securityContext'];
    demand(allowPrivilegeEscalation === false && readOnlyRootFilesystem === true, 'rights that it does not need');
    demand(JSON.stringify(capabilities) === '{"drop":["ALL"]}', 'capabilities');
    demand(container['resources'].requests.cpu !== undefined && container['resources'].limits.memory !== undefined, 'no resources');
    const mounted: readonly Members[] = container['volumeMounts'];
    for (const { name: volume } of mounted)
      demand(
        [...volumes, { name: 'data' }].some((one: Members) => one['name'] === volume),
        `no volume ${String(volume)}`,
      );
    for (const { name: variable, value } of (container['env'] ?? []) as readonly Members[]) {
      const plain = String(variable).replace(/_FILE$/, '');
      demand(knownVariables(config).includes(plain), `nothing reads ${String(variable)}`);
      const isFile = plain !== variable;
      demand(
        !isFile || mounted.some(({ mountPath }) => String(value).startsWith(`${String(mountPath)}/`)),
        `no file for ${String(variable)}`,
      );
      demand(isFile || !/KEY|TOKEN|PASSWORD|URL|SECRET/.test(plain), `${String(variable)} is a secret in clear`);
    }
    demand(
      ['gateway', 'monitor', 'console', 'migrate', 'database'].includes(container['args'][0]),
      `weir has no command ${String(container['args'][0])}`,
    );
  }
  return problems;
}

/** Objects of the same set that a migration refers to. It is applied before all of them, and would wait for them. */
function findEarlyReferences(manifests: readonly Manifest[]): readonly string[] {
  const jobs = pods(manifests).filter(({ owner }) => owner.kind === 'Job');
  return jobs.flatMap(({ owner, pod }) => {
    const { serviceAccountName, volumes = [] } = pod.spec as Members & { readonly volumes?: readonly Members[] };
    const named = [
      `ServiceAccount ${String(serviceAccountName)}`,
      ...volumes.map(({ configMap }) => `ConfigMap ${String(configMap?.name)}`),
    ];
    const early = manifests.filter(({ kind, metadata }) => named.includes(`${kind} ${metadata.name}`));
    return early.map(({ kind, metadata }) => `Job ${owner.metadata.name}: is applied before ${kind} ${metadata.name}`);
  });
}

/** Selectors that select nothing, ports without a name, and an autoscaler without its target or its metric. */
function findReferenceProblems(manifests: readonly Manifest[]): readonly string[] {
  const problems: string[] = [];
  const templates = pods(manifests).map(({ pod }) => pod);
  const labelled = (selector: Members) => templates.filter(({ metadata }) => selects(metadata.labels, selector));
  for (const { kind, metadata, spec } of manifests) {
    const where = `${kind} ${metadata.name}`;
    if (['Deployment', 'StatefulSet'].includes(kind) && !selects(spec.template.metadata.labels, spec.selector.matchLabels))
      problems.push(`${where}: selects no pod of its own`);
    if (kind === 'Service') {
      const ports = labelled(spec.selector).flatMap((pod) => pod.spec.containers[0].ports.map((port: Members) => port['name']));
      for (const { targetPort } of spec.ports) if (!ports.includes(targetPort)) problems.push(`${where}: no port ${targetPort}`);
    }
    const selector = { PodDisruptionBudget: spec?.selector, NetworkPolicy: spec?.podSelector }[kind as 'NetworkPolicy'];
    if (selector !== undefined && labelled(selector.matchLabels).length === 0) problems.push(`${where}: selects nothing`);
    if (kind !== 'HorizontalPodAutoscaler') continue;
    const target = manifests.find((one) => one.kind === spec.scaleTargetRef.kind && one.metadata.name === spec.scaleTargetRef.name);
    if (target === undefined || 'replicas' in target['spec'] !== (target['spec'].replicas !== undefined))
      problems.push(`${where}: no target`);
    const wanted = spec.metrics.flatMap((metric: Members) => metric['pods']?.metric.name ?? []);
    const known = readMetricTable().map(({ name }) => name);
    for (const metric of wanted) if (!known.includes(metric)) problems.push(`${where}: no metric ${metric}`);
  }
  return problems;
}

/** The time to stop of a gateway against the times of its configuration. */
function findGraceProblems(owner: Manifest, config: string): readonly string[] {
  const timeouts = (parse(config) as { readonly timeouts?: { readonly drainDelayMs?: number; readonly drainMs?: number } }).timeouts;
  const needed = (timeouts?.drainDelayMs ?? 5000) + (timeouts?.drainMs ?? 300_000) + 10_000;
  const grace: unknown = owner['spec'].template.spec.terminationGracePeriodSeconds;
  const isEnough = typeof grace === 'number' && grace * 1000 >= needed && grace * 1000 <= needed + 60_000;
  return isEnough ? [] : [`${owner.metadata.name}: ${String(grace)} s to stop, but its configuration takes ${needed} ms`];
}

/** Everything that is wrong in manifests that belong together, beyond their schemas. */
export function findProblems(manifests: readonly Manifest[]): readonly string[] {
  const config = String(manifests.find(({ kind }) => kind === 'ConfigMap')?.['data']['weir.yaml']);
  return [
    ...pods(manifests).flatMap(({ owner, pod }) => findPodProblems(`${owner.kind} ${owner.metadata.name}`, pod, config)),
    ...findReferenceProblems(manifests),
    ...findEarlyReferences(manifests),
    ...manifests
      .filter(({ kind, metadata }) => ['Deployment', 'StatefulSet'].includes(kind) && metadata.name.endsWith('-gateway'))
      .flatMap((owner) => findGraceProblems(owner, config)),
  ];
}
