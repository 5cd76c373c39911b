import type { AuditStore } from '../../audit/audit-entry.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KeySignInWay } from './keys/key-session.ts';
import type { SignInWay } from './session.ts';
import type { Origin } from './sessions.ts';

/** Records refused sign-ins in the audit log. */
export type RefusedSignIns = {
  /**
   * Records one. A name that nobody has is never recorded, because people type passwords there.
   * @param personId undefined if nobody has the name
   * @param reason a few words: `wrong password`
   */
  readonly record: (personId: string | undefined, way: SignInWay | KeySignInWay, reason: string, origin: Origin) => Promise<void>;
};

/** A flood of wrong passwords must not fill the disk. The next row says how many were left out. */
const rowsPerMinute = 60;

export function createRefusedSignIns({
  store,
  clock,
}: {
  readonly store: Pick<AuditStore, 'recordAction'>;
  readonly clock: Clock;
}): RefusedSignIns {
  let minuteStartMs = -Infinity;
  let rows = 0;
  let omitted = 0;
  return {
    record: async (personId, way, reason, { address, requestId }) => {
      const nowMs = clock.monotonicMs();
      if (nowMs - minuteStartMs >= 60_000) [minuteStartMs, rows] = [nowMs, 0];
      if (rows >= rowsPerMinute) {
        omitted += 1;
        return;
      }
      rows += 1;
      const note = omitted === 0 ? reason : `${reason}; ${omitted} more refused sign-ins before this one have no row`;
      omitted = 0;
      const subject = personId === undefined ? 'sign_in' : `person:${personId}`;
      const from = { ...(address === undefined ? {} : { address }), ...(requestId === undefined ? {} : { requestId }) };
      const change = { actor: 'nobody', via: 'api', note, atMs: clock.nowMs(), ...from } as const;
      await store.recordAction({ action: 'sessions.refuse', subject, after: JSON.stringify({ way }) }, change);
    },
  };
}
