import { errorMessageOf } from '@dispatch/common'
import type { InstalledProvider } from '@dispatch/host'
import type { Fixtures } from '../fixtures/fixtures.ts'
import type { Canaries } from './canary.ts'
import type { Prepared } from './prepare.ts'
import { type CallRun, type CallTimeouts, type FixtureCall, run } from './run.ts'
import { withTracedReaders } from './trace.ts'
import type { VendorDouble } from './vendor-double.ts'

/** A run with its call and the secrets that were used in it. */
export type RecordedRun = { name: string, call: FixtureCall, run: CallRun, canaries: Canaries }

/** The provider under test, and all runs so far. */
export type ProviderUnderTest = {
  installed: InstalledProvider
  fixtures: Fixtures
  stages: readonly [VendorDouble, VendorDouble]
  recorded: RecordedRun[]
  /** The same provider, its modules loaded anew. */
  anew: () => Promise<ProviderUnderTest>
  /** Makes a call and records its run. */
  play: (
    prepared: Prepared,
    changes?: Partial<Pick<FixtureCall, 'attack' | 'mailAttack' | 'meet' | 'state' | 'sandbox'>>,
    stage?: Pick<VendorDouble, 'play'>
  ) => Promise<CallRun>
}

/** A provider as the rules of the kit see it: its fixtures, and how it is loaded and called. */
export function createSubject (
  installed: InstalledProvider,
  fixtures: Fixtures,
  stages: ProviderUnderTest['stages'],
  limits: CallTimeouts,
  load: () => Promise<InstalledProvider>
): ProviderUnderTest {
  const recorded: RecordedRun[] = []
  return {
    installed: withTracedReaders(installed),
    fixtures,
    stages,
    recorded,
    anew: async () => createSubject(await load(), fixtures, stages, limits, load),
    async play ({ name, call, canaries }, changes = {}, stage = stages[0]) {
      const made = await run(installed, stage, { ...call, ...changes }, limits)
      recorded.push({ name, call, run: made, canaries })
      return made
    }
  }
}

/** The usable fixtures. Unusable ones are a failed case elsewhere. */
export function ready<Fixture extends { name: string }> (
  fixtures: readonly Fixture[],
  prepare: (fixture: Fixture) => Prepared
): Prepared[] {
  return fixtures.flatMap((fixture) => {
    const prepared = attempted(() => prepare(fixture))
    return prepared.ok ? [prepared.value] : []
  })
}

export function attempted<Value> (work: () => Value): { ok: true, value: Value } | { ok: false, why: string } {
  try {
    return { ok: true, value: work() }
  } catch (error) {
    return { ok: false, why: errorMessageOf(error) }
  }
}
