import type { Config } from '../config/config-schema.ts';
import type { ImportNote, PlannedModel, PlannedTarget, PlannedUpstream } from './import-plan.ts';

type Models = Record<string, PlannedModel>;

/** Collects upstreams, models and notes while a file is read. */
export type ConfigPlan = {
  /** The name of an upstream, which is added unless an equal one is there. A taken name gets a number. */
  readonly addUpstream: (wish: string, upstream: PlannedUpstream) => string;
  /** Adds a target to a model, after those that it has. The same target twice is one. */
  readonly addTarget: (model: string, target: PlannedTarget) => void;
  readonly targetsOf: (model: string) => readonly PlannedTarget[];
  readonly setTargets: (model: string, targets: readonly PlannedTarget[]) => void;
  readonly setModel: (model: string, members: Omit<PlannedModel, 'targets'>) => void;
  readonly dropModel: (model: string) => void;
  readonly has: (model: string) => boolean;
  readonly modelNames: () => readonly string[];
  readonly changed: (what: string, why: string) => void;
  readonly leftOut: (what: string, why: string) => void;
  readonly notes: () => readonly ImportNote[];
  readonly config: () => Pick<Config, 'upstreams' | 'models'>;
};

export function createConfigPlan(): ConfigPlan {
  const upstreams = new Map<string, PlannedUpstream>();
  let models: Models = {};
  const notes: ImportNote[] = [];
  return {
    addUpstream: (wish, upstream) => {
      const written = JSON.stringify(upstream);
      const known = upstreams.entries().find(([, other]) => JSON.stringify(other) === written);
      if (known !== undefined) return known[0];
      const name = chooseName(nameUpstream(wish), (candidate) => upstreams.has(candidate));
      upstreams.set(name, upstream);
      return name;
    },
    addTarget: (name, target) => {
      const model = (models[name] ??= { targets: [] });
      const isThere = model.targets.some(({ upstream, model: other }) => upstream === target.upstream && other === target.model);
      if (!isThere) models[name] = { ...model, targets: [...model.targets, target] };
    },
    targetsOf: (name) => models[name]?.targets ?? [],
    setTargets: (name, targets) => {
      models[name] = { ...models[name], targets: [...targets] };
    },
    setModel: (name, members) => {
      models[name] = { ...(models[name] ?? { targets: [] }), ...members };
    },
    dropModel: (name) => {
      const { [name]: _dropped, ...others } = models;
      models = others;
    },
    has: (name) => Object.hasOwn(models, name),
    modelNames: () => Object.keys(models),
    changed: (what, why) => void notes.push({ kind: 'changed', what, why }),
    leftOut: (what, why) => void notes.push({ kind: 'left out', what, why }),
    notes: () => notes,
    config: () => ({ upstreams: Object.fromEntries(upstreams), models }),
  };
}

/** Names of upstreams are short words: they are in logs, metrics and receipts. */
function nameUpstream(wish: string): string {
  const name = wish
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  return name === '' ? 'upstream' : name;
}

/** The name, or the first of `name-2`, `name-3` that is not taken. */
export function chooseName(name: string, isTaken: (candidate: string) => boolean): string {
  let chosen = name;
  for (let more = 2; isTaken(chosen); more += 1) chosen = `${name}-${more}`;
  return chosen;
}
