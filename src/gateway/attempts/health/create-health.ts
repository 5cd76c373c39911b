import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import { CredentialHealth } from './outage.ts';
import type { Health, HealthSubject } from './health.ts';
import { defaultHealthSettings, type HealthSettings } from './health-settings.ts';
import { TrackedTarget, type SharedTargetContext } from './tracked-target.ts';

/** How many targets are checked for one that can be forgotten, if the memory is full. */
const looksForRoom = 16;

/**
 * Keeps the health of targets in this process. Pure except for clock, random and logger: no timers and no requests.
 * Names of models can come from clients, so the memory is bounded: unused targets are forgotten as calls arrive, and at
 * most `targetsMax` targets are remembered. A target beyond that is treated as healthy.
 * @param random numbers from 0 to below 1
 */
export function createHealth(options: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
  readonly logger: Logger;
  readonly settings?: Partial<HealthSettings>;
  /** Whether calls avoid failing targets. Absent: they do. */
  readonly avoidsFailing?: () => boolean;
}): Health {
  const { clock, random, logger, avoidsFailing = () => true } = options;
  const settings = { ...defaultHealthSettings, ...options.settings };
  const memory = new TargetMemory();
  const context: SharedTargetContext = {
    clock,
    random,
    logger,
    settings,
    avoidsFailing,
    lastNumber: 0,
    sweep: (nowMs) => memory.lookAtOne(nowMs),
  };

  const create = (subject: HealthSubject): TrackedTarget => {
    const nowMs = clock.monotonicMs();
    memory.lookAtOne(nowMs);
    const hasRoom = memory.size() < settings.targetsMax || memory.makeRoom(nowMs);
    const credential = memory.credentialOf(subject) ?? new CredentialHealth(subject, settings, random);
    const target = new TrackedTarget(credential, subject.upstreamModel, context);
    if (hasRoom) memory.add(target);
    return target;
  };

  return {
    of: (subject) => memory.find(subject) ?? create(subject),
    report: () => {
      const nowMs = clock.monotonicMs();
      return memory.all().map((target) => target.report(nowMs));
    },
  };
}

/** A credential, and its remembered models by their names at the upstream. */
type Remembered = { readonly health: CredentialHealth; readonly targets: Map<string, TrackedTarget> };

/** The remembered targets: by name, and in a list whose entries are checked one after the other. */
class TargetMemory {
  readonly #upstreams = new Map<string, Map<string, Remembered>>();
  readonly #targets: TrackedTarget[] = [];
  #turn = 0;

  size(): number {
    return this.#targets.length;
  }

  all(): readonly TrackedTarget[] {
    return this.#targets;
  }

  credentialOf({ upstreamId, credentialId }: HealthSubject): CredentialHealth | undefined {
    return this.#upstreams.get(upstreamId)?.get(credentialId)?.health;
  }

  find({ upstreamId, credentialId, upstreamModel }: HealthSubject): TrackedTarget | undefined {
    return this.#upstreams.get(upstreamId)?.get(credentialId)?.targets.get(upstreamModel);
  }

  add(target: TrackedTarget): void {
    const { credential, upstreamModel } = target;
    const { upstreamId, credentialId } = credential;
    const credentials = this.#upstreams.getOrInsertComputed(upstreamId, () => new Map<string, Remembered>());
    const remembered = credentials.getOrInsertComputed(credentialId, () => ({ health: credential, targets: new Map() }));
    remembered.targets.set(upstreamModel, target);
    this.#targets.push(target);
  }

  /** Forgets the next target if it was not used for long. */
  lookAtOne(nowMs: number): void {
    if (this.#next()?.isForgettable(nowMs) === true) this.#forgetNext();
  }

  /**
   * Forgets one of the next targets that has no information to lose.
   * @returns whether there was one
   */
  makeRoom(nowMs: number): boolean {
    for (let looked = 0; looked < looksForRoom; looked += 1) {
      if (this.#next()?.isSpare(nowMs) !== true) continue;
      this.#forgetNext();
      return true;
    }
    return false;
  }

  #next(): TrackedTarget | undefined {
    this.#turn = this.#turn + 1 < this.#targets.length ? this.#turn + 1 : 0;
    return this.#targets[this.#turn];
  }

  #forgetNext(): void {
    const target = this.#targets[this.#turn];
    const last = this.#targets.pop();
    if (target === undefined || last === undefined) return;
    if (last !== target) this.#targets[this.#turn] = last;
    const { credential, upstreamModel } = target;
    const credentials = this.#upstreams.get(credential.upstreamId);
    const remembered = credentials?.get(credential.credentialId);
    remembered?.targets.delete(upstreamModel);
    if (remembered !== undefined && remembered.targets.size > 0) return;
    credentials?.delete(credential.credentialId);
    if (credentials?.size === 0) this.#upstreams.delete(credential.upstreamId);
  }
}
