import { compile } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import { Type } from 'typebox'
import { copyJson } from '../contain/plain-json.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { ElectronicAddress, Recipient } from '../manifest/definition.ts'
import { type CallContext, type CallLimits, invoke } from './invoke.ts'

/**
 * What a directory says of an address. `cannot_be_asked`: why it says nothing; `away`: because it did not answer, and not because it is not
 * about such addresses.
 */
export type Directed =
  | { result: 'found', recipients: Recipient[] }
  | { result: 'unknown' }
  | { result: 'cannot_be_asked', message: string, away: boolean }

/** A directory has more addresses of somebody than people read: those that come first are told. */
const maxRecipients = 100

const text = Type.String({ minLength: 1, maxLength: 500 })
const fitRecipients = compile(Type.Object({
  recipients: Type.Array(
    Type.Object({
      scheme: Type.String({ pattern: '^[A-Z0-9]{2,4}$' }),
      id: text,
      name: Type.Optional(text),
      status: Type.Optional(Type.Enum(['active', 'upcoming', 'inactive']))
    }, { additionalProperties: false }),
    { maxItems: 10_000 }
  )
}))

/** Asks a provider's directory who receives at an address. Throws only when the provider does not have the verb. */
export async function callRecipients (
  installed: InstalledProvider,
  service: ServiceName,
  requested: ElectronicAddress,
  context: CallContext,
  limits: CallLimits
): Promise<Directed> {
  const called = await invoke(installed, service, 'recipients', requested, context, limits)
  if ('outcome' in called) {
    return { result: 'cannot_be_asked', message: called.error.message, away: called.outcome !== 'rejected' }
  }
  const copied = copyJson(called.returned)
  const fit = copied.ok ? fitRecipients(copied.value) : copied
  if (!fit.ok) {
    return { result: 'cannot_be_asked', message: `What the directory of "${installed.code}" says cannot be read.`, away: true }
  }
  const { recipients } = fit.value
  return recipients.length === 0
    ? { result: 'unknown' }
    : { result: 'found', recipients: recipients.slice(0, maxRecipients).map((recipient) => called.redact.json(recipient)) }
}
