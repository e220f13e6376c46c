import { createHmac, hkdfSync } from 'node:crypto'
import type { AddressHashes } from '../store/holder.ts'

/** Keyed, and another for each company: whoever reads the table cannot try all numbers there are. */
export function createAddressHashes (secret: Uint8Array): AddressHashes {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'erased suppressions', 32))
  return ({ companyId, channel, address }) =>
    `erased:${createHmac('sha256', key).update(JSON.stringify([companyId, channel, address])).digest('hex')}`
}
