import type { AnyProviderCheck, EventReader, InstalledProvider, Verb } from '@dispatch/host'
import type { ConformanceRule } from '../report.ts'

/** What the kit does at a moment: the rules that it checks, and, where code of the provider was called last, what was called. */
export type KitStep = { rules: readonly ConformanceRule[], call?: string }

/** Hears of each step of the kit before it runs. */
export type Progress = {
  /** These rules are checked from now on. */
  check: (...rules: readonly ConformanceRule[]) => void
  /** The same provider, each function of which is told when it is called, such as `the verb "dispatch" of sms`. */
  follow: (installed: InstalledProvider) => InstalledProvider
}

export function progressTo (onStep: (step: KitStep) => void): Progress {
  let rules: readonly ConformanceRule[] = []
  const telling = <Given extends unknown[], Result>(call: string, own: (...given: Given) => Result) => (...given: Given): Result => {
    onStep({ rules, call })
    return own(...given)
  }
  return {
    check (...next) {
      rules = next
      onStep({ rules })
    },
    follow: (installed) => ({
      ...installed,
      verbs: mapped(installed.verbs,
        (verbs, service) => mapped<Verb>(verbs, (verb, name) => telling(`the verb "${name}" of "${service}"`, verb))),
      checks: mapped<AnyProviderCheck>(installed.checks, (check, service) => telling(`the check of "${service}"`, check)),
      eventReaders: mapped<EventReader>(installed.eventReaders,
        (read, service) => telling(`the function "read" of the webhook of "${service}"`, read))
    })
  }
}

function mapped<Value> (values: Partial<Record<string, Value>>, change: (value: Value, key: string) => Value): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).flatMap(([key, value]) => value === undefined ? [] : [[key, change(value, key)]]))
}
