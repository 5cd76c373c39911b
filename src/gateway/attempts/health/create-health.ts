import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import { CredentialHealth } from './outage.ts';
import type { Health, HealthSubject } from './health.ts';
import { defaultHealthSettings, type HealthSettings } from './health-settings.ts';
import { TrackedTarget, type TargetSurroundings } from './tracked-target.ts';

/** Where the memory is full, so many targets are looked at for one that can be forgotten. */
const looksForRoom = 16;

/**
 * Keeps the health of targets in this process. Pure but for clock, random and logger: no timers, nothing is asked by itself. Memory follows use: names of
 * models can come from clients, so what nobody uses is forgotten as calls come, and no more than `targetsMax` targets are ever remembered. A target
 * beyond that is treated as healthy.
 * @param random numbers from 0 to below 1
 */
export function createHealth(options: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly random: () => number;
  readonly logger: Logger;
  readonly settings?: Partial<HealthSettings>;
  /** Whether calls keep to what is known here. Absent: they do. */
  readonly isHeeded?: () => boolean;
}): Health {
  const { clock, random, logger, isHeeded = () => true } = options;
  const settings = { ...defaultHealthSettings, ...options.settings };
  const memory = new TargetMemory();
  const around: TargetSurroundings = {
    clock,
    random,
    logger,
    settings,
    isHeeded,
    lastNumber: 0,
    sweep: (nowMs) => memory.lookAtOne(nowMs),
  };

  const create = (subject: HealthSubject): TrackedTarget => {
    const nowMs = clock.monotonicMs();
    memory.lookAtOne(nowMs);
    const hasRoom = memory.size() < settings.targetsMax || memory.makeRoom(nowMs);
    const credential = memory.credentialOf(subject) ?? new CredentialHealth(subject, settings, random);
    const target = new TrackedTarget(credential, subject.upstreamModel, around);
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

/** A credential, and the models that are remembered of it, by their names at the upstream. */
type Remembered = { readonly health: CredentialHealth; readonly targets: Map<string, TrackedTarget> };

/** The targets that are remembered: by their names, and in a list in which each has its turn of being looked at. */
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

  /** Forgets the next target if nobody has used it for long. */
  lookAtOne(nowMs: number): void {
    if (this.#next()?.isForgettable(nowMs) === true) this.#forgetNext();
  }

  /** Forgets one of the next targets with which nothing would be lost. @returns whether there was one */
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
