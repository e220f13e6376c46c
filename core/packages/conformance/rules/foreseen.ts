import { destinationNames, problemsForeseen, sandboxFaults, splitSecrets } from '@dispatch/host'
import { type Case, judged } from '../report.ts'
import { now } from '../run/clock.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { errorWithStack } from '../run/trace.ts'

/**
 * A refusal by the provider itself must be declared, so that a validation reports it already. For a provider without a vendor, its own code
 * is the vendor.
 */
export async function foreseenCases ({ installed }: ProviderUnderTest, sends: readonly Prepared[]): Promise<Case[]> {
  const cases = await Promise.all(sends.map(async ({ name, call, result }) => {
    if (call.verb !== 'dispatch') return []
    const { manifest, folder } = installed
    const { plain: settings } = splitSecrets(manifest.settings, call.settings)
    const foreseen = await settled(async () =>
      await problemsForeseen(installed, call.service, call.request, {
        settings,
        requestSettings: call.requestSettings,
        sandbox: call.sandbox,
        now: now()
      })
    )
    if (!foreseen.ok) return [judged('foreseen', name, [`The check throws ${errorWithStack(foreseen.thrown, folder)}`])]
    const problems = [...sandboxFaults(manifest, call.settings, call.sandbox), ...foreseen.value]
    const found = problems.map(({ path, message }) => `${path} ${message}`.trim())
    if (result['outcome'] === 'accepted') {
      return [judged('foreseen', name, found.map((problem) => `Accepted, but refused by validation: ${problem}`))]
    }
    const hasVendor = manifest.hosts.length > 0 || destinationNames(manifest.settings).length > 0
    const isSilent = hasVendor && result['outcome'] === 'rejected' && call.exchange.length === 0 && call.mail === undefined
    return isSilent
      ? [
        judged('foreseen', name,
          found.length > 0 ? [] : ['It is refused before anything is sent: declare it in "limits", or say it in "check".'])
      ]
      : []
  }))
  return cases.flat()
}

async function settled<Value> (work: () => Promise<Value>): Promise<{ ok: true, value: Value } | { ok: false, thrown: unknown }> {
  try {
    return { ok: true, value: await work() }
  } catch (thrown) {
    return { ok: false, thrown }
  }
}
