import { compile, type Fit, type JsonObject } from '@dispatch/common'
import type { DeliveryService } from '@dispatch/contract'
import { Type } from 'typebox'
import { copyJson } from '../contain/plain-json.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { Subscription } from '../manifest/definition.ts'
import { secretNames, type SettingsSchema } from '../settings/settings-schema.ts'
import { type CallContext, type CallLimits, type FailedCall, invoke, unusable } from './invoke.ts'

export type SubscribeResult = { outcome: 'subscribed', subscription: Subscription } | FailedCall

/** Milliseconds for one registration, or its end: a person waits. */
const usualLimit = 20_000

const fitSubscription = compile(Type.Object({
  id: Type.String({ minLength: 1, maxLength: 500 }),
  secrets: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 10_000 }), { maxProperties: 10 }))
}))

/** Registers an address for events at the vendor. `query.secret` stands in no log and in no answer. */
export async function callSubscribe (
  installed: InstalledProvider,
  service: DeliveryService,
  query: { url: string, secret: string, id?: string },
  context: CallContext,
  limits: CallLimits = { limit: usualLimit }
): Promise<SubscribeResult> {
  const called = await invoke(installed, service, 'subscribe', query, { ...context, secrets: [query.secret] }, limits)
  if ('outcome' in called) return called
  const copied = copyJson(called.returned)
  const fit = copied.ok ? readSubscription(copied.value as JsonObject, installed.manifest.settings) : copied
  return fit.ok
    ? { outcome: 'subscribed', subscription: fit.value }
    : unusable(called, `The answer of the provider "${installed.code}" to "subscribe" cannot be read.`)
}

/** What a registration brings: the vendor's id of it, and secrets that belong into secret settings. */
export function readSubscription (returned: JsonObject, form: SettingsSchema): Fit<Subscription> {
  const fit = fitSubscription(returned)
  if (!fit.ok) return fit
  const { id, secrets = {} } = fit.value
  const stray = Object.keys(secrets).filter((name) => !secretNames(form).includes(name))
  return stray.length === 0
    ? { ok: true, value: { id, secrets } }
    : {
      ok: false,
      problems: stray.map((name) => ({
        path: `/secrets/${name}`,
        code: 'not_secret',
        message: `There is no setting "${name}" that is a Secret().`
      }))
    }
}

/** Ends a registration at the vendor. */
export async function callUnsubscribe (
  installed: InstalledProvider,
  service: DeliveryService,
  query: { url: string, id: string },
  context: CallContext,
  limits: CallLimits = { limit: usualLimit }
): Promise<{ outcome: 'unsubscribed' } | FailedCall> {
  const called = await invoke(installed, service, 'unsubscribe', query, context, limits)
  return 'outcome' in called ? called : { outcome: 'unsubscribed' }
}
