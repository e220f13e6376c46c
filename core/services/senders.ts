import { domainToASCII } from 'node:url'
import type { Json } from '../contract/json.ts'
import { comparable } from '../contract/mailbox.ts'

/**
 * Whether the setting `allowedSenders` of an e-mail configuration (addresses, and `@domain` for a whole domain) allows an
 * address. Without the setting nobody may send.
 */
export function isAllowedSender (address: string, allowedSenders: Json | undefined): boolean {
  if (!Array.isArray(allowedSenders)) return false
  const own = comparable(address)
  return allowedSenders.some((allowed: Json) => typeof allowed === 'string' && (allowed.startsWith('@') ? own.endsWith(`@${domainToASCII(allowed.slice(1))}`) : own === comparable(allowed)))
}
