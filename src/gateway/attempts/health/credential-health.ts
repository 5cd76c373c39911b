import type { HealthSettings } from './health-settings.ts';
import { Outage } from './outage.ts';

/** What all models share that are reached with one credential of an upstream. */
export class CredentialHealth {
  readonly upstreamId: string;
  readonly credentialId: string;
  /** That the upstream refuses the credential for everything. */
  readonly rejection: Outage;

  constructor(ids: { readonly upstreamId: string; readonly credentialId: string }, settings: HealthSettings, random: () => number) {
    this.upstreamId = ids.upstreamId;
    this.credentialId = ids.credentialId;
    this.rejection = new Outage(settings.rejected, settings.relapseMs, random);
  }
}
