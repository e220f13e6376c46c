import { secretNames } from '@dispatch/host'
import { type Case, judged } from '../report.ts'
import { shortestCanary } from '../run/canary.ts'
import type { LogLine } from '../run/memory.ts'
import type { ProviderUnderTest, RecordedRun } from '../run/subject.ts'
import type { Watch } from '../run/watch.ts'

/** Characters. A shorter value could be any other one by chance. */
const shortestSetting = 4

/** The settings with which the provider has signed in or signed in any run, and which everybody may read. */
export function credentialCases ({ installed: { manifest }, recorded }: ProviderUnderTest, watch: Watch): Case[] {
  const secrets = secretNames(manifest.settings)
  const openOf = ({ call: { settings } }: RecordedRun, value: string): string[] =>
    Object.keys(settings).filter((field) => !secrets.includes(field) && value.length >= shortestSetting && settings[field] === value)
  const sent = recorded.flatMap((one) =>
    one.run.seen.credentials.flatMap((credential) =>
      openOf(one, credential.value).map((field) => `"${field}" is sent ${credential.sent}: declare it as Secret().`)
    )
  )
  const signed = watch.keys().flatMap(({ how, key }) =>
    recorded.flatMap((one) => openOf(one, key).map((field) => `"${field}" is the key of ${how}: declare it as Secret().`))
  )
  return [judged('credentials', 'every call', [...new Set([...sent, ...signed])])]
}

/**
 * What the log shows of what the provider has sent in this run to prove who it is, though it is no setting: one sentence each. `secrets`:
 * the names of the secret settings.
 */
export function loggedCredentials ({ call, run }: RecordedRun, logged: readonly LogLine[], secrets: readonly string[]): string[] {
  if (logged.length === 0) return []
  const lines = JSON.stringify(logged)
  const known = openText(call, secrets)
  const sent = [
    ...run.seen.credentials.filter(({ value }) => value.length >= shortestCanary),
    ...run.requests.flatMap(({ request: { headers, search } }) => [
      ...Object.entries(headers).filter(([name]) => !usual.has(name)).map(([name, value]) => ({ sent: `in the header "${name}"`, value })),
      ...search.map(([name, value]) => ({ sent: `in the query "${name}"`, value }))
    ]).filter(({ value }) => value.length >= shortestToken && !known.includes(value) && !isKnown(call, value))
  ]
  return [...new Set(sent.filter(({ value }) => lines.includes(value)).map(({ sent: how }) => `What was sent ${how} shows in a log line.`))]
}

/** Characters. Shorter values of headers and queries are seldom made from a secret. */
const shortestToken = 16

/** Headers that the host makes. */
const usual = new Set(['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'date', 'host', 'transfer-encoding',
  'user-agent'])

/** What the provider may log: its request, its own settings that are no secrets, and the vendor's answers. */
function openText (call: RecordedRun['call'], secrets: readonly string[]): string {
  const { settings, requestSettings, exchange, checkpointed } = call
  const requested = 'request' in call ? call.request : call.query
  const open = Object.entries(settings).filter(([field]) => !secrets.includes(field))
  return JSON.stringify([requested, open, requestSettings, checkpointed, exchange.map(({ answer }) => answer)])
}

/** Our reference and the idempotency key, also with something before or after it. */
function isKnown ({ reference, idempotencyKey }: RecordedRun['call'], value: string): boolean {
  return value.includes(reference) || value.includes(idempotencyKey)
}
