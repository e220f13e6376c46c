import { comparable, type Json, type Problem } from '@dispatch/common'
import { domainToASCII } from 'node:url'

/**
 * Whether the setting `allowedSenders` of an e-mail configuration (addresses, and `@domain` for a whole domain) allows an
 * address. Without the setting nobody may send.
 */
export function isAllowedSender (address: string, allowedSenders: Json | undefined): boolean {
  if (!Array.isArray(allowedSenders)) return false
  const own = comparable(address)
  return allowedSenders.some((allowed: Json) =>
    typeof allowed === 'string' &&
    (allowed.startsWith('@') ? own.endsWith(`@${domainToASCII(allowed.slice(1))}`) : own === comparable(allowed))
  )
}

/** The problem of e-mail settings without `allowedSenders`. */
export function senderProblems ({ properties }: { properties: Readonly<Record<string, unknown>> }): Problem[] {
  if (properties['allowedSenders'] !== undefined) return []
  return [{
    path: '/settings/properties/allowedSenders',
    code: 'required',
    message:
      'A provider of e-mails needs the setting "allowedSenders", without which nobody may send: write allowedSenders: AllowedSenders().'
  }]
}
