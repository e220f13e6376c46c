import { reasonOf, type Installed } from '@dispatch/core/host'
import type { Canaries } from '../run/canary.ts'
import type { Fixtures } from '../fixtures/fixtures.ts'
import type { Prepared } from '../fixtures/prepare.ts'
import { run, type Call, type Limits, type Run } from '../run/run.ts'
import type { Stage } from '../run/vendor-double.ts'

/** A run that was made on the way, with the secrets that were in it. */
export type Recorded = { name: string, run: Run, canaries: Canaries }

/** The provider that is tried, and everything that was tried so far. */
export type Subject = {
  installed: Installed
  fixtures: Fixtures
  stages: readonly [Stage, Stage]
  recorded: Recorded[]
  /** Makes a call and remembers what was seen. */
  play: (prepared: Prepared, changes?: Partial<Pick<Call, 'attack' | 'mailAttack' | 'meet' | 'state' | 'sandbox'>>, stage?: Stage) => Promise<Run>
}

export function createSubject (installed: Installed, fixtures: Fixtures, stages: Subject['stages'], limits: Limits): Subject {
  const recorded: Recorded[] = []
  return {
    installed,
    fixtures,
    stages,
    recorded,
    async play ({ name, call, canaries }, changes = {}, stage = stages[0]) {
      const made = await run(installed, stage, { ...call, ...changes }, limits)
      recorded.push({ name, run: made, canaries })
      return made
    }
  }
}

/** The fixtures that can be played; those that cannot are a case of their own elsewhere. */
export function ready<Fixture extends { name: string }> (fixtures: readonly Fixture[], prepare: (fixture: Fixture) => Prepared): Prepared[] {
  return fixtures.flatMap((fixture) => {
    const prepared = attempted(() => prepare(fixture))
    return prepared.ok ? [prepared.value] : []
  })
}

export function attempted<Value> (work: () => Value): { ok: true, value: Value } | { ok: false, why: string } {
  try {
    return { ok: true, value: work() }
  } catch (error) {
    return { ok: false, why: reasonOf(error) }
  }
}
