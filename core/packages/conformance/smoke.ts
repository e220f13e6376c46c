import { errorMessageOf } from '@dispatch/common'
import { type InstalledProvider, LoadTimeout } from '@dispatch/host'
import { type Fixtures, readFixtures } from './fixtures/fixtures.ts'
import { compareRun } from './rules/replay.ts'
import { type Prepared, prepareQuestion, prepareSend } from './run/prepare.ts'
import { type CallTimeouts, run } from './run/run.ts'
import { scriptedVendor } from './run/scripted-vendor.ts'

/** Milliseconds that the event loop turns: for one call, and for a verb to notice that its call was aborted. */
const usual: CallTimeouts = { limit: 5_000, endLimit: 1_000 }

/**
 * The part of the kit that runs at an installation, with the fixtures in the provider's folder: of each service an accepted dispatch and
 * one call of each other verb, replayed against a vendor inside this process. Answers how many were replayed, none where there are no
 * fixtures, and a sentence for each difference. Throws a {@link LoadTimeout} where a call does not end in time.
 */
export async function smoke (
  installed: InstalledProvider,
  folder: string,
  limits = usual
): Promise<{ replayed: number, faults: string[] }> {
  const fixtures = await readFixtures(folder)
  const [unreadable] = fixtures.faults
  if (unreadable !== undefined) return { replayed: 0, faults: [unreadable.why] }
  const faults: string[] = []
  const chosen = firstOf(installed, fixtures)
  for (const prepare of chosen) faults.push(...await faultsOf(installed, prepare, limits))
  return { replayed: chosen.length, faults }
}

/** The first fixture of each service and verb. Mail servers are not played here. */
function firstOf (installed: InstalledProvider, { sends, questions }: Fixtures): (() => Prepared)[] {
  const all = [
    ...sends.filter(({ fixture: { result } }) => result.outcome === 'accepted').map((named) => ({
      kind: `${named.fixture.service} dispatch`,
      mail: named.fixture.mail,
      prepare: () => prepareSend(installed, named)
    })),
    ...questions.map((named) => ({
      kind: `${named.fixture.service} ${named.fixture.verb}`,
      mail: named.fixture.mail,
      prepare: () => prepareQuestion(installed, named)
    }))
  ].filter(({ mail }) => mail === undefined)
  return [...new Map(all.toReversed().map(({ kind, prepare }) => [kind, prepare])).values()].reverse()
}

async function faultsOf (installed: InstalledProvider, prepare: () => Prepared, limits: CallTimeouts): Promise<string[]> {
  try {
    const prepared = prepare()
    const made = await run(installed, scriptedVendor, prepared.call, limits)
    if (made.late) throw new LoadTimeout(limits.limit / 1000, `end ${prepared.name}.json`)
    const differences = compareRun(prepared, made)
    return differences.map((difference) => `fixtures/${prepared.name}.json: ${difference}`)
  } catch (error) {
    if (error instanceof LoadTimeout) throw error
    return [errorMessageOf(error)]
  }
}
