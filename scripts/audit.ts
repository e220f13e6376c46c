/**
 * Asks the registry for known vulnerabilities of the production dependencies. High and critical ones end with exit code 1. Where the
 * registry cannot answer (offline, or a mirror without advisories), nothing was checked: that is exit code 3, and no success.
 */
import { spawnSync } from 'node:child_process'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

/** The part of npm's answer that is read. */
const Audit = Type.Object({
  vulnerabilities: Type.Record(Type.String(), Type.Object({ severity: Type.String(), via: Type.Array(Type.Unknown()) })),
  metadata: Type.Object({ vulnerabilities: Type.Object({ high: Type.Integer(), critical: Type.Integer() }) })
})
const Failure = Type.Object({ message: Type.String() })

const [weak, notChecked] = [1, 3]

/** Milliseconds after which a registry that does not answer counts as unreachable. */
const timeout = 60_000

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=15000'], {
  encoding: 'utf8',
  timeout,
  stdio: ['ignore', 'pipe', 'ignore']
})
const answer = parsed(stdout)
if (Value.Check(Audit, answer)) {
  const { vulnerabilities, metadata: { vulnerabilities: { high, critical } } } = answer
  const grave = Object.entries(vulnerabilities).filter(([, { severity }]) => severity === 'high' || severity === 'critical')
  for (const [name, { severity, via }] of grave) console.error(`${name}: ${severity}${titlesOf(via)}`)
  if (high + critical > 0) process.exitCode = weak
  console.log(
    `${high + critical} high or critical weaknesses among the dependencies, ${Object.keys(vulnerabilities).length - grave.length} ` +
      'lesser ones'
  )
} else {
  console.error(`Not checked: the registry tells no weaknesses of packages${Value.Check(Failure, answer) ? ` (${answer.message})` : ''}.`)
  process.exitCode = notChecked
}

function parsed (text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    // npm writes no JSON when it is stopped.
    return undefined
  }
}

/** An advisory, or the name of another package that has one. */
function titlesOf (via: readonly unknown[]): string {
  const titles = via.filter((cause) => Value.Check(Type.Object({ title: Type.String() }), cause)).map(({ title }) => title)
  return titles.length === 0 ? '' : ` (${titles.join('; ')})`
}
