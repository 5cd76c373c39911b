import { CredentialError, type CredentialSource } from '../credential-source.ts';
import type { SecretReference } from './secret-reference.ts';

/** A secret that was read. */
type ReadSecret = {
  readonly value: string;
  /** How soon its service wants it to be read again. Absent: whenever. */
  readonly recheckMs?: number;
};

/** A service that keeps secrets, or the files of this machine. */
export type SecretStore = {
  readonly title: string;
  /** The login to the service. Absent: it needs none. */
  readonly credential?: Pick<CredentialSource<unknown>, 'describe'>;
  /** Reads a secret of this store's kind. @throws CredentialError, in words for the operator */
  readonly read: (reference: SecretReference, signal: AbortSignal) => Promise<ReadSecret>;
  readonly close: () => Promise<void>;
};

/** The service knows the request and refuses it: waiting does not help, only the operator does. */
export class SecretRefusedError extends CredentialError {}
