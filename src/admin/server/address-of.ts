import type { FastifyRequest } from 'fastify';

import { clientAddress } from '../../platform/http/client-address.ts';
import type { AdminOptions } from '../admin-options.ts';

/** The address of the client of a request, behind trusted proxies too. Empty if its connection is gone. */
export function addressOf({ raw }: FastifyRequest, { isProxy }: Pick<AdminOptions<never>, 'isProxy'>): string {
  return clientAddress(raw, isProxy) ?? '';
}
